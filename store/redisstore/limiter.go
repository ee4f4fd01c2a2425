package redisstore

import (
	"context"
	_ "embed"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/store/redisstore/internal/nodes"
)

// bucketAt is the index of the bucket's key in the command: EVALSHA, the SHA-1, the number of keys, the key.
const bucketAt = 3

// limiterWait bounds one Take. After it Take fails, and the caller decides whether it refuses the request.
const limiterWait = time.Second

//go:embed limiter.lua
var limiterText string

var limiterScript = nodes.NewScript(limiterText)

// limiter implements chat.Limiter with one key for each bucket. The key expires when the bucket is full.
type limiter struct {
	client redis.UniversalClient
	script *nodes.Script
	wait   time.Duration // limiterWait, unless a test has set another
}

var _ chat.Limiter = (*limiter)(nil)

// newLimiter returns a limiter. The client must end each call when its context ends (ContextTimeoutEnabled).
func newLimiter(client redis.UniversalClient) *limiter {
	return &limiter{client, limiterScript, limiterWait}
}

// Take implements chat.Limiter. If it fails, the tokens may have been taken all the same.
func (l *limiter) Take(ctx context.Context, key string, r chat.Rate) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	bucket := "rate:" + key
	wait, err := l.run(ctx, "evalsha", l.script.SHA, bucket, r)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		wait, err = l.run(ctx, "eval", l.script.Text, bucket, r)
	}
	if err != nil {
		return 0, nodes.Unavailable("take a token", err)
	}
	return time.Duration(wait) * time.Microsecond, nil
}

func (l *limiter) run(ctx context.Context, how, script, bucket string, r chat.Rate) (wait int64, err error) {
	cmd := redis.NewCmd(ctx, how, script, 1, bucket, tokenEvery(r), r.Burst, r.Tokens())
	cmd.SetFirstKeyPos(bucketAt)
	_ = l.client.Process(ctx, onlyOnce{cmd}) // the command has the error too
	return cmd.Int64()
}

// onlyOnce is a command that the client does not repeat when a reply is lost, because each run takes tokens again. A
// cluster's client would repeat an ordinary command, whatever MaxRetries says.
type onlyOnce struct{ *redis.Cmd }

// NoRetry implements redis.Cmder.
func (onlyOnce) NoRetry() bool { return true }

// tokenEvery returns the time between two tokens in microseconds, rounded up so that the rate is not exceeded. A rate below one
// token a day, even zero, gives one token a day.
func tokenEvery(r chat.Rate) int64 {
	return int64(math.Ceil(min(1e6/r.PerSecond, 86_400e6)))
}

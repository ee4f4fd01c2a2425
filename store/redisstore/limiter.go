package redisstore

import (
	"context"
	_ "embed"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
)

// limiterWait bounds a call: who is in doubt whether a request is too much does not wait longer for Redis.
const limiterWait = time.Second

//go:embed limiter.lua
var limiterText string

var limiterScript = newScript(limiterText)

// limiter is a chat.Limiter over one key a bucket, which ends when the bucket is full.
type limiter struct{ client redis.UniversalClient }

var _ chat.Limiter = (*limiter)(nil)

// newLimiter makes a limiter. The client's calls must end with their context (ContextTimeoutEnabled).
func newLimiter(client redis.UniversalClient) *limiter { return &limiter{client} }

// Take implements chat.Limiter. When the outcome is unknown a token may be gone.
func (l *limiter) Take(ctx context.Context, key string, r chat.Rate) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limiterWait)
	defer cancel()
	bucket := "rate:" + key
	wait, err := l.run(ctx, "evalsha", limiterScript.sha, bucket, r)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		wait, err = l.run(ctx, "eval", limiterScript.text, bucket, r)
	}
	if err != nil {
		return 0, unavailable("take a token", err)
	}
	return time.Duration(wait) * time.Microsecond, nil
}

func (l *limiter) run(ctx context.Context, how, script, bucket string, r chat.Rate) (wait int64, err error) {
	cmd := redis.NewCmd(ctx, how, script, 1, bucket, tokenEvery(r), r.Burst)
	cmd.SetFirstKeyPos(head)
	_ = l.client.Process(ctx, onlyOnce{cmd}) // the command has the error too
	return cmd.Int64()
}

// onlyOnce is a command that the client does not repeat by itself when an answer is lost, for each time takes another
// token. A cluster's client would, whatever its MaxRetries.
type onlyOnce struct{ *redis.Cmd }

// NoRetry implements redis.Cmder.
func (onlyOnce) NoRetry() bool { return true }

// tokenEvery is the time between two tokens in microseconds, rounded up so that the rate is never exceeded. A
// rate of nothing gives one a day.
func tokenEvery(r chat.Rate) int64 {
	return int64(math.Ceil(min(1e6/r.PerSecond, 86_400e6)))
}

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

var limiterScript = redis.NewScript(limiterText)

// limiter is a chat.Limiter over one key a bucket, which ends when the bucket is full.
type limiter struct{ client redis.UniversalClient }

var _ chat.Limiter = (*limiter)(nil)

// newLimiter makes a limiter. The client must not repeat calls by itself, for each takes a token (MaxRetries -1), and
// its calls must end with their context (ContextTimeoutEnabled).
func newLimiter(client redis.UniversalClient) *limiter { return &limiter{client} }

// Take implements chat.Limiter. When the outcome is unknown a token may be gone.
func (l *limiter) Take(ctx context.Context, key string, r chat.Rate) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limiterWait)
	defer cancel()
	wait, err := limiterScript.Run(ctx, l.client, []string{"rate:" + key}, tokenEvery(r), r.Burst).Int64()
	if err != nil {
		return 0, unavailable("take a token", err)
	}
	return time.Duration(wait) * time.Microsecond, nil
}

// tokenEvery is the time between two tokens in microseconds, rounded up so that the rate is never exceeded. A
// rate of nothing gives one a day.
func tokenEvery(r chat.Rate) int64 {
	return int64(math.Ceil(min(1e6/r.PerSecond, 86_400e6)))
}

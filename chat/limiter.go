package chat

import (
	"context"
	"time"
)

// Limiter limits rates: of one instance, or over all of them, as its engine does.
type Limiter interface {
	// Take spends a token of the key. If there is none, it spends nothing and returns how long to wait for one.
	Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
}

// Rate is a bucket of Burst tokens that fills at PerSecond.
type Rate struct {
	PerSecond float64
	Burst     int
}

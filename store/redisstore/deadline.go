package redisstore

import (
	"context"
	"time"
)

// until returns a context whose Deadline is t, but which is never done. The Redis driver sets the deadline on its
// connection, so no timer is needed. A timer would cost a single caller more than the rest of the batcher.
func until(t time.Time) context.Context { return deadline{context.Background(), t} }

type deadline struct {
	context.Context //nolint:containedctx // this type is a context
	at              time.Time
}

// Deadline implements context.Context.
func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

package redisstore

import (
	"context"
	"time"
)

// until is a context that only has a deadline. The driver gives up then by itself, so it needs no timer, which
// would cost a lone caller more than all the rest of the combiner.
func until(t time.Time) context.Context { return deadline{context.Background(), t} }

type deadline struct {
	context.Context //nolint:containedctx // it is one
	at              time.Time
}

// Deadline implements context.Context.
func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

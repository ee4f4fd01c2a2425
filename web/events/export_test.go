package events

import (
	"context"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/wire/hostapi"
)

// Send delivers one event, for tests.
func Send(ctx context.Context, w *Webhook, e eventlog.Event) error { return w.send(ctx, e) }

// Await reads events as a request that waits does.
func (s *Service) Await(ctx context.Context, q eventlog.Query, wait time.Duration) (hostapi.EventsReply, error) {
	return s.await(ctx, q, wait)
}

// MeasureLags measures the lags of all consumers, as Run does each minute.
func (s *Service) MeasureLags(ctx context.Context) { s.measureLags(ctx) }

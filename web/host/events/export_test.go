package events

import (
	"context"
	"net/http"
	"time"

	"hongbao/store/eventlog"
	"hongbao/web/host/hostapi"
)

// Send delivers one event, for tests.
func Send(ctx context.Context, w *Webhook, e eventlog.Event) error { return w.send(ctx, e) }

// SetClient sets the client that delivers.
func (w *Webhook) SetClient(c *http.Client) { w.target.Client = c }

// Await reads events as a request that waits does.
func (s *Service) Await(ctx context.Context, q eventlog.Query, wait time.Duration) (hostapi.EventsReply, error) {
	return s.await(ctx, q, wait)
}

// MeasureLags measures the lags of all consumers, as Run does each minute.
func (s *Service) MeasureLags(ctx context.Context) { s.measureLags(ctx) }

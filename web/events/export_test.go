package events

import (
	"context"

	"hongbao/store/eventlog"
)

// Send delivers one event, for tests.
func Send(ctx context.Context, w *Webhook, e eventlog.Event) error { return w.send(ctx, e) }

// MeasureLags measures the lags of all consumers, as Run does each minute.
func (s *Service) MeasureLags(ctx context.Context) { s.measureLags(ctx) }

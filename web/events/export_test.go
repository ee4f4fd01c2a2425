package events

import (
	"context"

	"hongbao/store/eventlog"
)

// Send delivers one event, for tests.
func Send(ctx context.Context, w *Webhook, e eventlog.Event) error { return w.send(ctx, e) }

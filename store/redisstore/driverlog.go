package redisstore

import (
	"context"
	"fmt"
	"log/slog"
)

// driverLog is where the driver may talk. What it says also comes back as an error, to somebody who knows what
// it means; so here it is for those who search.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's logger.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
	}
}

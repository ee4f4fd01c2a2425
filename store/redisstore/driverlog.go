package redisstore

import (
	"context"
	"fmt"
	"log/slog"
)

// driverLog receives the driver's log. Each failure in it is also returned as an error, so it is logged at debug level.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's logger.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
	}
}

package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// String names the target for logs and errors, without secrets.
func (t target) String() string {
	hosts := strings.Join(t.addrs, ",")
	switch t.kind {
	case sentinel:
		return "Redis master " + t.master + " by the sentinels " + hosts
	case cluster:
		return "Redis Cluster at " + hosts
	default:
		return "Redis at " + hosts + "/" + strconv.Itoa(t.db)
	}
}

// pipelineBuffer is the size of each buffer of a connection for pipelines: a quarter of the driver's default. Longer
// pipelines take more writes.
const pipelineBuffer = 32 << 10

// client returns a new Redis client for the target. It has no connection yet.
func (t target) client() redis.UniversalClient { return redis.NewUniversalClient(t.options()) }

// grabsClient returns a new Redis client. While replies come fast, its connections poll for a reply instead of
// sleeping.
func (t target) grabsClient() redis.UniversalClient {
	return redis.NewUniversalClient(t.grabsOptions())
}

func (t target) grabsOptions() *redis.UniversalOptions {
	o := t.options()
	if !t.secure { // not with TLS, which a custom dialer would have to do itself
		o.Dialer = dialSpinning
	}
	return o
}

// options returns the driver's options. The driver retries nothing, because only this package knows which commands may
// be repeated.
func (t target) options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: t.addrs, MasterName: t.master, IsClusterMode: t.kind == cluster, DB: t.db,
		Username: t.user, Password: t.password, SentinelUsername: t.sentinelUser, SentinelPassword: t.sentinelPassword,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PipelineReadBufferSize:   pipelineBuffer, PipelineWriteBufferSize: pipelineBuffer,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		MinRetryBackoff: minBackoff, MaxRetryBackoff: maxBackoff, // for redirects in a cluster
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, PoolTimeout: replyTimeout, ContextTimeoutEnabled: true,
	}
	if t.secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// driverLog receives the driver's log. Each failure in it is also returned as an error, so it is logged at debug level.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's logger.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
	}
}

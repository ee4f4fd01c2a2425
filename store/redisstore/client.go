package redisstore

import (
	"crypto/tls"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// String names the target for people, without secrets.
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

// pipelineBuffer is a quarter of what each direction of a connection for pipelines would have. Longer ones take more writes.
const pipelineBuffer = 32 << 10

// client makes a client, which has no connection yet.
func (t target) client() redis.UniversalClient { return redis.NewUniversalClient(t.options()) }

// grabsClient makes one that does not sleep until its replies come, if they come soon.
func (t target) grabsClient() redis.UniversalClient {
	return redis.NewUniversalClient(t.grabsOptions())
}

func (t target) grabsOptions() *redis.UniversalOptions {
	o := t.options()
	if !t.secure { // a dialer of one's own would have to do the TLS, too
		o.Dialer = dialEager
	}
	return o
}

// options: nothing is retried below us, for only we know what may be.
func (t target) options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: t.addrs, MasterName: t.master, IsClusterMode: t.kind == cluster, DB: t.db,
		Username: t.user, Password: t.password, SentinelUsername: t.sentinelUser, SentinelPassword: t.sentinelPassword,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PipelineReadBufferSize:   pipelineBuffer, PipelineWriteBufferSize: pipelineBuffer,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout,
		MinRetryBackoff: minBackoff, MaxRetryBackoff: maxBackoff, // of a cluster's redirects
		ReadTimeout: replyTimeout, WriteTimeout: replyTimeout, PoolTimeout: replyTimeout, ContextTimeoutEnabled: true,
	}
	if t.secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

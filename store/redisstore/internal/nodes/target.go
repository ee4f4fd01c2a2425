package nodes

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Setting is the name of the setting that holds the URL. Errors contain the name and never the URL, because it may hold
// a password.
const Setting = "HONGBAO_REDIS_URL"

// kind is the kind of a Redis installation.
type kind string

// Kinds: each is the text after the + in the URL's scheme.
const (
	standalone kind = ""
	sentinel   kind = "sentinel"
	cluster    kind = "cluster"
)

// Target is the decoded URL of a Redis installation.
type Target struct {
	kind           kind
	secure         bool
	addrs          []string
	master         string // name of the master, behind sentinels
	db             int
	user, password string
	// sentinels often ask for credentials of their own
	sentinelUser, sentinelPassword string
}

// Parse parses these URLs, each also with rediss for TLS:
//
//   - redis://[user:password@]host[:port][/db]
//   - redis+sentinel://[user:password@]host[:port],…/master[?db=n&sentinel_user=…&sentinel_password=…]
//   - redis+cluster://[user:password@]host[:port],…
//
// It does not use url.Parse, which does not accept several hosts.
func Parse(raw string) (Target, error) {
	t, err := read(raw)
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w", Setting, err)
	}
	return t, nil
}

func read(raw string) (t Target, err error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	base, second, _ := strings.Cut(scheme, "+")
	t.kind, t.secure = kind(second), base == "rediss"
	if !ok || base != "redis" && base != "rediss" || t.kind != standalone && t.kind != sentinel && t.kind != cluster ||
		strings.HasSuffix(scheme, "+") {
		return t, errors.New("must begin with redis://, redis+sentinel:// or redis+cluster:// (rediss for TLS)")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		hosts = authority[at+1:]
		if err := t.readCredentials(authority[:at]); err != nil {
			return t, err
		}
	}
	if err := t.readHosts(hosts); err != nil {
		return t, err
	}
	if err := t.readPath(path); err != nil {
		return t, err
	}
	return t, t.readQuery(query)
}

func (t *Target) readCredentials(s string) (err error) {
	user, password, _ := strings.Cut(s, ":")
	if t.user, err = url.PathUnescape(user); err != nil {
		return errors.New("the user name is not percent-encoded properly")
	}
	if t.password, err = url.PathUnescape(password); err != nil {
		return errors.New("the password is not percent-encoded properly")
	}
	return nil
}

func (t *Target) readHosts(s string) error {
	port := map[kind]string{sentinel: "26379"}[t.kind]
	if port == "" {
		port = "6379"
	}
	for i, hostPort := range strings.Split(s, ",") {
		addr, err := address(hostPort, port)
		if err != nil {
			// The error does not quote the address: with an unescaped / or @ in a password, it may hold a part of the password.
			return fmt.Errorf("address %d is not a host:port (characters like / @ ? in a password must be percent-encoded)", i+1)
		}
		t.addrs = append(t.addrs, addr)
	}
	if t.kind == standalone && len(t.addrs) > 1 {
		return errors.New("redis:// takes one host; for several use redis+sentinel:// or redis+cluster://")
	}
	return nil
}

// address checks host[:port] and returns host:port, with the given default port if there is none.
func address(s, port string) (string, error) {
	host := s
	if strings.LastIndexByte(s, ':') > strings.LastIndexByte(s, ']') {
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return "", err
		}
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("bad port")
	}
	if host == "" || strings.ContainsAny(host, " /@") {
		return "", errors.New("bad host")
	}
	return net.JoinHostPort(host, port), nil
}

func (t *Target) readPath(path string) (err error) {
	switch {
	case t.kind == sentinel && (path == "" || strings.Contains(path, "/")):
		return errors.New("redis+sentinel:// must end with the name of the master: redis+sentinel://host:26379/mymaster")
	case t.kind == sentinel:
		t.master, err = url.PathUnescape(path)
		return err
	case path == "":
		return nil
	case t.kind == cluster:
		return errors.New("a cluster has no databases: nothing may follow the hosts")
	default:
		return t.readDB(path)
	}
}

func (t *Target) readDB(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return errors.New("the database must be a number")
	}
	t.db = int(n)
	return nil
}

func (t *Target) readQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the ? is not percent-encoded properly")
	}
	for name := range values {
		value := values.Get(name)
		switch {
		case t.kind == sentinel && name == "db":
			if err := t.readDB(value); err != nil {
				return err
			}
		case t.kind == sentinel && name == "sentinel_user":
			t.sentinelUser = value
		case t.kind == sentinel && name == "sentinel_password":
			t.sentinelPassword = value
		default:
			return fmt.Errorf("unknown parameter %q", name)
		}
	}
	return nil
}

// Sentinel reports whether Redis is behind sentinels. Then another node may become master while the old one still answers.
func (t Target) Sentinel() bool { return t.kind == sentinel }

// String names the target for logs and errors, without secrets.
func (t Target) String() string {
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

// Client returns a new Redis client for the target. It has no connection yet.
func (t Target) Client() redis.UniversalClient { return redis.NewUniversalClient(t.options()) }

// PatientClient returns a client like Client, for tests. Only the contexts of its calls limit the wait for a reply.
func (t Target) PatientClient() redis.UniversalClient {
	o := t.options()
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	return redis.NewUniversalClient(o)
}

// options returns the driver's options. The driver's own retries are off, because only callers know which commands may be
// repeated. A cluster's client still follows redirects and repeats commands that do not forbid it (NoRetry).
func (t Target) options() *redis.UniversalOptions {
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

// SetLog sets where the driver logs. The driver has one logger for all clients.
func SetLog(log *slog.Logger) { redis.SetLogger(driverLog{log}) }

// driverLog receives the driver's log. Failures of calls are also returned as errors, so the log is written at debug level.
type driverLog struct{ log *slog.Logger }

// Printf implements the driver's logger.
func (d driverLog) Printf(ctx context.Context, format string, args ...any) {
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.DebugContext(ctx, "redis driver: "+fmt.Sprintf(format, args...))
	}
}

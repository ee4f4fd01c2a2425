package nodes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/finding"
)

// Examine checks the Redis of the URL for hongbao doctor. It writes one key that expires after a second, and publishes on a
// channel to which no instance listens.
func Examine(ctx context.Context, url string) []finding.Finding {
	l := &finding.List{Part: "redis"}
	t, err := Parse(url)
	if err != nil {
		l.Fail(err.Error(), "correct it")
		return l.All
	}
	t.dangers(l)
	SetLog(slog.New(slog.DiscardHandler))
	client := t.Client()
	defer func() { _ = client.Close() }()
	var mu sync.Mutex // the masters of a cluster are examined concurrently
	err = EachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
		found := examineNode(ctx, node, t.kind == cluster)
		mu.Lock()
		defer mu.Unlock()
		l.All = append(l.All, found...)
		return nil
	})
	if err == nil {
		err = t.tryRights(ctx, client)
	}
	if err != nil {
		l.Fail(fmt.Sprintf("%s cannot be used: %v", t, err), "start it, or correct HONGBAO_REDIS_URL; with ACLs it needs ~* &hb:* +info +eval +evalsha, and the commands on its keys")
	}
	return l.All
}

// dangers adds why the connection is not safe on a network: no TLS, or no password.
func (t Target) dangers(l *finding.List) {
	for _, addr := range t.addrs {
		host, _, _ := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			continue
		}
		if !t.secure {
			l.Warn("the connection to "+host+" is without TLS", "use rediss:// in HONGBAO_REDIS_URL, or a private network")
		}
		if t.password == "" {
			l.Warn("there is no password for "+host, "set one in Redis and in HONGBAO_REDIS_URL_FILE: any client of Redis can take grants")
		}
		return
	}
}

func examineNode(ctx context.Context, node *redis.Client, isCluster bool) []finding.Finding {
	addr := node.Options().Addr
	l := &finding.List{Part: "redis"}
	info, err := probeInfo(ctx, node)
	if err == nil {
		err = unfit(info, isCluster, addr)
	}
	if err != nil {
		l.Fail(fmt.Sprintf("node %s: %v", addr, err), "mend or replace this node, or name another one in HONGBAO_REDIS_URL")
		return l.All
	}
	l.OK(fmt.Sprintf("node %s: reachable, takes writes, version %s", addr, field(info, "redis_version")))
	if flaw := evictionFlaw(info); flaw != "" {
		l.Warn(fmt.Sprintf("node %s: %s", addr, flaw), "set maxmemory-policy noeviction")
	} else {
		l.OK(fmt.Sprintf("node %s: maxmemory-policy noeviction", addr))
	}
	if used, most := number(info, "used_memory"), number(info, "maxmemory"); most > 0 && used > most/5*4 {
		l.Warn(fmt.Sprintf("node %s: %d of %d MiB are used: when it is full, grabs answer unavailable", addr, used>>20, most>>20), "raise maxmemory")
	}
	if rest, err := node.Info(ctx, "persistence", "clients").Result(); err == nil {
		examinePersistence(l, addr, rest)
	}
	if d, err := redpacket.CompareClock("Redis at "+addr, time.Now, func() (time.Time, error) { return node.Time(ctx).Result() }); err == nil {
		l.Clock(d.Clock, d.Ahead, d.Uncertainty)
	} else {
		l.Fail(fmt.Sprintf("node %s: the clock cannot be read: %v", addr, err), "allow the command TIME")
	}
	return l.All
}

// examinePersistence adds what may make the node refuse writes, or clients.
func examinePersistence(l *finding.List, addr, info string) {
	if field(info, "rdb_last_bgsave_status") == "err" || field(info, "aof_last_write_status") == "err" {
		l.Fail(fmt.Sprintf("node %s: it cannot save to its disk, and may refuse all writes", addr), "mend its disk, or switch persistence off: hongbao does not need it")
	}
	if open, most := number(info, "connected_clients"), number(info, "maxclients"); most > 0 && open > most/5*4 {
		l.Warn(fmt.Sprintf("node %s: %d of %d clients are connected", addr, open, most), "raise maxclients")
	}
}

// number returns the integer value of a field of INFO, or 0.
func number(info, name string) int64 {
	n, _ := strconv.ParseInt(field(info, name), 10, 64)
	return n
}

// tryRights runs a script that writes, publishes a message, and subscribes to a channel.
func (t Target) tryRights(ctx context.Context, client redis.UniversalClient) error {
	if err := client.Eval(ctx, `return redis.call('SET', KEYS[1], '1', 'PX', 1000)`, []string{"rp:{p00}:doctor"}).Err(); err != nil {
		return fmt.Errorf("a script that writes: %w", err)
	}
	publish, subscribe := client.Publish, client.Subscribe
	if t.kind == cluster {
		publish, subscribe = client.SPublish, client.SSubscribe
	}
	if err := publish(ctx, "hb:doctor", "").Err(); err != nil {
		return fmt.Errorf("publish on hb:doctor: %w", err)
	}
	listening := subscribe(ctx, "hb:doctor")
	_, err := listening.Receive(ctx)
	if err = errors.Join(err, listening.Close()); err != nil {
		return fmt.Errorf("subscribe to hb:doctor: %w", err)
	}
	return nil
}

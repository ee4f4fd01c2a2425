package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// probeScript reads what a grab reads: the replication id, which takes the right to INFO inside a script.
const probeScript = `return redis.call('INFO', 'server') .. redis.call('INFO', 'replication') .. redis.call('INFO', 'memory')`

// probe finds out at start-up what would go wrong later.
func probe(ctx context.Context, client redis.UniversalClient, isCluster bool, log *slog.Logger) error {
	return eachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
		if err := node.Ping(ctx).Err(); err != nil {
			return err
		}
		info, err := node.Eval(ctx, probeScript, nil).Text()
		if err != nil {
			return fmt.Errorf("scripts must be allowed to call INFO (in an ACL: +info +eval +evalsha): %w", err)
		}
		return judge(info, isCluster, node.Options().Addr, log)
	})
}

// judge refuses a node that cannot do the work, and warns of one that may forget.
func judge(info string, isCluster bool, addr string, log *slog.Logger) error {
	version := field(info, "redis_version")
	need, why := 6.2, "ZADD LT"
	if isCluster {
		need, why = 7.0, "sharded pub/sub"
	}
	if have, err := majorMinor(version); err != nil || have < need {
		return fmt.Errorf("node %s is Redis %q: %.1f or later is needed (%s)", addr, version, need, why)
	}
	if field(info, "role") != "master" {
		return fmt.Errorf("node %s is a replica: name its master, or use redis+sentinel://", addr)
	}
	if field(info, "master_replid") == "" {
		return errors.New("INFO does not tell the replication id, so that a failover would go unnoticed")
	}
	switch policy := field(info, "maxmemory_policy"); policy {
	case "noeviction":
	case "":
		log.Warn("Redis does not tell its maxmemory-policy; it must be noeviction, or open packets may be forgotten", "node", addr)
	default:
		log.Warn("Redis may evict open packets, which costs work and delay; set maxmemory-policy noeviction", "node", addr, "policy", policy)
	}
	return nil
}

// field finds a line "name:value" of INFO.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// majorMinor reads "7.0.15" as 7.0; minor versions of Redis have one digit.
func majorMinor(version string) (float64, error) {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strconv.ParseFloat(major+"."+minor, 64)
}

package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// probeScript returns what judge reads. Like a grab it needs the right to call INFO in a script.
const probeScript = `return redis.call('INFO', 'server') .. redis.call('INFO', 'replication') .. redis.call('INFO', 'memory')`

// probe checks a node before it is used. An error of type *unfitError means that the node answers, but cannot do the
// work.
func probe(ctx context.Context, node *redis.Client, isCluster bool, log *slog.Logger) error {
	if err := node.Ping(ctx).Err(); err != nil {
		return err
	}
	info, err := node.Eval(ctx, probeScript, nil).Text()
	if err != nil && unreachable(err) {
		return err
	}
	if err != nil {
		return fmt.Errorf("scripts must be allowed to call INFO (in an ACL: +info +eval +evalsha): %w", err)
	}
	if err := judge(info, isCluster, node.Options().Addr, log); err != nil {
		return &unfitError{err}
	}
	return nil
}

// unfitError is the reason why a node that answers cannot do the work.
type unfitError struct{ err error }

func (e *unfitError) Error() string { return e.err.Error() }

func (e *unfitError) Unwrap() error { return e.err }

// unreachable reports whether a probe failed because the node did not answer, or answered that it will soon be ready.
// It is false when an operator has to change something: the node refused the command, is unfit, or its certificate is
// not accepted.
func unreachable(err error) bool {
	var unfit *unfitError
	var answer redis.Error
	var certificate *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unfit), errors.As(err, &certificate), errors.As(err, &plain):
		return false
	case errors.As(err, &answer):
		return transient(err)
	default:
		return true
	}
}

// judge returns an error if INFO shows that the node cannot do the work. It warns if the node may evict packets.
func judge(info string, isCluster bool, addr string, log *slog.Logger) error {
	version := field(info, "redis_version")
	need, feature := 6.2, "ZADD LT"
	if isCluster {
		need, feature = 7.0, "sharded pub/sub"
	}
	if have, err := majorMinor(version); err != nil || have < need {
		return fmt.Errorf("node %s is Redis %q: %.1f or later is needed (%s)", addr, version, need, feature)
	}
	if field(info, "role") != "master" {
		return fmt.Errorf("node %s is a replica: name its master, or use redis+sentinel://", addr)
	}
	if field(info, "master_replid") == "" {
		return errors.New("INFO does not tell the replication id, so a failover would go unnoticed")
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

// field returns the value of a line "name:value" of INFO.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// majorMinor parses "7.0.15" as 7.0. Minor versions of Redis have one digit.
func majorMinor(version string) (float64, error) {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strconv.ParseFloat(major+"."+minor, 64)
}

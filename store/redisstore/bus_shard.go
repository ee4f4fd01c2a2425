package redisstore

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pauses between two attempts to connect.
const (
	minRedial = 50 * time.Millisecond
	maxRedial = time.Second
)

// peerLag is how much later than this instance a peer may notice a failure of Redis and be connected again.
const peerLag = 500 * time.Millisecond

// shard carries the topics of one partition over one link at a time.
type shard struct {
	// immutable
	bus           *bus
	heartbeat     string // the channel of the heartbeats; a topic's channel begins with it and a colon
	queue         *sendQueue
	subscriptions *subscriptions

	numbered atomic.Uint64 // number of the last message or heartbeat that this instance sent

	// owned by run
	seen map[uint64]publisherState // by publisher

	// guarded by bus.notifying
	up    bool
	proof uint64 // a heartbeat of this instance with at least this number proves that the shard is up again
}

// publisherState is what a shard remembers of another instance that publishes through it.
type publisherState struct {
	number uint64 // highest that arrived
	at     time.Time
}

func newShard(b *bus, heartbeat string, shards int) *shard {
	return &shard{bus: b, heartbeat: heartbeat, queue: newSendQueue(shards), subscriptions: newSubscriptions(), seen: map[uint64]publisherState{}}
}

func (s *shard) channel(topic string) string { return s.heartbeat + ":" + topic }

// topic is the inverse of channel.
func (s *shard) topic(channel string) string {
	return strings.TrimPrefix(channel[len(s.heartbeat):], ":")
}

// run keeps a link open until ctx is done.
func (s *shard) run(ctx context.Context) {
	wait, level := minRedial, slog.LevelWarn
	var lost time.Time
	for {
		began := time.Now()
		err := s.runLink(ctx, lost)
		if ctx.Err() != nil {
			return
		}
		s.bus.shardDown(s)
		if lost.IsZero() || time.Since(began) > silentAfter { // the link worked for a while, so this failure begins a new series
			wait, level, lost = minRedial, slog.LevelWarn, time.Now()
		}
		s.bus.o.log.Log(ctx, level, "bus connection lost or refused", "shard", s.heartbeat, "err", err)
		level = slog.LevelDebug // warn once in a series
		if cluster, ok := s.bus.client.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx)
		}
		if !sleep(ctx, wait/2+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, maxRedial)
	}
}

// runLink opens a link and keeps it until it fails or ctx is done. If the previous link was lost, the other instances
// may have lost theirs, too. So messages wait until these had time to reconnect.
func (s *shard) runLink(ctx context.Context, lost time.Time) error {
	l, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if !lost.IsZero() {
		l.grace = min(time.Since(lost), maxRedial) + peerLag
	}
	return l.run(ctx)
}

// sleep waits for d. It reports false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

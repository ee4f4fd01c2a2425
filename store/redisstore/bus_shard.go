package redisstore

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
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

// These are reasons to close a link, besides errors of its connections.
var (
	errSilent  = errors.New("no heartbeat of this instance received")
	errMoved   = errors.New("partition moved to another node")
	errDemoted = errors.New("this node is a replica now")
)

// link holds the two connections of a shard to its master: one publishes, one listens. Any failure of either closes
// both, and the next link looks up the master again. Unsent messages stay in the send queue.
//
//	goroutine   may block on
//	listen      reading; Receiver.Receive
//	subscribe   writing subscriptions; it also checks whether the link is silent
//	publish     a round trip
type link struct {
	// immutable
	shard        *shard
	dialer       *linkDialer
	client       *redis.Client // publishes
	sub          *redis.PubSub
	began        time.Time
	grace        time.Duration // time after the start in which only heartbeats are sent, no messages
	heartbeatNow chan struct{} // one slot, never closed; asks for a heartbeat at once

	lastOwnHeartbeat time.Time // owned by listen: arrival of this instance's last heartbeat

	heard      atomic.Int64  // when Redis last delivered an own heartbeat or confirmed a subscription: nanoseconds since began
	deliveries atomic.Uint64 // odd while the receiver handles a payload
}

// markHeard records that Redis has just shown that it works.
func (l *link) markHeard() { l.heard.Store(int64(time.Since(l.began))) }

// silent returns the time since the last markHeard.
func (l *link) silent() time.Duration { return time.Since(l.began) - time.Duration(l.heard.Load()) }

// run sends and receives until one of the connections fails or ctx is done. Then it closes both connections.
func (l *link) run(ctx context.Context) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(held, func() { _ = l.sub.Close() }) // ends listen
	defer stop()
	l.shard.subscriptions.begin()
	defer l.shard.subscriptions.end()
	var running sync.WaitGroup
	running.Go(func() { end(l.subscribe(held)) })
	running.Go(func() { end(l.publish(held, ctx)) })
	end(l.listen(held))
	running.Wait()
	_ = l.client.Close() // the client is not used any more
	return context.Cause(held)
}

// busTags are the hash tags of the partitions in a cluster. Their slots are 512, 1536, … 15872, so nodes with equal
// ranges of slots have equal numbers of partitions. The number of partitions never changes: all instances must agree on
// it.
var busTags = [...]string{
	"ms3", "mws", "pt6", "arf", "mb1", "eoi", "pe4", "acd", "gxm", "ou5", "c0h", "ky8", "gio", "od7", "ceb", "rc2",
}

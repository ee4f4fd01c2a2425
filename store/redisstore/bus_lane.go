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

// The waits between two attempts to connect.
const (
	minRedial = 50 * time.Millisecond
	maxRedial = time.Second
)

// peersNotice is how much later a peer may notice, and be connected again, than we.
const peersNotice = 500 * time.Millisecond

// lane carries one partition of the topics, over one line at a time.
type lane struct {
	// static
	bus    *bus
	beat   string // the channel of the heartbeats; topics have channels that begin with it and a colon
	outbox *outbox
	wants  *wants

	numbered atomic.Uint64 // the last parcel or heartbeat that was given a number

	// owned by run
	seen map[uint64]trace // by publisher

	// guarded by bus.telling
	up    bool
	proof uint64 // a heartbeat of ours with at least this number proves that it is up again
}

// trace is what is remembered of a publisher.
type trace struct {
	number uint64 // the highest that came
	at     time.Time
}

func newLane(b *bus, beat string, lanes int) *lane {
	return &lane{bus: b, beat: beat, outbox: newOutbox(lanes), wants: newWants(), seen: map[uint64]trace{}}
}

func (l *lane) channel(topic string) string { return l.beat + ":" + topic }

// topic is the other way round.
func (l *lane) topic(channel string) string { return strings.TrimPrefix(channel[len(l.beat):], ":") }

// run keeps a line open until ctx is done.
func (l *lane) run(ctx context.Context) {
	wait, level := minRedial, slog.LevelWarn
	var lost time.Time
	for {
		began := time.Now()
		err := l.hold(ctx, lost)
		if ctx.Err() != nil {
			return
		}
		l.bus.laneDown(l)
		if lost.IsZero() || time.Since(began) > silence { // not one of a row of failures
			wait, level, lost = minRedial, slog.LevelWarn, time.Now()
		}
		l.bus.o.log.Log(ctx, level, "bus connection lost, or not to be had", "lane", l.beat, "err", err)
		level = slog.LevelDebug // once is enough
		if cluster, ok := l.bus.client.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx)
		}
		if !pause(ctx, wait/2+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, maxRedial)
	}
}

// hold opens a line and keeps it until it breaks or ctx is done. When the one before was lost, the peers may have lost
// theirs with it: what is unsent waits until they had time to come back.
func (l *lane) hold(ctx context.Context, lost time.Time) error {
	line, err := l.dial(ctx)
	if err != nil {
		return err
	}
	if !lost.IsZero() {
		line.grace = min(time.Since(lost), maxRedial) + peersNotice
	}
	return line.run(ctx)
}

// pause tells whether the time has passed before ctx was done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

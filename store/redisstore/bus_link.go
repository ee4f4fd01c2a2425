package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

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

package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Why a line is given up, besides what the connection itself says.
var (
	errSilent  = errors.New("own heartbeat not heard")
	errMoved   = errors.New("partition moved to another node")
	errDemoted = errors.New("this node is a replica now")
)

// line is a lane's connections to its master: one publishes, one listens. Whatever is wrong with either ends both, and
// the next line asks anew where the master is. What is unsent stays in the outbox.
//
//	goroutine   may block on
//	listen      reading; Receiver.Receive
//	subscribe   writing the subscriptions; it also looks whether the line is silent
//	publish     a round trip
type line struct {
	// static
	lane    *lane
	dialer  *lineDialer
	client  *redis.Client // for publishing
	sub     *redis.PubSub
	began   time.Time
	grace   time.Duration // until parcels are sent
	beatNow chan struct{} // one slot, never closed: a heartbeat is to be sent at once

	beaten time.Time // owned by listen: when our heart was heard

	heard atomic.Int64  // when our heart was heard or a subscription confirmed: nanoseconds since began
	turns atomic.Uint64 // odd while the receiver has a payload
}

// hear notes that Redis is heard.
func (n *line) hear() { n.heard.Store(int64(time.Since(n.began))) }

// silent is how long Redis has not been heard.
func (n *line) silent() time.Duration { return time.Since(n.began) - time.Duration(n.heard.Load()) }

// run works until something breaks or ctx is done.
func (n *line) run(ctx context.Context) error {
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(held, func() { _ = n.sub.Close() }) // which ends listen
	defer stop()
	n.lane.wants.begin()
	defer n.lane.wants.end()
	var running sync.WaitGroup
	running.Go(func() { end(n.subscribe(held)) })
	running.Go(func() { end(n.publish(held, ctx)) })
	end(n.listen(held))
	running.Wait()
	_ = n.client.Close() // it is given up
	return context.Cause(held)
}

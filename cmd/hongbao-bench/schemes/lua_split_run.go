package schemes

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Ready returns a channel that is closed as soon as Run listens for expiry events.
func (s *LuaSplit) Ready() <-chan struct{} { return s.ready }

// Run implements Scheme: the listener, and the consumer of the queue.
func (s *LuaSplit) Run(ctx context.Context) error {
	if err := s.redis.ConfigSet(ctx, "notify-keyspace-events", "Ex").Err(); err != nil {
		return fmt.Errorf("ask for events: %w", err)
	}
	events := s.redis.PSubscribe(ctx, "__keyevent@*__:expired")
	defer events.Close() //nolint:errcheck // it only reads
	if _, err := events.Receive(ctx); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	close(s.ready)
	var consumer sync.WaitGroup
	defer consumer.Wait()
	consumer.Go(func() { s.consume(ctx) })
	s.listen(ctx, events)
	return nil
}

// listen queues the return of the rest of each packet whose expiry event it gets. Redis does not store these events: a process
// that does not listen at that moment never gets them.
func (s *LuaSplit) listen(ctx context.Context, events *redis.PubSub) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events.Channel():
			if !ok {
				return
			}
			packet, ours := strings.CutPrefix(e.Payload, splitPrefix)
			if !ours {
				continue
			}
			if sender, err := s.senderOf(ctx, packet); err == nil { // the article's code only logs an error, and the rest is not returned
				s.enqueue(splitEvent{operation: "RETURN", user: sender, packet: packet})
			}
		}
	}
}

// consume writes the queued events in order. As in the article, an event that fails is lost: the article's code only logs it.
func (s *LuaSplit) consume(ctx context.Context) {
	for ctx.Err() == nil {
		e, ok := s.dequeue()
		switch {
		case !ok:
			select {
			case <-s.wake:
			case <-ctx.Done():
			}
		case e.operation == "GRAB":
			_ = s.storeGrab(ctx, e)
		default:
			_ = s.storeReturn(ctx, e)
		}
	}
}

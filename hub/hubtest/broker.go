// Package hubtest has a bus and a network for tests, both in memory. The bus connects the hubs of one process as if each hub were another
// instance. The network lets servers and clients run in a bubble of package synctest.
package hubtest

import (
	"context"
	"slices"
	"sync"

	"hongbao/hub"
)

// Limits of the queue of received payloads of one endpoint. Payloads beyond them are lost, and Suspect follows.
const (
	busQueueLen   = 8192
	busQueueBytes = 16 << 20
)

// Broker is a bus inside one process. Each endpoint acts as the bus of one instance.
type Broker struct {
	mu     sync.RWMutex
	topics map[string][]*endpoint
}

// NewBroker returns a broker without endpoints.
func NewBroker() *Broker {
	return &Broker{topics: map[string][]*endpoint{}}
}

// Endpoint returns one instance's end of the bus.
func (b *Broker) Endpoint() hub.Bus {
	return &endpoint{broker: b, wake: make(chan struct{}, 1)}
}

// endpoint implements hub.Bus. Lock order: Broker.mu before endpoint.mu.
type endpoint struct {
	broker *Broker
	wake   chan struct{} // one slot, never closed

	mu    sync.Mutex // guards the fields below
	queue []delivery
	bytes int
	lost  bool // a payload was lost since Run took the queue last
}

// delivery is one payload on its way to an instance.
type delivery struct {
	topic   string
	payload []byte
}

// Publish queues the payload at every other endpoint that has subscribed to the topic. Payloads that one goroutine
// publishes stay in order. The rank is ignored: an endpoint that loses a payload receives Suspect.
func (e *endpoint) Publish(topic string, payload []byte, _ hub.Rank) {
	e.broker.mu.RLock()
	defer e.broker.mu.RUnlock()
	for _, to := range e.broker.topics[topic] {
		if to != e {
			to.put(delivery{topic, payload})
		}
	}
}

// Subscribe takes effect at once.
func (e *endpoint) Subscribe(topics ...string) {
	e.broker.mu.Lock()
	defer e.broker.mu.Unlock()
	for _, topic := range topics {
		if to := e.broker.topics[topic]; !slices.Contains(to, e) {
			e.broker.topics[topic] = append(to, e)
		}
	}
}

// Unsubscribe takes effect at once. Payloads in the queue are still delivered.
func (e *endpoint) Unsubscribe(topics ...string) {
	e.broker.mu.Lock()
	defer e.broker.mu.Unlock()
	for _, topic := range topics {
		to := slices.DeleteFunc(e.broker.topics[topic], func(other *endpoint) bool { return other == e })
		e.broker.topics[topic] = to
		if len(to) == 0 {
			delete(e.broker.topics, topic)
		}
	}
}

// Run delivers queued payloads to the receiver until ctx is done. After a loss it delivers the queue, and then
// Suspect.
func (e *endpoint) Run(ctx context.Context, r hub.Receiver) error {
	r.Down(false)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.wake:
		}
		queue, lost := e.take()
		for _, d := range queue {
			r.Receive(d.topic, d.payload)
		}
		if lost {
			r.Suspect()
		}
	}
}

// put queues a delivery, or records that it was lost.
func (e *endpoint) put(d delivery) {
	e.mu.Lock()
	// After a loss nothing is queued until Run has taken the queue. So later payloads are delivered after Suspect.
	if !e.lost && len(e.queue) < busQueueLen && e.bytes+len(d.payload) <= busQueueBytes {
		e.queue = append(e.queue, d)
		e.bytes += len(d.payload)
	} else {
		e.lost = true
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *endpoint) take() (queue []delivery, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	queue, lost = e.queue, e.lost
	e.queue, e.bytes, e.lost = nil, 0, false
	return queue, lost
}

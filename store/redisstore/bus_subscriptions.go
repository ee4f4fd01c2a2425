package redisstore

import (
	"sync"
	"time"
)

// topicsPerCommand is the most topics in one SUBSCRIBE.
const topicsPerCommand = 512

// slowAfter is how long Redis may take to confirm a subscription before Receiver.Suspect is called. Messages
// published before the confirmation may be lost. The hub itself looks for lost messages in the first second after
// subscribing.
const slowAfter = 500 * time.Millisecond

// subscriptions are the topics that this instance wants on a shard, and which of them it has subscribed to on the
// present connection.
type subscriptions struct {
	wake chan struct{} // one slot, never closed

	mu        sync.Mutex // guards the fields below
	topics    map[string]topicState
	open      bool               // a connection exists to which changes are sent
	changed   []string           // topics changed since the last command was sent
	since     time.Time          // time of the oldest unsent change that adds a topic
	requested []subscribeCommand // SUBSCRIBE commands that Redis has not confirmed, oldest first
}

// topicState says whether this instance wants the topic, and whether it has sent a SUBSCRIBE for it.
type topicState struct{ wanted, requested bool }

// subscribeCommand is one SUBSCRIBE.
type subscribeCommand struct {
	last  string    // its last topic
	since time.Time // when the first of the command's topics was wanted
}

func newSubscriptions() *subscriptions {
	return &subscriptions{wake: make(chan struct{}, 1), topics: map[string]topicState{}}
}

// set sets whether the topic is wanted.
func (w *subscriptions) set(topic string, wanted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[topic]
	if t.wanted == wanted {
		return
	}
	t.wanted = wanted
	if t == (topicState{}) {
		delete(w.topics, topic)
	} else {
		w.topics[topic] = t
	}
	if !w.open {
		return
	}
	w.changed = append(w.changed, topic)
	if wanted && w.since.IsZero() {
		w.since = time.Now()
	}
	w.notify()
}

func (w *subscriptions) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begin starts a new connection: all wanted topics must be subscribed again.
func (w *subscriptions) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
	w.open = true
	w.changed = make([]string, 0, len(w.topics))
	for topic := range w.topics {
		w.changed = append(w.changed, topic)
	}
	w.since = time.Now()
}

// end records that the connection is closed, so that no topic counts as subscribed.
func (w *subscriptions) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
}

func (w *subscriptions) resetLocked() {
	w.open, w.changed, w.requested, w.since = false, nil, nil, time.Time{}
	for topic, t := range w.topics {
		if !t.wanted {
			delete(w.topics, topic)
		} else if t.requested {
			w.topics[topic] = topicState{wanted: true}
		}
	}
}

// next returns topics to subscribe to and topics to unsubscribe from, and records them as sent. Both lists are empty
// when nothing has changed.
func (w *subscriptions) next() (subscribe, unsubscribe []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for ; n < len(w.changed) && len(subscribe) < topicsPerCommand && len(unsubscribe) < topicsPerCommand; n++ {
		topic := w.changed[n]
		switch t := w.topics[topic]; {
		case t.wanted && !t.requested:
			w.topics[topic] = topicState{true, true}
			subscribe = append(subscribe, topic)
		case !t.wanted && t.requested:
			delete(w.topics, topic)
			unsubscribe = append(unsubscribe, topic)
		}
	}
	w.changed = w.changed[n:]
	if len(subscribe) > 0 {
		w.requested = append(w.requested, subscribeCommand{subscribe[len(subscribe)-1], w.since})
	}
	if len(w.changed) == 0 {
		w.changed, w.since = nil, time.Time{}
	}
	return subscribe, unsubscribe
}

// confirmed handles Redis's confirmation of a topic. It reports whether a command was confirmed later than slowAfter,
// which only the last topic of a command tells.
func (w *subscriptions) confirmed(topic string) (slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.requested) == 0 || w.requested[0].last != topic {
		return false
	}
	since := w.requested[0].since
	w.requested = w.requested[1:]
	return time.Since(since) > slowAfter
}

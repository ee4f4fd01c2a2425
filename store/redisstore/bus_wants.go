package redisstore

import (
	"sync"
	"time"
)

// subscribeLen is how many topics one SUBSCRIBE carries.
const subscribeLen = 512

// lateAfter is when a subscription has taken so long that what was published meanwhile may never be missed by
// anyone. The hub itself looks after what falls into the first second.
const lateAfter = 500 * time.Millisecond

// wants are the topics that this instance wants on a lane, and which of them it has asked the connection for.
type wants struct {
	wake chan struct{} // one slot, never closed

	mu      sync.Mutex // guards the following
	topics  map[string]want
	open    bool      // there is a connection that is told of changes
	changed []string  // since it was told
	since   time.Time // of the oldest change that adds a topic
	asked   []request // without an answer, in order
}

// want is a topic's state.
type want struct{ wanted, asked bool }

// request is one SUBSCRIBE.
type request struct {
	last  string    // its last topic
	since time.Time // when the first of them was wanted
}

func newWants() *wants {
	return &wants{wake: make(chan struct{}, 1), topics: map[string]want{}}
}

// set says whether the topic is wanted.
func (w *wants) set(topic string, wanted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.topics[topic]
	if t.wanted == wanted {
		return
	}
	t.wanted = wanted
	if t == (want{}) {
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
	w.ring()
}

func (w *wants) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begin has everything asked for again, on a new connection.
func (w *wants) begin() {
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

// end forgets the connection.
func (w *wants) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resetLocked()
}

func (w *wants) resetLocked() {
	w.open, w.changed, w.asked, w.since = false, nil, nil, time.Time{}
	for topic, t := range w.topics {
		if !t.wanted {
			delete(w.topics, topic)
		} else if t.asked {
			w.topics[topic] = want{wanted: true}
		}
	}
}

// next gives topics to subscribe and to unsubscribe; none: the connection is up to date.
func (w *wants) next() (subscribe, unsubscribe []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for ; n < len(w.changed) && len(subscribe) < subscribeLen && len(unsubscribe) < subscribeLen; n++ {
		topic := w.changed[n]
		switch t := w.topics[topic]; {
		case t.wanted && !t.asked:
			w.topics[topic] = want{true, true}
			subscribe = append(subscribe, topic)
		case !t.wanted && t.asked:
			delete(w.topics, topic)
			unsubscribe = append(unsubscribe, topic)
		}
	}
	w.changed = w.changed[n:]
	if len(subscribe) > 0 {
		w.asked = append(w.asked, request{subscribe[len(subscribe)-1], w.since})
	}
	if len(w.changed) == 0 {
		w.changed, w.since = nil, time.Time{}
	}
	return subscribe, unsubscribe
}

// answered takes the confirmation of one topic, and tells whether it came late.
func (w *wants) answered(topic string) (late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) == 0 || w.asked[0].last != topic {
		return false
	}
	since := w.asked[0].since
	w.asked = w.asked[1:]
	return time.Since(since) > lateAfter
}

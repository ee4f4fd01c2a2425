package hub

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/hub/internal/socket"
	"hongbao/hub/internal/wheel"
)

const (
	// unsequenced is the last seq of a topic whose messages have had no seq so far.
	unsequenced = -1
	// newTopicChecks is how often a new topic is compared with the store. A message may be committed after the
	// subscriber has read its seq, and published before the bus has subscribed to the topic. Nothing else would reveal
	// such a message.
	newTopicChecks = 2
	checkAfter     = 100 * time.Millisecond
	recheckAfter   = time.Second
)

// environment holds what the topics of a hub share.
type environment struct {
	// static
	encode       func(e Encoding, topic string, m Message) []byte
	revise       func(m Message) func(Message) Message // may be nil
	wheels       *wheel.Wheels
	counts       *counters
	needsRepair  func(*topic) // hands a topic to the repairers
	needsCompare func(*topic) // hands a topic to the comparer

	busDown  atomic.Bool
	backlogs atomic.Int64 // bytes of all backlogs of the hub
}

// patience returns how long a topic waits for a missing message before it is fetched. While the bus is down, the wait
// is zero.
func (v *environment) patience() time.Duration {
	if v.busDown.Load() {
		return 0
	}
	return gapWait
}

// topic is a topic with subscriptions of connections of this instance. It exists as long as it has subscriptions.
type topic struct {
	// static
	env  *environment
	name string

	dead atomic.Bool // set, under mu, when the last subscription ends or the topic is reset; never cleared

	mu            sync.Mutex // guards the fields below
	subscriptions []*subscription
	last          int64         // the last seq delivered; at first, the seen of the first subscriber
	gap           *gap          // nil: nothing is missing
	leaving       int           // number of subscriptions that end after a message that is still to come
	backlog       *backlog      // nil: no client has reconnected lately
	advanced      chan struct{} // closed when last grows; nil: no goroutine waits for it
	repairing     bool          // a repairer works on the topic, or the topic is queued for one
	checks        int8          // remaining comparisons of a new topic
	checkAt       wheel.Tick
	timer         wheel.Timer
	wakeAt        wheel.Tick // the tick of the timer; 0: not armed
}

// accept takes a message, in any order, and delivers what is in order. It returns the signals that waited for the
// delivered messages.
func (t *topic) accept(m Message) []heldSignal {
	if m.Seq <= 0 {
		t.deliver(m)
		return nil
	}
	if t.last == unsequenced {
		t.last = m.Seq - 1
	}
	switch {
	case m.Seq <= t.last:
		return nil
	case m.Seq == t.last+1:
		t.deliver(m)
		t.advance()
		return t.drainGap()
	}
	t.exists(m.Seq)
	t.gap.keep(m)
	return nil
}

// deliver queues a message to all subscribers. It encodes the message once for each encoding that is needed.
func (t *topic) deliver(m Message) {
	if m.Seq > 0 {
		t.keep(m)
	}
	var frames [2][]byte
	var encoded [2]bool
	var round *socket.Round
	for _, s := range t.subscriptions {
		if m.Seq > 0 && m.Seq <= s.after || s.leave == ended {
			continue
		}
		e := s.encoding
		if !encoded[e] {
			encoded[e] = true
			if push := t.env.encode(e, t.name, m); len(push) > 0 {
				frames[e] = socket.EncodeFrame(e, push)
			}
		}
		if frames[e] != nil && s.to.deliver(socket.Frame{Bytes: frames[e], Shed: m.Seq <= 0, Deferred: m.Seq <= 0 || m.Deferred}) {
			round = round.Join(s.to)
		}
	}
	t.env.counts.delivered.Add(uint64(len(t.subscriptions)))
	if m.Seq > 0 && (m.Final != "" || t.leaving > 0) {
		round = t.endAfter(m, round)
	}
	round.Start()
}

// keep adds a message to the backlog, and applies the changes that the message makes to earlier ones.
func (t *topic) keep(m Message) {
	if t.backlog == nil {
		return
	}
	if t.env.revise != nil {
		if change := t.env.revise(m); change != nil {
			t.backlog.revise(change)
		}
	}
	t.backlog.append(m)
}

// endAfter ends the subscriptions whose last message is the delivered one. It adds their subscribers to the round and
// returns the round.
func (t *topic) endAfter(m Message, round *socket.Round) *socket.Round {
	for _, s := range slices.Backward(t.subscriptions) { // backward, because remove moves the last element into the place of the removed one
		pending := s.leave != nil && s.leave != ended
		final := m.Final != "" && m.Seq > max(s.after, s.renewed) && s.to.subscribedTo(m.Final)
		switch {
		case pending && (final || m.Seq >= s.leave.through):
			round = t.end(s, s.leave.pushes, round)
		case final:
			s.leave = ended
		}
	}
	return round
}

// end removes a subscription and queues its last pushes. It adds the subscriber to the round, if it has something to
// write, and returns the round.
func (t *topic) end(s *subscription, pushes [][]byte, round *socket.Round) *socket.Round {
	s.to.unsubscribed(s)
	t.remove(s)
	for _, push := range pushes {
		if s.to.deliver(socket.Frame{Bytes: socket.EncodeFrame(s.encoding, push)}) {
			round = round.Join(s.to)
		}
	}
	return round
}

// add adds a subscription that receives the messages after the position.
func (t *topic) add(to Subscriber, position int64) *subscription {
	s := &subscription{to: to, after: position, index: int32(len(t.subscriptions)), encoding: to.Encoding()}
	t.subscriptions = append(t.subscriptions, s)
	return s
}

// remove removes a subscription from the topic. It does nothing if the subscription is already removed.
func (t *topic) remove(s *subscription) {
	if s.index < 0 {
		return
	}
	end := len(t.subscriptions) - 1
	moved := t.subscriptions[end]
	t.subscriptions[s.index], moved.index = moved, s.index
	t.subscriptions[end] = nil
	t.subscriptions = t.subscriptions[:end]
	s.index = -1
	if s.leave != nil && s.leave != ended {
		t.leaving--
	}
}

// subscribers returns a copy of the topic's subscribers, or nil if there are no signals. It must be a copy, because a
// handler of a signal may subscribe and unsubscribe.
func (t *topic) subscribers(signals []heldSignal) []Subscriber {
	if len(signals) == 0 {
		return nil
	}
	subscribers := make([]Subscriber, len(t.subscriptions))
	for i, s := range t.subscriptions {
		subscribers[i] = s.to
	}
	return subscribers
}

// exists notes that messages up to seq top exist. Missing ones are fetched after a moment.
func (t *topic) exists(top int64) {
	if t.gap == nil {
		t.gap = &gap{due: t.env.wheels.After(t.env.patience())}
		t.wakeBy(t.gap.due)
	}
	t.gap.top = max(t.gap.top, top)
}

// drainGap delivers the waiting messages that are now in order. It returns the signals that waited for them.
func (t *topic) drainGap() []heldSignal {
	g := t.gap
	if g == nil {
		return nil
	}
	n := 0
	for ; n < len(g.waiting) && g.waiting[n].Seq <= t.last+1; n++ {
		if g.waiting[n].Seq == t.last+1 {
			t.deliver(g.waiting[n])
			t.advance()
		}
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	if g.top <= t.last {
		t.gap = nil
		return g.signals
	}
	g.tries = 0
	g.due = t.env.wheels.After(t.env.patience())
	return g.release(t.last)
}

// advance increments the topic's last seq and wakes the goroutines that wait for it.
func (t *topic) advance() {
	t.last++
	t.wakeWaiters()
}

// wakeWaiters wakes the goroutines that wait for the topic to advance.
func (t *topic) wakeWaiters() {
	if t.advanced != nil {
		close(t.advanced)
		t.advanced = nil
	}
}

// wakeBy makes sure that the topic's timer fires at the tick or earlier.
func (t *topic) wakeBy(tick wheel.Tick) {
	if t.wakeAt == 0 || tick < t.wakeAt {
		t.wakeAt = tick
		t.timer.Arm(tick)
	}
}

// Fire implements wheel.Owner. It queues the topic for a repairer or the comparer if one of them is due, and drops an
// unused backlog.
func (t *topic) Fire(now wheel.Tick) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead.Load() {
		return
	}
	t.wakeAt = 0
	if b := t.backlog; b != nil {
		if now >= b.until && b.fill == nil {
			t.dropBacklog()
		} else {
			t.wakeBy(max(b.until, now+1))
		}
	}
	if g := t.gap; g != nil && !t.repairing {
		if now < g.due {
			t.wakeBy(g.due)
		} else {
			t.repairing = true
			t.env.needsRepair(t)
		}
	}
	if t.checks > 0 {
		if now >= t.checkAt {
			t.checks--
			t.checkAt = t.env.wheels.After(recheckAfter)
			t.env.needsCompare(t)
		}
		if t.checks > 0 {
			t.wakeBy(t.checkAt)
		}
	}
}

func (t *topic) dropBacklog() {
	if b := t.backlog; b != nil {
		b.grow(-b.bytes)
		t.backlog = nil
	}
}

// Name implements compare.Topic.
func (t *topic) Name() string { return t.name }

// Last implements compare.Topic.
func (t *topic) Last() (seq int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.last != unsequenced && !t.dead.Load()
}

// Learn implements compare.Topic.
func (t *topic) Learn(seq int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq > t.last && t.last != unsequenced && !t.dead.Load() {
		t.exists(seq)
	}
}

// Reset closes the connections of all subscribers, whose positions mean nothing any more. The topic is dead at once, so
// clients that connect again get a new one.
func (t *topic) Reset() {
	t.mu.Lock()
	t.die()
	subscribers := make([]Subscriber, len(t.subscriptions))
	for i, s := range t.subscriptions {
		subscribers[i] = s.to
	}
	t.mu.Unlock()
	for _, s := range subscribers {
		s.Close(CloseStateInvalidated, reasonStateInvalidated)
	}
}

// die marks a topic as dead, which has no subscriptions or whose subscribers are about to be closed. It stops the
// topic's timer.
func (t *topic) die() {
	t.dead.Store(true)
	t.gap = nil
	t.dropBacklog()
	t.wakeWaiters()
	t.timer.Disarm()
}

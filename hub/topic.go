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
	// unsequenced is topic.last while no seq of the topic is known.
	unsequenced = -1
	// newTopicChecks is how often a new topic is compared with the store: after checkAfter, and recheckAfter later. A message
	// may be committed after the subscriber has read the topic's last seq, and published before the bus has subscribed to the
	// topic. Otherwise only a later message, or the comparison of all topics each minute, would reveal it.
	newTopicChecks = 2
	checkAfter     = 100 * time.Millisecond
	recheckAfter   = time.Second
	// doubtFor is how long after a reset the hub reads new messages from the store instead of using the published ones. It is
	// longer than the sum of two times: from a command's commit to its last publish, and between the first and the last
	// instance that notice the new epoch.
	doubtFor = 10 * time.Second
)

// environment holds what the topics of a hub share.
type environment struct {
	// static
	encode       func(e Encoding, topic string, m Message) []byte
	revise       func(m Message) func(Message) Message // may be nil
	final        func(topic, subscriber string)        // static after SetPeers; may be nil
	wheels       *wheel.Wheels
	counts       *counters
	needsRepair  func(*topic) // hands a topic to the repairers
	needsCompare func(*topic) // hands a topic to the comparer

	epoch      atomic.Pointer[string] // see SetEpoch
	doubtUntil atomic.Int64           // in Unix nanoseconds; until then, messages with a seq are read from the store

	busDown  atomic.Bool
	backlogs atomic.Int64 // bytes of all backlogs of the hub
}

// epochName returns the name of the numbering of messages; "": it has none.
func (v *environment) epochName() string {
	if name := v.epoch.Load(); name != nil {
		return *name
	}
	return ""
}

// doubts reports whether a message that is published now may have been committed before the store lost messages.
func (v *environment) doubts() bool {
	until := v.doubtUntil.Load()
	return until != 0 && time.Now().UnixNano() < until
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

	crowded  atomic.Bool // there are at least crowd subscriptions; set under mu
	arrivals arrivals

	mu            sync.Mutex // guards the fields below
	subscriptions []*subscription
	last          int64         // the last seq delivered; at first, the seen of the first subscriber, or unsequenced
	gap           *gap          // nil: nothing is missing
	leaving       int           // number of subscriptions that end after a message that is still to come
	backlog       *backlog      // nil: no client has reconnected lately
	advanced      chan struct{} // closed when last grows; nil: no goroutine waits for it
	repairing     bool          // a repairer works on the topic, or the topic is queued for one
	checks        int8          // comparisons with the store that are still to be made because the topic is new
	checkAt       wheel.Tick
	timer         wheel.Timer
	wakeAt        wheel.Tick // the tick of the timer; 0: not armed
}

// accept takes messages, in any order, and delivers those that are in order. It returns the signals that waited for the delivered
// messages.
func (t *topic) accept(messages ...Message) (ready []heldSignal) {
	var buffer [8]Message // no allocation for the usual few
	run := buffer[:0]     // sequenced messages in order, which t.last counts already
	for _, m := range messages {
		if m.Seq <= 0 {
			t.deliver([]Message{m})
			continue
		}
		var signals []heldSignal
		run, signals = t.order(m, run)
		ready = append(ready, signals...)
	}
	for len(run) > 0 {
		n := t.together(run)
		t.deliver(run[:n])
		run = run[n:]
	}
	return ready
}

// order takes a sequenced message. It appends to run what is in order now: the message and those that have waited for it. It
// returns the signals that waited for these.
func (t *topic) order(m Message, run []Message) ([]Message, []heldSignal) {
	if m.Final != "" && t.env.final != nil {
		t.env.final(t.name, m.Final)
	}
	if t.last == unsequenced {
		t.last = m.Seq - 1
	}
	switch {
	case m.Seq <= t.last:
		return run, nil
	case m.Seq == t.last+1:
		run = append(run, m)
		t.advance()
		return t.drainGap(run)
	}
	t.exists(m.Seq)
	t.gap.keep(m)
	return run, nil
}

// maxTogether bounds the bytes of messages that become one frame.
const maxTogether = 32 << 10

// together returns how many of the messages, from the first on, become one frame. A message that may end a subscription is
// alone.
func (t *topic) together(run []Message) (n int) {
	size := len(run[0].Data)
	for n = 1; n < len(run) && t.leaving == 0 && run[n-1].Final == "" && run[n].Final == "" && run[n].Deferred == run[0].Deferred; n++ {
		if size += len(run[n].Data); size > maxTogether {
			break
		}
	}
	return n
}

// deliver queues messages to all subscribers, except those that have them already and those whose subscription has ended. It
// encodes the messages as one frame, once for each encoding that is needed. All subscribers share the frame. Several messages
// must be sequenced, and only as many as together allows.
func (t *topic) deliver(run []Message) {
	first, last := run[0], run[len(run)-1]
	if first.Seq > 0 {
		for _, m := range run {
			t.keep(m)
		}
	}
	var frames [2][]byte
	var pushes [2]uint64 // in the frame
	var encoded [2]bool
	var round *socket.Round
	var delivered uint64
	for _, s := range t.subscriptions {
		if last.Seq > 0 && last.Seq <= s.after || s.leave == ended {
			continue
		}
		if first.Seq > 0 && first.Seq <= s.after { // the subscriber has read some of the messages from the store
			n, flush := t.deliverRest(s, run)
			if delivered += n; flush {
				round = round.Join(s.to)
			}
			continue
		}
		e := s.encoding
		if !encoded[e] {
			encoded[e] = true
			frames[e], pushes[e] = t.encodeFrame(e, run)
		}
		if frames[e] == nil {
			continue
		}
		delivered += pushes[e]
		if s.to.deliver(socket.Frame{Bytes: frames[e], Shed: first.Seq <= 0, Deferred: first.Seq <= 0 || first.Deferred}) {
			round = round.Join(s.to)
		}
	}
	t.env.counts.delivered.Add(delivered)
	if last.Seq > 0 && (last.Final != "" || t.leaving > 0) {
		round = t.endAfter(last, round)
	}
	round.Start()
}

// encodeFrame returns one frame with the pushes of the messages, and how many these are; nil if none of the messages has a push.
func (t *topic) encodeFrame(e Encoding, run []Message) (frame []byte, pushes uint64) {
	if len(run) == 1 {
		if push := t.env.encode(e, t.name, run[0]); len(push) > 0 {
			return socket.EncodeFrame(e, push), 1
		}
		return nil, 0
	}
	all := make([][]byte, 0, len(run))
	for _, m := range run {
		if push := t.env.encode(e, t.name, m); len(push) > 0 {
			all = append(all, push)
		}
	}
	if len(all) == 0 {
		return nil, 0
	}
	return socket.EncodeFrame(e, all...), uint64(len(all))
}

// deliverRest queues those of the messages that are after the position of the subscription.
func (t *topic) deliverRest(s *subscription, run []Message) (delivered uint64, flush bool) {
	for i, m := range run {
		if m.Seq > s.after {
			frame, pushes := t.encodeFrame(s.encoding, run[i:])
			return pushes, frame != nil && s.to.deliver(socket.Frame{Bytes: frame, Deferred: m.Deferred})
		}
	}
	return 0, false
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
	for _, s := range slices.Backward(t.subscriptions) { // because remove moves the last element into the place of the removed one
		pending := s.leave != nil && s.leave != ended
		final := m.Final != "" && m.Seq > max(s.after, s.seen) && s.to.subscribedTo(m.Final)
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
	t.crowded.Store(len(t.subscriptions) >= crowd)
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
	t.crowded.Store(end >= crowd)
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

// crowd is the number of subscriptions from which on publishers hand their messages over in arrivals. With fewer, a write costs
// less than the wait.
const crowd = 64

// arrivals holds sequenced messages that publishers have handed to a topic with many subscriptions. The first publisher that then
// gets the topic's lock delivers the messages of all, as one frame. So what one commit makes seldom needs more than one write for
// each socket.
type arrivals struct {
	mu      sync.Mutex
	waiting []Message // guarded by mu
	spare   []Message // guarded by mu; empty: the space of messages that were delivered
	added   uint64    // guarded by mu; messages added so far
	taken   uint64    // guarded by mu; messages taken so far
}

// add adds a message and returns its number.
func (a *arrivals) add(m Message) (number uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, m)
	a.added++
	return a.added
}

// has reports whether the message with this number waits.
func (a *arrivals) has(number uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken < number
}

// take removes and returns all messages.
func (a *arrivals) take() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	messages := a.waiting
	a.waiting, a.spare, a.taken = a.spare, nil, a.added
	return messages
}

// reuse gives the space of delivered messages back.
func (a *arrivals) reuse(messages []Message) {
	clear(messages)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spare = messages[:0]
}

// exists notes that messages up to seq top exist. Missing ones are fetched after a moment.
func (t *topic) exists(top int64) {
	if t.gap == nil {
		t.gap = &gap{due: t.env.wheels.After(t.env.patience())}
		t.wakeBy(t.gap.due)
	}
	t.gap.top = max(t.gap.top, top)
}

// drainGap appends to run the waiting messages that are now in order. It returns the signals that waited for them.
func (t *topic) drainGap(run []Message) ([]Message, []heldSignal) {
	g := t.gap
	if g == nil {
		return run, nil
	}
	n := 0
	for ; n < len(g.waiting) && g.waiting[n].Seq <= t.last+1; n++ {
		if g.waiting[n].Seq == t.last+1 {
			run = append(run, g.waiting[n])
			t.advance()
		}
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	if g.top <= t.last {
		t.gap = nil
		return run, g.signals
	}
	g.tries = 0
	g.due = t.env.wheels.After(t.env.patience())
	return run, g.release(t.last)
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

// recheck has the topic compared with the store soon, unless that is scheduled already.
func (t *topic) recheck() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead.Load() || t.checks > 0 || t.last == unsequenced {
		return
	}
	t.checks, t.checkAt = 1, t.env.wheels.After(recheckAfter)
	t.wakeBy(t.checkAt)
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

// die marks the topic as dead, drops what it keeps and stops its timer. The topic has no subscriptions, or the connections
// of its subscribers are about to be closed.
func (t *topic) die() {
	t.dead.Store(true)
	t.gap = nil
	t.dropBacklog()
	t.wakeWaiters()
	t.timer.Disarm()
}

// Subscriber receives the messages of topics; it is a Conn. The topic's lock is held during all calls except Flush,
// Close and signal. No method may block.
type Subscriber interface {
	socket.Flusher
	// Encoding returns the encoding in which the subscriber receives messages.
	Encoding() Encoding
	// deliver queues a push. If it returns true, the caller must unlock the topic and call Flush soon.
	deliver(f socket.Frame) (flush bool)
	// signal passes a signal that was sent to the topic.
	signal(topic string, data []byte)
	// subscribedTo reports whether the subscriber has a subscription to the topic.
	subscribedTo(topic string) bool
	// unsubscribed tells the subscriber that the topic has ended a subscription.
	unsubscribed(s *subscription)
	// Close closes the connection.
	Close(code int, reason string)
}

// subscription is one subscriber of one topic. The topic's lock guards it.
type subscription struct {
	to       Subscriber
	after    int64         // the position: messages up to this seq are not delivered
	seen     int64         // highest seen of its calls of Subscribe: a message with Final up to that seq does not end the subscription
	leave    *pendingLeave // nil: no end is scheduled; ended: a message with Final has ended it
	index    int32         // in topic.subscriptions; -1: removed
	encoding Encoding      // encoding of the subscriber
}

// pendingLeave is an end of a subscription that waits for a message: an Unsubscribe with a seq that has not been
// delivered.
type pendingLeave struct {
	through int64    // the last seq that the subscriber receives
	pushes  [][]byte // queued after that message
}

// ended is the leave of a subscription that a message with Final has ended. The subscription remains, and receives signals but
// no messages, until the subscriber calls Unsubscribe or Subscribe.
var ended = &pendingLeave{}

// learn records seen, the last seq that a new subscriber has read from the store. It returns the position at which the
// subscription begins.
func (t *topic) learn(seen int64) (position int64) {
	switch {
	case seen < 0:
	case t.last == unsequenced:
		t.last = seen
		t.checks = newTopicChecks
		t.checkAt = t.env.wheels.After(checkAfter)
		t.wakeBy(t.checkAt)
	case seen > t.last:
		t.exists(seen)
	}
	return max(seen, t.last, 0)
}

// subscribe does the work of Conn.Subscribe; the caller holds the topic's lock. s is the subscriber's present
// subscription, or nil. It returns the position, and the subscription that the subscriber now has.
func (t *topic) subscribe(to Subscriber, s *subscription, seen int64, announce func(int64) []byte) (int64, *subscription) {
	position := t.learn(seen)
	switch {
	case s == nil:
		s = t.add(to, position)
		s.seen = seen
	case s.leave == ended:
		s.after, s.seen, s.leave = position, max(s.seen, seen), nil
	default:
		t.renew(s, seen)
		return max(s.after, t.last, 0), s
	}
	if announce != nil && to.deliver(socket.Frame{Bytes: socket.EncodeFrame(s.encoding, announce(position))}) {
		var round *socket.Round
		round.Join(to).Start()
	}
	return position, s
}

// renew handles a repeated Subscribe by a subscriber that knows the topic's messages up to seen. It cancels a pendingLeave whose
// through is at most seen: the user has joined again since that message.
func (t *topic) renew(s *subscription, seen int64) {
	s.seen = max(s.seen, seen)
	if s.leave != nil && s.leave.through <= seen {
		s.leave = nil
		t.leaving--
	}
}

// unsubscribe does the work of Conn.Unsubscribe; the caller holds the topic's lock.
func (t *topic) unsubscribe(s *subscription, through int64, pushes [][]byte) {
	switch {
	case s.leave == ended, t.last == unsequenced, through <= max(s.after, t.last):
		t.end(s, pushes, nil).Start()
	case s.leave != nil: // if two ends are scheduled, the earlier one counts
		s.leave.through = min(s.leave.through, through)
	default:
		s.leave = &pendingLeave{through: through, pushes: pushes}
		t.leaving++
		t.exists(through)
	}
}

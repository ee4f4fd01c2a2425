package hub

import "hongbao/hub/internal/socket"

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
	renewed  int64         // highest seen of a repeated Subscribe: an end scheduled up to that seq has no effect
	leave    *pendingLeave // nil: no end is scheduled
	index    int32         // in topic.subscriptions; -1: removed
	encoding Encoding      // encoding of the subscriber
}

// pendingLeave is an end of a subscription that waits for a message: an Unsubscribe with a seq that has not been
// delivered.
type pendingLeave struct {
	through int64    // the last seq that the subscriber receives
	pushes  [][]byte // queued after that message
}

// ended marks a subscription that a message with Final has ended. The subscription remains and receives nothing until
// the subscriber calls Unsubscribe or Subscribe.
var ended = &pendingLeave{}

// learn takes note of the last seq that a new subscriber has read from the store. It returns the position at which the
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
	case s.leave == ended:
		s.after, s.leave = position, nil
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

// renew handles a repeated Subscribe by a subscriber that knows the topic's messages up to seen. It cancels an end of
// the subscription that was scheduled at or before seen: by then the user has joined again.
func (t *topic) renew(s *subscription, seen int64) {
	s.renewed = max(s.renewed, seen)
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

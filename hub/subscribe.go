package hub

import "hongbao/hub/internal/socket"

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

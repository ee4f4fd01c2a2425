package session

import (
	"cmp"
	"context"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// maxSignals bounds the signals of a session that wait to be applied. Beyond it signals are dropped, except those that close
// sockets, and the user's sessions are compared with the store.
const maxSignals = 1000

// signalQueue is the signals of a session that wait to be applied. Session.mu guards it. One goroutine at a time applies them, so
// that they stay in order.
type signalQueue struct {
	list     []push.Signal // in the order of arrival
	applying bool          // a goroutine is applying signals
}

// add queues signals and reports whether the caller must apply them. It returns false if none is queued, or if another
// goroutine is applying signals. It also returns false if the session is not open: then the connect command applies the signals,
// because they may change what it has read.
func (q *signalQueue) add(phase phase, sigs ...push.Signal) (apply bool) {
	for _, sig := range sigs {
		if !q.full() || sig.Close != nil {
			q.list = append(q.list, sig)
		}
	}
	if phase != open || q.applying || len(q.list) == 0 {
		return false
	}
	q.applying = true
	return true
}

// full reports whether add drops signals, except those that close sockets.
func (q *signalQueue) full() bool { return len(q.list) >= maxSignals }

// Signal implements hub.Handler. If another instance sent the signal, this instance's cache may be outdated, so the parts that the
// signal concerns are forgotten. Signal never waits for the store, neither on the goroutine of a publisher nor on that of the bus.
func (s *Session) Signal(_ string, data []byte) {
	sig, err := push.ParseSignal(data)
	if err != nil {
		s.m.c.Log.Error("signal of an unknown form", "err", err)
		return
	}
	s.mu.Lock()
	if sig.By != s.m.c.Node {
		s.m.forget(sig, s.user.ID)
	}
	apply := s.signals.add(s.phase, sig)
	user, full := s.user.ID, s.signals.full()
	s.mu.Unlock()
	if full {
		s.m.rechecks.add(user)
	}
	if apply {
		s.applyCached()
	}
}

// forget removes from the cache of package chat what a signal to the user's sessions has made outdated.
func (m *Manager) forget(sig push.Signal, user string) {
	switch {
	case sig.Room == "":
	case sig.Reason == push.ReasonDeleted:
		m.c.Chat.Forget(sig.Room, "")
	default:
		m.c.Chat.Forget(sig.Room, user)
	}
}

// applySignals applies the queued signals, one after the other.
func (s *Session) applySignals() {
	for sig, ok := s.nextSignal(); ok; sig, ok = s.nextSignal() {
		s.apply(sig)
	}
}

// applyCached applies the queued signals up to the first one that needs a standing which is not cached. A goroutine goes on from
// there, because the goroutines of publishers and of the bus must not wait for the store.
func (s *Session) applyCached() {
	for sig, ok := s.nextSignal(); ok; sig, ok = s.nextSignal() {
		standing, cached := s.m.c.Chat.CachedStanding(sig.Room, s.userID())
		if sig.Close == nil && !cached {
			go func() {
				s.apply(sig)
				s.applySignals()
			}()
			return
		}
		s.carryOut(sig, standing, cached)
	}
}

func (s *Session) userID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user.ID
}

// nextSignal takes the next signal from the queue. If there is none, it ends the caller's turn: another goroutine may then apply
// signals. In that case it also sets the phase to open, for the connect command: other callers run only in open sessions.
func (s *Session) nextSignal() (sig push.Signal, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.signals.list) == 0 {
		s.signals, s.phase = signalQueue{}, open
		return push.Signal{}, false
	}
	sig = s.signals.list[0]
	s.signals.list = s.signals.list[1:]
	return sig, true
}

// apply does what a signal says if that is still true. It waits for the store if the user's standing is not cached.
func (s *Session) apply(sig push.Signal) {
	if sig.Close != nil {
		s.carryOut(sig, chat.Standing{}, false)
		return
	}
	standing, known := s.m.standing(sig.Room, s.userID())
	s.carryOut(sig, standing, known)
}

// carryOut does what a signal says. It ignores a signal about a room that contradicts the user's standing or, if that is not known,
// the subscription (see contradicted): signals of two concurrent changes may arrive in the wrong order. Each change is committed
// before its signal is sent, and signals are carried out one after the other, so the last one sees the standing after both.
// Therefore the caller must read the standing after it took the signal from the queue.
func (s *Session) carryOut(sig push.Signal, standing chat.Standing, known bool) {
	s.mu.Lock()
	client, epoch := s.client, s.epoch
	s.mu.Unlock()
	switch {
	case sig.Close != nil:
		if sig.Close.Socket == "" || sig.Close.Socket == client {
			s.close(sig.Close.Code)
		}
	case known && standing.In != (sig.Entered != nil), !known && s.contradicted(sig):
	case sig.Entered == nil:
		leaveRoom(s.conn, sig.Room, cmp.Or(sig.Reason, reasonOf(standing)), sig.Through)
	default:
		enterRoom(s.conn, sig.Room, epoch, *sig.Entered)
	}
}

// contradicted reports whether the room's subscription contradicts a signal for a user whose standing cannot be read. A user that has
// returned after the leave of the signal stays in the room. An entered signal does not open a room again: the user may have been kicked
// or banned since.
func (s *Session) contradicted(sig push.Signal) bool {
	seen, subscribed := s.conn.Seen(push.RoomTopic(sig.Room))
	if sig.Entered != nil {
		return !subscribed
	}
	return subscribed && sig.Through > 0 && sig.Through <= seen
}

// enterRoom subscribes the connection to a room. The subscribe push is sent before the room's first entry, but not if the
// connection is subscribed already.
func enterRoom(conn *hub.Conn, room, epoch string, in push.Entered) {
	if conn.Ended(push.RoomTopic(room)) { // the user has left and returned, and the signal for leaving was lost
		leaveRoom(conn, room, push.ReasonLeft, 0)
	}
	e := wire.Encoding(conn.Encoding())
	conn.Subscribe(push.RoomTopic(room), in.Seen, func(position int64) []byte {
		in.Data.Room.LastSeq = position
		return wire.SubscribePush(e, wire.RoomChannel(room), epoch, position, in.Data)
	})
}

// leaveRoom unsubscribes the connection from a room after the entry with the seq through (0: at once), and then sends the
// pushes left and unsubscribe. If it is not subscribed, leaveRoom does nothing.
func leaveRoom(conn *hub.Conn, room, reason string, through int64) {
	e := wire.Encoding(conn.Encoding())
	conn.Unsubscribe(push.RoomTopic(room), through,
		wire.MessagePush(e, push.Left(room, reason)),
		wire.UnsubscribePush(e, wire.RoomChannel(room), reason))
}

// standing returns the user's present standing in the room. If it cannot be read, known is false and the user is rechecked later.
// standing may wait for the store, so no session may be locked.
func (m *Manager) standing(room, user string) (st chat.Standing, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), m.c.StandingWithin)
	defer cancel()
	st, err := m.c.Chat.Standing(ctx, room, user)
	if err != nil {
		m.rechecks.add(user)
	}
	return st, err == nil
}

// reasonOf returns as much of the reason for being out of a room as a standing holds.
func reasonOf(st chat.Standing) string {
	switch {
	case st.RoomDeleted:
		return push.ReasonDeleted
	case st.Banned:
		return push.ReasonBanned
	}
	return push.ReasonLeft
}

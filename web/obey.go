package web

import (
	"cmp"
	"context"
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// Why somebody is out of a room, as clients are told.
const (
	reasonLeft    = "left"
	reasonKicked  = "kicked"
	reasonBanned  = "banned"
	reasonDeleted = "deleted"
)

// standingTime is how long a session asks at most how its user stands to a room.
const standingTime = time.Second

// obeyWaiting obeys what waits, one after the other.
func (s *session) obeyWaiting() {
	for sig, ok := s.nextWaiting(); ok; sig, ok = s.nextWaiting() {
		s.obey(sig)
	}
}

// nextWaiting takes the next signal. When there is none, nobody obeys any more, and a session that was being opened is open.
func (s *session) nextWaiting() (sig signal, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting, s.obeying, s.phase = nil, false, open
		return signal{}, false
	}
	sig = s.waiting[0]
	s.waiting = s.waiting[1:]
	return sig, true
}

// obey does what a signal says, if it is still so: two changes at once may be told crosswise. Each was made before it was
// told, and one is obeyed after the other; so the last one obeyed sees how the user stands after both, whichever it is.
func (s *session) obey(sig signal) {
	s.mu.Lock()
	user, client, epoch := s.user.ID, s.client, s.epoch
	s.mu.Unlock()
	if sig.Close != nil {
		if sig.Close.Socket == "" || sig.Close.Socket == client {
			s.close(sig.Close.Code)
		}
		return
	}
	standing, known := s.srv.standing(sig.Room, user)
	switch {
	case known && standing.In != (sig.Entered != nil):
	case sig.Entered == nil:
		s.goOut(sig.Room, cmp.Or(sig.Reason, whyOut(standing)), sig.Through)
	default:
		s.goIn(sig.Room, epoch, *sig.Entered)
	}
}

// goIn lets the client into a room.
func (s *session) goIn(room, epoch string, in entered) {
	if s.conn.Ended(roomTopic(room)) { // he was put out, and is back before he was told
		s.goOut(room, reasonLeft, 0)
	}
	e := s.encoding()
	s.conn.Subscribe(roomTopic(room), in.Seen, func(position int64) []byte {
		in.Data.Room.LastSeq = position
		return wire.SubscribePush(e, wire.RoomChannel(room), epoch, position, in.Data)
	})
}

// goOut takes the client out of a room when it has got the last entry that is for it, and says so.
func (s *session) goOut(room, reason string, through int64) {
	e := s.encoding()
	s.conn.Unsubscribe(roomTopic(room), through,
		wire.MessagePush(e, marshal(wire.Message{Left: &wire.LeftPush{Room: room, Reason: reason}})),
		wire.UnsubscribePush(e, wire.RoomChannel(room), reason))
}

// standing tells how the user stands to the room now. When that cannot be found out a signal is believed, and looked into
// later. It waits for the store, so nobody may hold a session's lock.
func (s *Server) standing(room, user string) (st chat.Standing, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), standingTime)
	defer cancel()
	st, err := s.chat.Standing(ctx, room, user)
	if err != nil {
		s.rechecks.add(user)
	}
	return st, err == nil
}

// whyOut is as much as a standing tells of the reason.
func whyOut(st chat.Standing) string {
	switch {
	case st.Gone:
		return reasonDeleted
	case st.Banned:
		return reasonBanned
	}
	return reasonLeft
}

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

// obeyLocked does what a signal says, if it is still so: two changes at once may be told crosswise. Each was made
// before it was told, and mu lets the session obey one after the other; so the last one obeyed sees how the user
// stands after both, whichever it is.
func (s *session) obeyLocked(sig signal) {
	if sig.Close != nil {
		if sig.Close.Socket == "" || sig.Close.Socket == s.client {
			s.close(sig.Close.Code)
		}
		return
	}
	standing, known := s.standingLocked(sig.Room)
	switch {
	case known && standing.In != (sig.Entered != nil):
		return
	case sig.Entered == nil:
		s.goOut(sig.Room, cmp.Or(sig.Reason, whyOut(standing)), sig.Through)
		return
	}
	if s.conn.Ended(roomTopic(sig.Room)) { // he was put out, and is back before he was told
		s.goOut(sig.Room, reasonLeft, 0)
	}
	e, epoch, joined := s.encoding(), s.epoch, sig.Entered.Data
	s.conn.Subscribe(roomTopic(sig.Room), sig.Entered.Seen, func(position int64) []byte {
		joined.Room.LastSeq = position
		return wire.SubscribePush(e, wire.RoomChannel(sig.Room), epoch, position, joined)
	})
}

// goOut takes the client out of a room when it has got the last entry that is for it, and says so.
func (s *session) goOut(room, reason string, through int64) {
	e := s.encoding()
	s.conn.Unsubscribe(roomTopic(room), through,
		wire.MessagePush(e, marshal(wire.Message{Left: &wire.LeftPush{Room: room, Reason: reason}})),
		wire.UnsubscribePush(e, wire.RoomChannel(room), reason))
}

// standingLocked tells how the user stands to the room now. When that cannot be found out a signal is believed, and
// looked into later.
func (s *session) standingLocked(room string) (st chat.Standing, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), standingTime)
	defer cancel()
	st, err := s.srv.chat.Standing(ctx, room, s.who.User.ID)
	if err != nil {
		s.srv.rechecks.add(s.who.User.ID)
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

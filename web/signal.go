package web

import (
	"encoding/json"

	"hongbao/web/wire"
)

// signal tells a user's sessions, on every instance, that he is in a room now or out of it. It is for the
// sessions, not for the clients: they hear what becomes of it.
type signal struct {
	Room    string   `json:"room"`
	Entered *entered `json:"entered,omitempty"` // nil: he is out
	Reason  string   `json:"reason,omitempty"`  // why he is out
}

// entered is what a session needs to let its client into a room.
type entered struct {
	Seen int64       `json:"seen"` // the room's last seq when he came in
	Data wire.Joined `json:"data"`
}

func (sig signal) encode() []byte { return marshal(sig) }

// Signal implements hub.Handler. What comes while the session is being opened waits, so that a room left
// meanwhile is not entered by a list of rooms that was read before.
func (s *session) Signal(_ string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != open {
		s.early = append(s.early, data)
		return
	}
	s.obeyLocked(data)
}

// obeyLocked does what a signal says. It holds mu, so that signals are obeyed in the order they came in.
func (s *session) obeyLocked(data []byte) {
	var sig signal
	if err := json.Unmarshal(data, &sig); err != nil {
		s.srv.o.Log.Error("signal of an unknown form", "err", err)
		return
	}
	e, channel := s.encoding(), wire.RoomChannel(sig.Room)
	if sig.Entered == nil {
		s.conn.Send(wire.MessagePush(e, marshal(wire.Message{Left: &wire.LeftPush{Room: sig.Room, Reason: sig.Reason}})))
		s.conn.Unsubscribe(roomTopic(sig.Room), wire.UnsubscribePush(e, channel, sig.Reason))
		return
	}
	epoch, joined := s.epoch, sig.Entered.Data
	s.conn.Subscribe(roomTopic(sig.Room), sig.Entered.Seen, func(position int64) []byte {
		joined.Room.LastSeq = position
		return wire.SubscribePush(e, channel, epoch, position, joined)
	})
}

// marshal is for our own types, which hold nothing that could fail to be encoded.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("web: " + err.Error())
	}
	return data
}

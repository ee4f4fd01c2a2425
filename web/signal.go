package web

import (
	"encoding/json"

	"hongbao/chat"
	"hongbao/web/wire"
)

// signal tells a user's sessions, on every instance, that he has come into a room or gone out of it, or that sockets
// of his are to be closed; a room's, that it has been deleted. It is for the sessions, not for the clients: they hear
// what becomes of it.
type signal struct {
	By      string   `json:"by"` // the instance that says so
	Room    string   `json:"room,omitempty"`
	Entered *entered `json:"entered,omitempty"` // nil: he is out
	Reason  string   `json:"reason,omitempty"`  // why he is out; empty: nobody has said
	Through int64    `json:"through,omitempty"` // the last entry that is still for him; 0: whichever was
	Close   *closing `json:"close,omitempty"`   // then nothing else is meant
}

// closing names sockets to be closed.
type closing struct {
	Code   int    `json:"code"`
	Socket string `json:"socket,omitempty"` // empty: all
}

// entered is what a session needs to let its client into a room.
type entered struct {
	Seen int64       `json:"seen"` // the room's last seq when he came in
	Data wire.Joined `json:"data"`
}

// enteredSignal says that the user of the membership is in its room now.
func enteredSignal(m chat.Membership) signal {
	return signal{Room: m.Room.ID, Entered: &entered{Seen: m.Room.LastSeq, Data: wire.Joined{Room: wireMembership(m)}}}
}

func (sig signal) encode() []byte { return marshal(sig) }

// Signal implements hub.Handler. What another instance says makes what is remembered here old. What comes while the session is being opened waits, so that a room left
// meanwhile is not entered by a list of rooms that was read before.
func (s *session) Signal(_ string, data []byte) {
	var sig signal
	if err := json.Unmarshal(data, &sig); err != nil {
		s.srv.o.Log.Error("signal of an unknown form", "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	foreign := sig.By != s.srv.pub.node
	if foreign {
		s.forgetLocked(sig)
	}
	switch {
	case s.phase == open && !foreign:
		s.obeyLocked(sig)
	case s.phase == open && !s.obeying: // it came by the bus, which must not wait for the store
		s.obeying = true
		s.waiting = append(s.waiting, sig)
		go s.obeyWaiting()
	default:
		s.waiting = append(s.waiting, sig)
	}
}

// forgetLocked makes old what is remembered here of what the signal is about.
func (s *session) forgetLocked(sig signal) {
	switch {
	case sig.Room == "":
	case sig.Reason == reasonDeleted:
		s.srv.chat.Forget(sig.Room, "")
	default:
		s.srv.chat.Forget(sig.Room, s.who.User.ID)
	}
}

// obeyWaiting obeys what waits, one after the other.
func (s *session) obeyWaiting() {
	for s.obeyNext() {
	}
}

func (s *session) obeyNext() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting, s.obeying = nil, false
		return false
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.obeyLocked(next)
	return true
}

// marshal is for our own types, which hold nothing that could fail to be encoded.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("web: " + err.Error())
	}
	return data
}

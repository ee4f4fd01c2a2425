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

// Signal implements hub.Handler. What another instance says makes what is remembered here old. Who tells something here
// goes on when the sessions have obeyed it, so that they are in a room before its next entry; the bus waits for nobody.
func (s *session) Signal(_ string, data []byte) {
	var sig signal
	if err := json.Unmarshal(data, &sig); err != nil {
		s.srv.o.Log.Error("signal of an unknown form", "err", err)
		return
	}
	s.mu.Lock()
	foreign := sig.By != s.srv.pub.node
	if foreign {
		s.forgetLocked(sig)
	}
	mine := s.waitLocked(sig)
	s.mu.Unlock()
	switch {
	case mine && foreign:
		go s.obeyWaiting()
	case mine:
		s.obeyWaiting()
	}
}

// waitLocked puts signals behind those that wait, and tells whether the caller is to obey them all: else somebody else
// does. Those that come while the session is being opened wait until it is, so that a room left meanwhile is not entered
// by a list of rooms that was read before.
func (s *session) waitLocked(sigs ...signal) (mine bool) {
	s.waiting = append(s.waiting, sigs...)
	if s.phase != open || s.obeying || len(s.waiting) == 0 {
		return false
	}
	s.obeying = true
	return true
}

// forgetLocked makes old what is remembered here of what the signal is about.
func (s *session) forgetLocked(sig signal) {
	switch {
	case sig.Room == "":
	case sig.Reason == reasonDeleted:
		s.srv.chat.Forget(sig.Room, "")
	default:
		s.srv.chat.Forget(sig.Room, s.user.ID)
	}
}

// marshal is for our own types, which hold nothing that could fail to be encoded.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("web: " + err.Error())
	}
	return data
}

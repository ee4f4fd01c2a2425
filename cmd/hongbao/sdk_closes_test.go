package main

import (
	"errors"
	"strings"
	"time"

	"hongbao/web/wire"
)

// tooBig: a frame over the size ends the connection. SDKs call that 3, and differ in whether they come back.
func (s *stage) tooBig() {
	s.room("ann", "public")
	ann := s.connected("ann")
	_, err := ann.call("wallet", jsonText(map[string]string{"unknown": strings.Repeat("x", wire.FrameBytes)}))
	var refused wire.Error
	if err == nil || errors.As(err, &refused) {
		s.t.Errorf("too big a command was answered: %v", err)
	}
	if !s.sdk.comesBackFromTooBig() {
		ann.awaits(1, "over", 3)
		return
	}
	ann.awaits(1, "again", 3)
	ann.awaits(2, "up")
}

// silent: who answers no ping is hung up on, hears it when he listens again, comes back, and has missed nothing.
func (s *stage) silent() {
	room := s.room("ann", "public", "bob")
	bob := s.open("bob", opening{at: s.node})
	bob.awaits(1, "in", room)
	resume := bob.stall()
	defer resume()
	s.say("ann", room, "unheard")
	eventually(s.t, 60*time.Second, "the server hangs up", func() bool { return s.node.shows(`hongbao_closes_total{code="3012"} 1`) })
	resume()
	bob.awaits(1, "again", wire.CloseNoPong)
	bob.awaits(2, "up")
	s.say("ann", room, "after")
	bob.mustBeExact(room)
}

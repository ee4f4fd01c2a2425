package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/web/wire"
)

// killed: who was connected when the server died comes back by himself, with all that was said meanwhile.
func (s *stage) killed() {
	room := s.room("ann", "public", "bob")
	bob := s.connected("bob")
	s.say("ann", room, texts(3)...)
	bob.awaits(1, "entry", room, 3)
	s.node.kill()
	s.door.lead()
	s.serve()
	s.door.lead()
	s.say("ann", room, texts(30)...)
	s.back()
	bob.awaits(1, "in", room, "recovered")
	s.say("ann", room, "after")
	bob.mustBeExact(room)
	bob.mustEnd(room, fmt.Sprint("entry ", room, " 33"), fmt.Sprint("entry ", room, " 34"))
}

// drained: a server that stops says so, and whoever comes back to the next one has missed nothing.
func (s *stage) drained() {
	room := s.room("ann", "public", "bob")
	bob := s.connected("bob")
	s.say("ann", room, texts(3)...)
	s.node.stop()
	bob.awaits(1, "again", wire.CloseDrain)
	s.serve()
	s.say("ann", room, texts(3)...)
	bob.awaits(1, "in", room, "recovered")
	bob.mustBeExact(room)
}

// missedTooMany: what is more than 500 entries does not come back by itself. History has it.
func (s *stage) missedTooMany() { s.tooMuchToRecover(texts(501)) }

// missedTooMuch: nor does what is more than 256 KiB.
func (s *stage) missedTooMuch() {
	many := texts(300)
	for i := range many {
		many[i] = strings.Repeat("x", 1000)
	}
	s.tooMuchToRecover(many)
}

func (s *stage) tooMuchToRecover(said []string) {
	room, other := s.room("ann", "public", "bob"), s.room("ann", "public", "bob")
	bob := s.connected("bob")
	s.say("ann", room, "heard")
	s.say("ann", other, "heard")
	bob.awaits(1, "entry", room, 1)
	bob.awaits(1, "entry", other, 1)
	s.away()
	s.say("ann", other, "missed")
	s.say("ann", room, said...)
	s.back()
	bob.awaits(1, "in", room, "lost")
	bob.awaits(1, "in", other, "recovered")
	s.say("ann", room, "live")
	bob.awaits(1, "entry", other, 2)
	bob.mustEnd(other, fmt.Sprint("in ", other, " recovered"), fmt.Sprint("entry ", other, " 2"))
	bob.mustBeExact(room)
	bob.mustBeExact(other)
	if heard := bob.times(fmt.Sprint("entry ", room, " 2")); heard != 0 {
		s.t.Error("it came back, and was said not to")
	}
}

// slow: who does not read is hung up on, and who reads again in time is told so, comes back, and has missed nothing.
func (s *stage) slow() {
	room := s.room("ann", "public", "bob")
	bob := s.open("bob", opening{at: s.node})
	bob.awaits(1, "in", room)
	resume := bob.stall()
	defer resume()
	var enough atomic.Bool
	var all sync.WaitGroup
	for w := range 4 { // more than the server keeps, and the system on the way
		all.Go(func() {
			for i := 0; i < 300 && !enough.Load(); i++ {
				s.command("ann", "send", wire.SendRequest{Room: room, Key: fmt.Sprintf("large-%d-%d", w, i), Text: strings.Repeat("🧧", 4000)})
			}
		})
	}
	eventually(s.t, 60*time.Second, "the server calls him slow", func() bool { return s.node.shows("hongbao_slow_total 1") })
	resume() // at once: who is still away seconds later is given up without a word
	enough.Store(true)
	all.Wait()
	bob.awaits(1, "again", wire.CloseTooSlow)
	bob.awaits(2, "up")
	s.say("ann", room, "after")
	bob.mustBeExact(room)
}

// saidAgain: what was said once and is said again, because the answer was lost, is there once.
func (s *stage) saidAgain() {
	room := s.room("ann", "public")
	ann := s.connected("ann")
	request := wire.SendRequest{Room: room, Key: "once", Text: "once"}
	first := replyOf[wire.SendReply](ann, "send", request)
	s.away()
	ann.awaits(1, "again", 1)
	s.back()
	ann.awaits(2, "up")
	again := replyOf[wire.SendReply](ann, "send", request)
	if !again.Dup || again.Seq != first.Seq || again.ID != first.ID || again.At != first.At {
		s.t.Errorf("told %+v, then %+v", first, again)
	}
	if history := ann.history(room, 0, 1<<40); len(history) != 1 {
		s.t.Errorf("the room holds %d entries", len(history))
	}
}

// texts are so many things to say.
func texts(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("text ", i, " of ", time.Now().Format(time.TimeOnly)))
	}
	return all
}

package session

import (
	"testing"
	"unsafe"

	"github.com/centrifugal/protocol"
)

// TestOverlappingCommandsDoNotHoldUpOthers has a grab wait for its commit. Later commands must start meanwhile, in the
// order in which they came.
func TestOverlappingCommandsDoNotHoldUpOthers(t *testing.T) {
	s := &Session{phase: open}
	add := func(method string) *command {
		c := newCommand(s, kindRPC, &protocol.Command{Rpc: &protocol.RPCRequest{Method: method}})
		s.commands.list = append(s.commands.list, c)
		return c
	}
	grab, send, join, grabAgain := add("grab"), add("send"), add("join"), add("grab")
	for _, want := range []*command{grab, send, nil} {
		if got := s.commands.next(open); got != want {
			t.Fatalf("started %v, want %v", got, want)
		}
	}
	s.commands.remove(send)
	for _, want := range []*command{join, grabAgain, nil} {
		if got := s.commands.next(open); got != want {
			t.Fatalf("after an answer: started %v, want %v", got, want)
		}
	}
}

// TestNoEarlyAnswerBeyondTheLimit answers a command early when maxEarly such commands run. It must stay in flight
// without an answer.
func TestNoEarlyAnswerBeyondTheLimit(t *testing.T) {
	c := &command{started: true}
	s := &Session{phase: open, commands: inFlight{early: maxEarly, list: []*command{c}}}
	c.session = s
	if flush, again := c.answerEarly(); flush || again || c.answered || s.commands.early != maxEarly || len(s.commands.list) != 1 {
		t.Errorf("answered early, or not in flight any more: %+v", s.commands)
	}
}

// TestSessionIsSmall checks the size of a Session, because there may be very many idle ones.
func TestSessionIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 256 {
		t.Errorf("a session has %d bytes, want at most 256", size)
	}
}

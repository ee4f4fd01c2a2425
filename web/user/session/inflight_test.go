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

// TestOverlappingCommandsAreBounded sends more grabs than may run at once. The further ones must wait until one is answered.
func TestOverlappingCommandsAreBounded(t *testing.T) {
	s := &Session{phase: open}
	for range maxRunning + 1 {
		s.commands.list = append(s.commands.list, newCommand(s, kindRPC, &protocol.Command{Rpc: &protocol.RPCRequest{Method: "grab"}}))
	}
	for i := range maxRunning {
		if s.commands.next(open) == nil {
			t.Fatalf("%d grabs run and no other may start, want %d", i, maxRunning)
		}
	}
	if s.commands.next(open) != nil {
		t.Errorf("more than %d grabs run at once", maxRunning)
	}
	s.commands.remove(s.commands.list[0])
	if s.commands.next(open) == nil {
		t.Error("no grab may start after one was answered")
	}
}

// TestSessionIsSmall checks the size of a Session, because there may be very many idle ones.
func TestSessionIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 256 {
		t.Errorf("a session has %d bytes, want at most 256", size)
	}
}

package redpacket

import (
	"testing"

	"hongbao/chat"
)

// shouts counts what is told.
type shouts struct{ told int }

func (s *shouts) Entry(chat.Entry)          { s.told++ }
func (s *shouts) ToRoom(string, chat.Event) { s.told++ }
func (s *shouts) ToUser(string, chat.Event) { s.told++ }

func (*shouts) Moved(string, string) {}

// TestNoProgressAfterTheEnd: a claim was committed before the end, but whoever settled it comes to say so only
// after the end was told.
func TestNoProgressAfterTheEnd(t *testing.T) {
	var heard shouts
	p := progress{pub: &heard, packets: map[string]*tally{}}
	m := newMemory(1 << 20)
	k := m.put(Packet{Ref: Ref{ID: "p"}, Count: 2})
	p.note(k, 1, "ann")
	if heard.told != 1 {
		t.Fatalf("%d words about the first claim", heard.told)
	}
	m.finish(Book{Packet: k.packet, Status: Drained})
	p.end("p")
	p.note(k, 2, "bob")
	if heard.told != 1 || len(p.packets) > 0 {
		t.Errorf("%d words, %d packets counted after the end", heard.told-1, len(p.packets))
	}
}

package redpacket

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"hongbao/chat"
)

// TestMadeUpIDsCostLittle asks for packets with an id that is too long. The id must be neither looked up nor cached.
// The test has no ledger, so a look-up would panic.
func TestMadeUpIDsCostLittle(t *testing.T) {
	s := &Service{memory: newMemory(1)}
	if _, err := s.lookup(t.Context(), strings.Repeat("x", 60_000)); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("got error %v, want not found", err)
	}
	if len(s.unknown.now) > 0 {
		t.Error("a long id is remembered as unknown")
	}
}

func TestRecentSetIsBounded(t *testing.T) {
	var r recentSet
	for i := range 10 * generation {
		id := strconv.Itoa(i)
		if r.add(id); !r.has(id) {
			t.Fatalf("%s is forgotten at once", id)
		}
	}
	if len(r.now)+len(r.old) > 2*generation {
		t.Errorf("%d ids are remembered", len(r.now)+len(r.old))
	}
}

// TestPacketsInMemoryAreBounded caches packets and their ends beyond the budget. The memory must stay within it, and know the packet added last.
func TestPacketsInMemoryAreBounded(t *testing.T) {
	const budget = 256 << 10
	m := newMemory(budget)
	claims := make([]Paid, 20)
	for i := range claims {
		claims[i].User.ID = strconv.Itoa(i)
	}
	for i := range 2000 {
		p := Packet{Ref: Ref{ID: strconv.Itoa(i)}}
		if i%2 == 0 {
			m.put(p)
		} else {
			m.finish(Book{Packet: p, Claims: claims})
		}
		if m.get(p.ID) == nil {
			t.Fatalf("packet %d is forgotten at once", i)
		}
		if n := m.bytes(); n > budget+memoryShards*(512+128*len(claims)) { // the newest packet of a shard always stays
			t.Fatalf("%d bytes are cached after %d packets, want about %d", n, i, budget)
		}
	}
	if m.clear(); m.bytes() != 0 || m.get("1999") != nil {
		t.Error("a packet is cached after clear")
	}
}

// TestErasedSenderIsForgotten drops the packets of one sender, and no others.
func TestErasedSenderIsForgotten(t *testing.T) {
	m := newMemory(1 << 20)
	for i := range 100 {
		m.put(Packet{Ref: Ref{ID: strconv.Itoa(i)}, From: chat.User{ID: strconv.Itoa(i % 2)}})
	}
	before := m.bytes()
	m.dropOf("1")
	for i := range 100 {
		if kept := m.get(strconv.Itoa(i)) != nil; kept != (i%2 == 0) {
			t.Errorf("packet %d is kept: %t", i, kept)
		}
	}
	if m.bytes() != before/2 {
		t.Errorf("%d bytes of %d are cached", m.bytes(), before)
	}
}

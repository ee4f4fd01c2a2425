package redpacket

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"hongbao/chat"
)

// TestMadeUpIDsCostLittle: what cannot be an id is neither looked up (there is no ledger here) nor remembered.
func TestMadeUpIDsCostLittle(t *testing.T) {
	s := &Service{memory: newMemory(1)}
	if _, err := s.know(t.Context(), strings.Repeat("x", 60_000)); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("got error %v, want not found", err)
	}
	if len(s.unknown.now) > 0 {
		t.Error("a long id is remembered as unknown")
	}
}

func TestRecentIsBounded(t *testing.T) {
	var r recent
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

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

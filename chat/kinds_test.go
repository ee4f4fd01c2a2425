package chat

import (
	"context"
	"fmt"
	"testing"
)

// anyRooms is a Store in which every id names a direct room. It has no other method.
type anyRooms struct {
	Store
	reads int
}

func (s *anyRooms) Room(_ context.Context, room string) (Room, error) {
	s.reads++
	return Room{ID: room, Kind: Direct}, nil
}

// TestRoomKindsAreBounded asks for the kinds of very many rooms. A kind is read once while it is remembered, and at most mostKinds are.
func TestRoomKindsAreBounded(t *testing.T) {
	store := &anyRooms{}
	s := New(store, nil, Options{})
	for i := range 3 * mostKinds {
		for range 2 {
			if direct, err := s.isDirect(t.Context(), fmt.Sprint(i)); err != nil || !direct {
				t.Fatal(direct, err)
			}
		}
		if n := len(s.kinds.direct); n > mostKinds {
			t.Fatalf("%d kinds are remembered, want at most %d", n, mostKinds)
		}
	}
	if store.reads != 3*mostKinds {
		t.Errorf("%d reads of %d rooms", store.reads, 3*mostKinds)
	}
}

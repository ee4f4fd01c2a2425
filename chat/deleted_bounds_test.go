package chat

import (
	"strconv"
	"testing"
)

// TestDeletedAreBounded adds many rooms. The newest must be kept, and add must report when it drops older ones.
func TestDeletedAreBounded(t *testing.T) {
	const most = 4 * deletedShards
	d := newDeletedSet(most)
	forgot := 0
	for i := range 4 * most {
		if d.add(strconv.Itoa(i)) {
			forgot++
		}
		if !d.has(strconv.Itoa(i)) {
			t.Fatalf("%d is not known right after it was added", i)
		}
	}
	known := 0
	for i := range 4 * most {
		if d.has(strconv.Itoa(i)) {
			known++
		}
	}
	if known < most/2 || known > 2*most || forgot == 0 {
		t.Errorf("%d known of %d, dropped %d times", known, 4*most, forgot)
	}
	if d.has("another") {
		t.Error("a room that is there")
	}
}

func TestDeletedTwiceIsOne(t *testing.T) {
	d := newDeletedSet(deletedShards)
	d.add("first")
	for range 10 {
		if d.add("again") {
			t.Fatal("dropped others for a room that it had")
		}
	}
	if !d.has("first") {
		t.Error("dropped the first")
	}
}

func TestDeletedLookupDoesNotAllocate(t *testing.T) {
	d := newDeletedSet(deletedShards)
	d.add("room")
	if n := testing.AllocsPerRun(100, func() { d.has("room") }); n != 0 {
		t.Errorf("a look makes %v allocations", n)
	}
}

// TestDroppingDeletedRoomsDropsStandings lets the set drop a deleted room. A standing that was cached before the room
// was deleted must not be used again.
func TestDroppingDeletedRoomsDropsStandings(t *testing.T) {
	s := New(nil, nil, Options{})
	s.deleted = newDeletedSet(deletedShards)
	at := memberKey{"old", "user"}
	_, version, _ := s.standings.get(at)
	s.standings.put(at, heldStanding{Standing{Ever: true, In: true}, s.now().Add(standingFor), 0}, version)
	s.Forget("old", "")
	for i := 0; s.deleted.has("old"); i++ {
		s.Forget(strconv.Itoa(i), "")
	}
	if st, _, ok := s.standings.get(at); ok {
		t.Errorf("cached as %+v", st)
	}
}

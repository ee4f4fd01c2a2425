package chat

import (
	"strconv"
	"testing"
)

// TestDeletedAreBounded: the last ones stay known, and when older ones are forgotten that is said.
func TestDeletedAreBounded(t *testing.T) {
	const most = 4 * deletedShards
	d := newDeleted(most)
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
		t.Errorf("%d known of %d, forgotten %d times", known, 4*most, forgot)
	}
	if d.has("another") {
		t.Error("a room that is there")
	}
}

func TestDeletedTwiceIsOne(t *testing.T) {
	d := newDeleted(deletedShards)
	d.add("first")
	for range 10 {
		if d.add("again") {
			t.Fatal("forgot others for what it knew")
		}
	}
	if !d.has("first") {
		t.Error("forgot the first")
	}
}

func TestDeletedIsAskedForNothing(t *testing.T) {
	d := newDeleted(deletedShards)
	d.add("room")
	if n := testing.AllocsPerRun(100, func() { d.has("room") }); n != 0 {
		t.Errorf("a look makes %v allocations", n)
	}
}

// TestForgettingOldDeletedForgetsStandings: what was remembered of a room while it was there must not come back.
func TestForgettingOldDeletedForgetsStandings(t *testing.T) {
	s := New(nil, nil, Options{})
	s.deleted = newDeleted(deletedShards)
	at := seat{"old", "user"}
	_, version, _ := s.standings.get(at)
	s.standings.put(at, Standing{Ever: true, In: true}, version)
	s.Forget("old", "")
	for i := 0; s.deleted.has("old"); i++ {
		s.Forget(strconv.Itoa(i), "")
	}
	if st, _, ok := s.standings.get(at); ok {
		t.Errorf("remembered as %+v", st)
	}
}

package pgstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
)

// TestConcurrentChangesKeepOneOwner makes concurrent changes of roles and members through several instances. The
// counts stay right, the room keeps one owner, and no deadlock occurs.
func TestConcurrentChangesKeepOneOwner(t *testing.T) {
	t.Parallel()
	c := newConcurrentUsers(t)
	c.runAll(60)()
	if strings.Contains(c.log.String(), "40P01") {
		t.Error("deadlocks occurred: locks are not taken in order")
	}
	c.wantAuditClean()
	c.wantReactionsCounted()
}

// TestDeletionDuringConcurrentChanges deletes a room during concurrent changes. Afterwards it has no members, and no
// user can join it.
func TestDeletionDuringConcurrentChanges(t *testing.T) {
	t.Parallel()
	c := newConcurrentUsers(t)
	wait := c.runAll(40)
	await(t, c.all[0], `select exists (select 1 from members where state <> 'in') and (select last_seq > 20 from rooms)`)
	var last int64 // seq of the room when it was deleted
	for n, deleted := 0, false; !deleted; n++ {
		owner := c.owner()
		if owner == "" { // all have left: the next user that joins is the owner; a banned one may not
			owner = c.users[n%userCount]
			_, _, err := c.all[0].Join(t.Context(), chat.Joining{Room: room, User: owner, At: time.Now(), MaxRooms: 9, MaxMembers: userCount - 1})
			if err != nil && (!chat.IsRequestError(err) || errors.Is(err, chat.ErrUnavailable)) {
				t.Fatal(err)
			}
		}
		made, err := c.all[0].Change(t.Context(), chat.Change{Kind: chat.DeleteRoom, Room: room, By: chat.User{ID: owner}, At: time.Now()})
		last = made.Room.LastSeq
		if deleted = made.Changed; err != nil && (!chat.IsRequestError(err) || errors.Is(err, chat.ErrUnavailable)) {
			t.Fatal(err)
		}
	}
	wait()
	_, _, err := c.all[0].DeletedRooms(t.Context(), "", 10) // the deletion has left out members that another transaction had locked
	must(t, err)
	var left int
	must(t, c.all[0].withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from members where room_id = $1 and state <> 'gone'`, []any{room}, &left)
		return err
	}))
	r, err := c.all[0].Room(t.Context(), room)
	if err != nil || !r.Deleted || r.LastSeq != last || r.Members != 0 || left != 0 {
		t.Errorf("%+v, %d rows of members that are not gone, %v; the last seq was %d", r, left, err, last)
	}
	c.wantAuditClean()
}

// TestConcurrentDirectMakesOneRoom lets two users open a direct room with each other at once, in two instances. They get
// one room, and each join is reported once.
func TestConcurrentDirectMakesOneRoom(t *testing.T) {
	t.Parallel()
	c := newConcurrentUsers(t)
	meet := func(id string, pair []string) (room string, entered []string, entries []chat.Entry) {
		got := make([]chat.Paired, 2)
		var wg sync.WaitGroup
		for i, s := range c.all {
			wg.Go(func() {
				var err error
				got[i], err = s.Direct(t.Context(), chat.Pairing{
					ID: fmt.Sprint(id, i), User: chat.User{ID: pair[i]}, Other: pair[1-i], At: time.Now(),
					EntryID: fmt.Sprint(id, i), MaxRooms: 9,
				})
				must(t, err)
			})
		}
		wg.Wait()
		if a, b := got[0].Membership, got[1].Membership; a.Room.ID != b.Room.ID || b.Room.Members != 2 {
			t.Errorf("%s: %+v and %+v", id, a, b)
		}
		return got[0].Membership.Room.ID, slices.Concat(got[0].Entered, got[1].Entered), slices.Concat(got[0].Entries, got[1].Entries)
	}
	for n := 1; n < len(c.users); n++ {
		id, pair := fmt.Sprint("first", n), c.users[n-1:n+1]
		theirs, entered, entries := meet(id, pair)
		if slices.Sort(entered); !slices.Equal(entered, pair) || entries != nil {
			t.Errorf("entered %q, entries %+v", entered, entries)
		}
		_, err := c.all[0].Leave(t.Context(), chat.Leaving{Room: theirs, User: chat.User{ID: pair[1]}, At: time.Now(), EntryIDs: [2]string{"left" + id, ""}})
		must(t, err)
		again, entered, entries := meet("again"+id, pair)
		if again != theirs || !slices.Equal(entered, pair[1:]) || len(entries) != 1 {
			t.Errorf("room %s, want %s; entered %q, entries %+v", again, theirs, entered, entries)
		}
	}
	c.wantAuditClean()
}

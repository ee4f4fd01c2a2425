package pgstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/tables"
)

// instances opens several stores on one database, as several processes would.
func instances(t *testing.T, n int) []*Store {
	t.Helper()
	url := migratedDatabase(t)
	var all []*Store
	for range n {
		all = append(all, openStore(t, url))
	}
	return all
}

// TestInstancesAppendToSharedRooms appends to the same rooms through several instances at once. The seqs have no
// gaps, and each key makes one entry.
func TestInstancesAppendToSharedRooms(t *testing.T) {
	t.Parallel()
	const rooms, users, each = 3, 6, 15
	all := instances(t, 3)
	for u := range users {
		_, _, err := all[0].PutUser(t.Context(), chat.Profile{User: chat.User{ID: fmt.Sprint("user-", u)}}, 0)
		must(t, err)
	}
	var members []string
	for u := range users {
		members = append(members, fmt.Sprint("user-", u))
	}
	for r := range rooms {
		_, _, err := all[0].CreateRoom(t.Context(), chat.NewRoom{
			ID: fmt.Sprint("room-", r), Name: "x", Kind: chat.Public, Owner: chat.User{ID: members[0]}, Members: members[1:],
			Key: fmt.Sprint("room-", r), Hash: []byte("h"), At: time.Now(), MaxRooms: rooms,
		})
		must(t, err)
	}
	var mu sync.Mutex
	fresh := map[string]int{}
	var wg sync.WaitGroup
	for i, s := range all {
		for u := range users {
			for n := range each {
				wg.Go(func() { // sends the same request to every instance
					key := fmt.Sprintf("%d-%d", u, n)
					e, dup, err := s.Append(t.Context(), chat.Draft{
						ID: fmt.Sprintf("entry-%s-%d", key, i), Room: fmt.Sprint("room-", (u+n)%rooms), From: chat.User{ID: members[u]},
						Kind: chat.KindText, Key: key, Hash: []byte("h"), Body: []byte(`{}`), At: time.Now(),
					})
					if err != nil || e.Key != key {
						t.Errorf("%s: %+v, %v", key, e, err)
					}
					if !dup {
						mu.Lock()
						fresh[key]++
						mu.Unlock()
					}
				})
			}
		}
	}
	wg.Wait()
	total := 0
	for r := range rooms {
		es, _, err := all[0].History(t.Context(), fmt.Sprint("room-", r), chat.Page{After: new(int64), Limit: 1000})
		must(t, err)
		for i, e := range es {
			if e.Seq != int64(i+1) {
				t.Fatalf("seq %d at position %d", e.Seq, i+1)
			}
		}
		total += len(es)
	}
	if total != users*each || len(fresh) != users*each {
		t.Errorf("%d entries, %d reported as new, want %d", total, len(fresh), users*each)
	}
	for key, n := range fresh {
		if n != 1 {
			t.Errorf("%d calls report %s as new", n, key)
		}
	}
}

// TestConcurrentJoinsKeepRoomLimit lets one user join more rooms at once than allowed. The user's limit of rooms
// holds.
func TestConcurrentJoinsKeepRoomLimit(t *testing.T) {
	t.Parallel()
	const rooms, most = 8, 3
	all := instances(t, 2)
	for r := range rooms {
		_, _, err := all[0].CreateRoom(t.Context(), chat.NewRoom{
			ID: fmt.Sprint("room-", r), Name: "x", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: fmt.Sprint(r), Hash: []byte("h"), At: time.Now(), MaxRooms: rooms,
		})
		must(t, err)
	}
	errs := make([]error, rooms)
	var wg sync.WaitGroup
	for r := range rooms {
		wg.Go(func() {
			_, _, errs[r] = all[r%2].Join(t.Context(), chat.Joining{Room: fmt.Sprint("room-", r), User: "ann", At: time.Now(), MaxRooms: most, MaxMembers: 9})
		})
	}
	wg.Wait()
	refused := 0
	for _, err := range errs {
		if errors.Is(err, chat.ErrLimitExceeded) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	ms, err := all[0].Memberships(t.Context(), "ann")
	if err != nil || len(ms) != most || refused != rooms-most {
		t.Errorf("member of %d rooms, %d joins refused, %v", len(ms), refused, err)
	}
}

// TestConcurrentJoinsKeepMemberLimit lets many users join a room at once, each of them twice. The room's limit of
// members holds.
func TestConcurrentJoinsKeepMemberLimit(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	createTestRoom(t, all[0])
	const most = 5
	var mu sync.Mutex
	came := map[string]int{}
	var wg sync.WaitGroup
	for u := range 10 {
		for _, s := range all {
			wg.Go(func() {
				user := fmt.Sprint("user-", u)
				_, changed, err := s.Join(t.Context(), chat.Joining{Room: room, User: user, At: time.Now(), MaxRooms: 1, MaxMembers: most})
				if err != nil && !errors.Is(err, chat.ErrLimitExceeded) {
					t.Error(err)
				}
				if changed {
					mu.Lock()
					came[user]++
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	r, err := all[0].Room(t.Context(), room)
	if err != nil || r.Members != most || len(came) != most-1 {
		t.Errorf("%d members, joined %v, %v", r.Members, came, err)
	}
	for user, n := range came {
		if n != 1 {
			t.Errorf("%s joined %d times", user, n)
		}
	}
}

// TestRoomAlwaysHasOneOwner lets users join and leave, and so become owners, while entries are appended. A room with
// members must always have one owner.
func TestRoomAlwaysHasOneOwner(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	createTestRoom(t, all[0])
	const users, turns = 6, 12
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() {
			s, user := all[u%2], chat.User{ID: fmt.Sprint("user-", u)}
			if u == 0 {
				user.ID = "owner"
			}
			for n := range turns {
				id := fmt.Sprintf("%d-%d", u, n)
				_, _, err := s.Join(t.Context(), chat.Joining{Room: room, User: user.ID, At: time.Now(), MaxRooms: 1, MaxMembers: 99})
				must(t, err)
				_, _, err = s.Append(t.Context(), chat.Draft{
					ID: id, Room: room, From: user, Kind: chat.KindText, Key: id, Hash: []byte("h"), Body: []byte(`{}`), At: time.Now(),
				})
				must(t, err)
				_, err = s.Leave(t.Context(), chat.Leaving{Room: room, User: user, At: time.Now(), EntryIDs: [2]string{id + "a", id + "b"}})
				must(t, err)
				wantMembersCounted(t, s)
			}
		})
	}
	wg.Wait()
	wantMembersCounted(t, all[0])
}

// TestConcurrentJoinBecomesHeir lets a room's last member leave while another user joins. That user must become the
// owner.
func TestConcurrentJoinBecomesHeir(t *testing.T) {
	t.Parallel()
	s := instances(t, 1)[0]
	createTestRoom(t, s)
	_, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "new"}}, 0)
	must(t, err)
	var wg sync.WaitGroup
	must(t, holdTx(t, s, func(w *writer) error {
		if _, err := tables.LockRoom(w, room); err != nil {
			return err
		}
		wg.Go(func() {
			left, err := s.Leave(t.Context(), chat.Leaving{Room: room, User: chat.User{ID: "owner"}, At: time.Now(), EntryIDs: [2]string{"a", "b"}})
			if err != nil || left.NewOwner != "new" || left.Room.Members != 1 {
				t.Errorf("left %+v, %v", left, err)
			}
		})
		awaitBlocked(t, s)
		_, err := w.Exec(`insert into members (room_id, user_id, state, role, read_seq, joined_at, joined_seq)
			select id, 'new', 'in', 'member', last_seq, $2, last_seq from rooms where id = $1`, room, time.Now().UnixMilli())
		if err == nil {
			_, err = w.Exec(`update rooms set members = members + 1 where id = $1`, room)
		}
		return err
	}))
	wg.Wait()
	wantMembersCounted(t, s)
}

// wantMembersCounted checks that the room's member count is right, and that a room with members has one owner.
func wantMembersCounted(t *testing.T, s *Store) {
	t.Helper()
	var column, in, owners int
	err := s.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select (select members from rooms where id = $1), count(*), count(*) filter (where role = 'owner')
			from members where room_id = $1 and state = 'in' and exists (select from rooms where id = $1 and deleted_at = 0)`, []any{room}, &column, &in, &owners)
		return err
	})
	if err != nil || column != in || owners != min(in, 1) {
		t.Errorf("members column %d, %d member rows, %d owners, %v", column, in, owners, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

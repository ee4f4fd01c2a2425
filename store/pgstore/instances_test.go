package pgstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// instances are several stores on one database, as in several processes.
func instances(t *testing.T, n int) []*Store {
	t.Helper()
	url := storetest.Database(t)
	var all []*Store
	for range n {
		all = append(all, openStore(t, url))
	}
	return all
}

// TestInstancesShareRooms: seqs stay dense and keys single, whichever instance a request comes to.
func TestInstancesShareRooms(t *testing.T) {
	const rooms, users, each = 3, 6, 15
	all := instances(t, 3)
	for u := range users {
		_, err := all[0].PutUser(t.Context(), chat.User{ID: fmt.Sprint("user-", u)}, 0)
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
				wg.Go(func() { // the same request comes to every instance
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
				t.Fatalf("seq %d at place %d", e.Seq, i+1)
			}
		}
		total += len(es)
	}
	if total != users*each || len(fresh) != users*each {
		t.Errorf("%d entries, %d made, want %d", total, len(fresh), users*each)
	}
	for key, n := range fresh {
		if n != 1 {
			t.Errorf("%d calls say that they made %s", n, key)
		}
	}
}

// TestRoomsOfAUserAreCounted: who joins several rooms at once gets no more than he may have.
func TestRoomsOfAUserAreCounted(t *testing.T) {
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
		t.Errorf("in %d rooms, %d times refused, %v", len(ms), refused, err)
	}
}

// TestRoomHoldsNoMoreThanItMay, and who joins twice at once comes in once.
func TestRoomHoldsNoMoreThanItMay(t *testing.T) {
	all := instances(t, 2)
	furnish(t, all[0])
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
		t.Errorf("%d members, %v came, %v", r.Members, came, err)
	}
	for user, n := range came {
		if n != 1 {
			t.Errorf("%s came %d times", user, n)
		}
	}
}

// TestRoomAlwaysHasOneOwner, however owners come and go, and while entries are written.
func TestRoomAlwaysHasOneOwner(t *testing.T) {
	all := instances(t, 2)
	furnish(t, all[0])
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
				counted(t, s)
			}
		})
	}
	wg.Wait()
	counted(t, all[0])
}

// TestHeirWhoCameLate: the last one leaves, and meanwhile someone comes in.
func TestHeirWhoCameLate(t *testing.T) {
	s := instances(t, 1)[0]
	furnish(t, s)
	_, err := s.PutUser(t.Context(), chat.User{ID: "late"}, 0)
	must(t, err)
	var wg sync.WaitGroup
	must(t, s.tx(t.Context(), func(w *writer) error {
		if _, err := w.lockRoom(room); err != nil {
			return err
		}
		wg.Go(func() {
			left, err := s.Leave(t.Context(), chat.Leaving{Room: room, User: chat.User{ID: "owner"}, At: time.Now(), EntryIDs: [2]string{"a", "b"}})
			if err != nil || left.Heir != "late" || left.Room.Members != 1 {
				t.Errorf("left %+v, %v", left, err)
			}
		})
		blocked(t, s)
		return w.enter(entering{room: room, user: "late", role: chat.Plain, at: time.Now(), maxRooms: 1})
	}))
	wg.Wait()
	counted(t, s)
}

// counted fails the test unless the room has as many members as it says, and one owner if any.
func counted(t *testing.T, s *Store) {
	t.Helper()
	var said, in, owners int
	err := s.look(t.Context(), func(r reader) error {
		_, err := r.row(`select (select members from rooms where id = $1), count(*), count(*) filter (where role = 'owner')
			from members where room_id = $1 and state = 'in'`, []any{room}, &said, &in, &owners)
		return err
	})
	if err != nil || said != in || owners != min(in, 1) {
		t.Errorf("%d members said, %d in, %d owners, %v", said, in, owners, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// TestFoldsCaseAsSQLiteDoes: whatever the database's locale makes of letters beyond ASCII.
func TestFoldsCaseAsSQLiteDoes(t *testing.T) {
	s := instances(t, 1)[0]
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{
		ID: "r", Name: "ÄBC", Kind: chat.Public, Owner: chat.User{ID: "ann"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	must(t, err)
	for query, want := range map[string]int{"bc": 1, "Äb": 1, "äb": 0} {
		found, _, err := s.FindRooms(t.Context(), query, "", 9)
		must(t, err)
		if len(found) != want || slices.ContainsFunc(found, func(r chat.Room) bool { return r.ID != "r" }) {
			t.Errorf("%q finds %+v, want %d", query, found, want)
		}
	}
}

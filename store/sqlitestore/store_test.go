package sqlitestore

import (
	"testing"

	"hongbao/chat"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestStore(t *testing.T) {
	storetest.TestStore(t, func(t *testing.T) storetest.StoreUnderTest {
		t.Parallel()
		dir, s := openMeasured(t)
		return storetest.StoreUnderTest{
			Store: s,
			Stand: func(room, user string, st chat.Standing) { stand(t, s, room, user, st) },
			Reopen: func() chat.Store {
				noError(t, s.Close())
				return openStore(t, dir)
			},
			IndexRows: func() (n int) {
				_, err := s.reader(t.Context()).Row(`select count(*) from entry_words -- of the test`, nil, &n)
				noError(t, err)
				return n
			},
		}
	})
}

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, quiet)
	noError(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// stand writes a standing into the user's member row, and changes nothing else of the room.
func stand(t *testing.T, s *Store, room, user string, st chat.Standing) {
	t.Helper()
	err := s.do(t.Context(), func(w *writer) error {
		state, role, muted := tables.StateIn, st.Role, int64(0)
		if !st.In {
			state, role = "kicked", chat.Plain
		}
		if !st.MutedUntil.IsZero() {
			muted = st.MutedUntil.UnixMilli()
		}
		n, err := w.Exec(`update members set state = ?, banned = ?, role = ?, muted_until = ?
			where room_id = ? and user_id = ?`, state, st.Banned, role, muted, room, user)
		if err != nil {
			return err
		}
		if n != 1 {
			t.Errorf("%s has no row in %s: %v", user, room, err)
		}
		return nil
	})
	noError(t, err)
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestManyRooms(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedFolder(t))
	storetest.TestManyRooms(t, s, func(statement string) { alter(t, s, statement) })
}

// execute runs a statement of a test.
func execute(t *testing.T, s *Store, statement string) error {
	return s.do(t.Context(), func(w *writer) error {
		_, err := w.Exec(statement + ` /* of the test */`)
		return err
	})
}

func TestLargeRoomIsDeleted(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedFolder(t))
	storetest.TestLargeRoomIsDeleted(t, s, tables.GoneAtOnce, func(statement string) { alter(t, s, statement) }, func(query string) (n int) {
		_, err := s.reader(t.Context()).Row(query, nil, &n)
		noError(t, err)
		return n
	})
}

package pgstore

import (
	"testing"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestStore(t *testing.T) {
	testStore(t, measuredStore)
}

func TestStoreThroughPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "suites")
	testStore(t, storeThrough(bouncer(t)))
}

func testStore(t *testing.T, open func(*testing.T) *Store) {
	storetest.TestStore(t, func(t *testing.T) storetest.StoreUnderTest {
		t.Parallel()
		s := open(t)
		return storetest.StoreUnderTest{
			Store: s,
			Stand: func(room, user string, st chat.Standing) { stand(t, s, room, user, st) },
			Reopen: func() chat.Store {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				return openStore(t, s.pool.ConnConfig().ConnString())
			},
			IndexRows: func() int { return indexRows(t, s) },
		}
	})
}

// stand writes a standing into the user's member row, including ones that no command produces.
func stand(t *testing.T, s *Store, room, user string, st chat.Standing) {
	t.Helper()
	err := s.tx(t.Context(), func(w *writer) error {
		state, role, muted := tables.StateIn, st.Role, int64(0)
		if !st.In {
			state, role = "kicked", chat.Plain
		}
		if !st.MutedUntil.IsZero() {
			muted = st.MutedUntil.UnixMilli()
		}
		n, err := w.Exec(`update members set state = $1, banned = $2, role = $3, muted_until = $4
			where room_id = $5 and user_id = $6`, state, st.Banned, role, muted, room, user)
		if err != nil || n != 1 {
			t.Errorf("%s was never in %s: %v", user, room, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

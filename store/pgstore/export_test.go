package pgstore

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// exportAll reads the ledger from the cursor to its end.
func exportAll(t *testing.T, s *Store, cursor string, limit int) (users []string, next string) {
	t.Helper()
	for {
		page, err := s.LedgerAfter(t.Context(), cursor, limit)
		if err != nil {
			t.Error(err)
			return users, cursor
		}
		for _, transfer := range page.Transfers {
			users = append(users, transfer.User)
		}
		if cursor = page.Next; !page.More {
			return users, cursor
		}
	}
}

// TestTransfersOfAnOpenTransactionAreNotMissed holds the payment of a claim open after all its rows are written, while another store
// commits payments and a reader reads past them, without an event stream. When the payment commits, the reader must get it.
func TestTransfersOfAnOpenTransactionAreNotMissed(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	life := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.Now()}
	createTestRoom(t, s)
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: 1000, Key: "fund", Hash: []byte("h"), At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	p := life.Send("owner", "packet", redpacket.Equal, "", 100, 10)
	claim := func(on *Store, user string, share int) {
		settled := on.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: share, User: user, Entry: "e", At: time.Now()}})
		if settled[0].Verdict != redpacket.PaidNow {
			t.Errorf("%s: %+v", user, settled[0])
		}
	}
	claim(s, "first", 0)
	claim(other, "second", 1)
	_, cursor := exportAll(t, s, "", 10)
	const gate = `
create function wait_at_the_gate() returns trigger language plpgsql set lock_timeout = 0 as
	$$ begin if new.user_id = 'late' then perform pg_advisory_xact_lock_shared(42); end if; return null; end $$;
create constraint trigger gate after insert on transfers deferrable initially deferred for each row execute function wait_at_the_gate()`
	if err := s.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, gate) }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	err = s.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `select pg_advisory_lock(42)`); err != nil {
			return err
		}
		wg.Go(func() { claim(s, "late", 2) })
		await(t, s, `select exists (select 1 from `+gateLocks+` and not granted)`)
		for share := 3; share < 8; share++ {
			claim(other, fmt.Sprint("user-", share), share)
		}
		var users []string
		users, cursor = exportAll(t, s, cursor, 2)
		if len(users) != 5 || slices.Contains(users, "late") {
			t.Errorf("before the open transaction ends the export has %v, want the five others", users)
		}
		return pg.Simple(r.Ctx, r.Conn, `select pg_advisory_unlock(42)`)
	})
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if users, _ := exportAll(t, s, cursor, 10); !slices.Equal(users, []string{"late"}) {
		t.Errorf("after it has ended: %v, want late", users)
	}
}

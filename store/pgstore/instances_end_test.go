package pgstore

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// TestInstancesEndOnePacket while its claims are being settled: one of them refunds it, once.
func TestInstancesEndOnePacket(t *testing.T) {
	all := instances(t, 3)
	l := rich(t, all[0])
	for round := range 5 {
		p := l.Send("owner", fmt.Sprint("packet-", round), redpacket.Lucky, redpacket.Classic, 1000, 30)
		var grants []redpacket.Grant
		for k := range 20 {
			grants = append(grants, redpacket.Grant{User: fmt.Sprint("user-", k), Share: k})
		}
		var (
			wg         sync.WaitGroup
			mu         sync.Mutex
			done, told int
		)
		for i := range 20 {
			s := all[i%len(all)]
			wg.Go(func() {
				closed, err := s.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, Grants: grants, At: l.At, EntryID: fmt.Sprint("done-", round, i)})
				if err != nil || closed.Book.Status != redpacket.Expired || len(closed.Book.Claims) != len(grants) {
					t.Errorf("%+v, %v", closed, err)
				}
				mu.Lock()
				defer mu.Unlock()
				told += len(closed.Inserted)
				if closed.Done {
					done++
				}
			})
			wg.Go(func() {
				settled, err := s.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: i, User: fmt.Sprint("user-", i), At: l.At}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if settled[0].Verdict == redpacket.PaidNow {
					told++
				}
			})
		}
		wg.Wait()
		if done != 1 || told != len(grants) {
			t.Errorf("ended by %d, %d claims were told to be new, want %d", done, told, len(grants))
		}
		balanced(t, all[0])
	}
}

// TestEndWaitsForWhoSettles: a claim that is being settled is in the book of the end, and not in the refund.
func TestEndWaitsForWhoSettles(t *testing.T) {
	all := instances(t, 2)
	l := rich(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	j := &settling{Claim: redpacket.Claim{Ref: p.Ref, Share: 1, User: "ann", At: l.At}, transfer: "t"}
	var (
		wg     sync.WaitGroup
		closed redpacket.Closed
		ended  atomic.Bool
	)
	l.Must(all[0].tx(t.Context(), func(w *writer) error {
		cut, err := all[0].shares(w, []string{p.ID})
		if err != nil {
			return err
		}
		var q pgx.Batch
		b := sortBatch([]*settling{j}, cut)
		b.queue(&q, payClaims, b.users)
		if err := w.batch(&q); err != nil {
			return err
		}
		b.answer()
		wg.Go(func() {
			defer ended.Store(true)
			var err error
			closed, err = all[1].End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
			if err != nil {
				t.Error(err)
			}
		})
		blockedOr(t, all[0], &ended)
		return nil
	}))
	wg.Wait()
	if j.answer.Verdict != redpacket.PaidNow || len(closed.Book.Claims) != 1 {
		t.Errorf("%+v; %+v", j.answer, closed)
	}
	balanced(t, all[0])
}

// TestSettleWaitsForWhoEnds: a claim that comes while the packet is being ended is too late.
func TestSettleWaitsForWhoEnds(t *testing.T) {
	all := instances(t, 2)
	l := rich(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	var (
		wg      sync.WaitGroup
		settled []redpacket.Settlement
		done    atomic.Bool
	)
	l.Must(all[0].tx(t.Context(), func(w *writer) error {
		e := newEnding(redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
		if _, err := w.end(e); err != nil {
			return err
		}
		wg.Go(func() {
			defer done.Store(true)
			var err error
			settled, err = all[1].Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: 1, User: "ann", At: l.At}})
			if err != nil {
				t.Error(err)
			}
		})
		blockedOr(t, all[0], &done)
		return nil
	}))
	wg.Wait()
	if len(settled) != 1 || settled[0].Verdict != redpacket.TooLate || settled[0].Status != redpacket.Expired {
		t.Errorf("%+v", settled)
	}
	balanced(t, all[0])
}

// TestSettleAndEndDrawSeedsInOneOrder: a claim that comes while the packet is about to be ended, of a user who has no
// seed yet and is paid by the end too, waits for the packet before it touches the user.
func TestSettleAndEndDrawSeedsInOneOrder(t *testing.T) {
	all, seen := watched(t, 3)
	l := rich(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	var wg sync.WaitGroup
	l.Must(all[2].tx(t.Context(), func(w *writer) error {
		if _, err := w.exec(`select from packets where id = $1 for update`, p.ID); err != nil {
			return err
		}
		wg.Go(func() {
			_, err := all[1].End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done",
				Grants: []redpacket.Grant{{User: "ann", Share: 1}}})
			if err != nil {
				t.Error(err)
			}
		})
		blocked(t, all[2])
		wg.Go(func() {
			settled, err := all[0].Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: 1, User: "ann", At: l.At}})
			if err != nil || settled[0].Verdict != redpacket.Duplicate {
				t.Errorf("%+v, %v", settled, err)
			}
		})
		await(t, all[2], `select count(*) = 2 from pg_locks where not granted and
			pid in (select pid from pg_stat_activity where datname = current_database())`)
		return nil
	}))
	wg.Wait()
	if n := seen.seen.Load(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	balanced(t, all[0])
}

// blockedOr returns when some transaction of the database waits for a lock, or the other thing has happened.
func blockedOr(t *testing.T, s *Store, other *atomic.Bool) {
	t.Helper()
	for waiting := false; !waiting && !other.Load(); runtime.Gosched() {
		must(t, s.look(t.Context(), func(r reader) error {
			_, err := r.row(`select count(*) > 0 from pg_locks where not granted and
				pid in (select pid from pg_stat_activity where datname = current_database())`, nil, &waiting)
			return err
		}))
	}
}

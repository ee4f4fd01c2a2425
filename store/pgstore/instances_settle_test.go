package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
)

// deadlocks is a log handler that counts the deadlocks that Postgres has resolved.
type deadlocks struct {
	slog.Handler
	seen atomic.Int64
}

func (*deadlocks) Enabled(context.Context, slog.Level) bool { return true }

func (d *deadlocks) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && pg.SQLState(err) == "40P01" {
			d.seen.Add(1)
		}
		return true
	})
	return nil
}

// soonDeadlocks makes the sessions of a URL look for deadlocks after 10 ms. Postgres looks after 1 s, and the limits for waits of a transaction
// are shorter: a deadlock would end with a lock timeout, and no test would see it.
const soonDeadlocks = "&deadlock_timeout=10ms"

// watched opens n stores on one database. seen counts the deadlocks that Postgres resolves for them.
func watched(t *testing.T, n int) (all []*Store, seen *deadlocks) {
	t.Helper()
	url, seen := migratedDatabase(t)+soonDeadlocks, &deadlocks{Handler: slog.DiscardHandler}
	for range n {
		s, err := Open(t.Context(), url, slog.New(seen))
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		all = append(all, s)
	}
	return all, seen
}

// TestInstancesSettleTheSameUsers settles random claims through several instances; some claims go to more than one.
// Each claim is paid once, without a deadlock.
func TestInstancesSettleTheSameUsers(t *testing.T) {
	t.Parallel()
	const stores, packets, shares = 3, 20, 40
	all, seen := watched(t, stores)
	for _, s := range all {
		s.settleWaiting()
	}
	l := fundedRoom(t, all[0])
	claims := make([][]redpacket.Claim, stores+1) // claims[0] goes to all stores, each other list to one store
	for n := range claims {
		for i := range packets {
			p := l.Send("owner", fmt.Sprint("packet-", n, "-", i), redpacket.Lucky, redpacket.Classic, 10_000, shares)
			for k := range shares {
				claims[n] = append(claims[n], redpacket.Claim{Ref: p.Ref, Share: k, User: fmt.Sprint("user-", (i*7+k)%shares), At: l.At})
			}
		}
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		paid = map[redpacket.Claim]int{}
	)
	for n, s := range all {
		mine := append(append([]redpacket.Claim{}, claims[0]...), claims[n+1]...)
		rand.Shuffle(len(mine), func(i, k int) { mine[i], mine[k] = mine[k], mine[i] })
		for range 4 {
			wg.Go(func() {
				for at := 0; at < len(mine); {
					part := mine[at:min(at+1+rand.N(60), len(mine))]
					at += len(part)
					settled := s.Settle(t.Context(), part)
					mu.Lock()
					for i, got := range settled {
						if got.Verdict == redpacket.PaidNow {
							paid[part[i]]++
						} else if got.Verdict != redpacket.Duplicate || got.Share != part[i].Share {
							t.Errorf("%+v: %+v", part[i], got)
						}
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	for _, of := range claims {
		for _, c := range of {
			if paid[c] != 1 {
				t.Errorf("%+v was paid %d times", c, paid[c])
			}
		}
	}
	wantBalanced(t, all[0])
	if n := seen.seen.Load(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// settleWaiting makes the store wait for locked rows as long as it takes. Otherwise, on a busy machine, it waits for 200 ms, and then takes
// the free wallets before it inserts claims: such transactions of two stores can wait for each other, until one of them gives up its wait.
func (s *Store) settleWaiting() {
	work := s.settleWork()
	work.Run = func(ctx context.Context, jobs []*settleJob, _ bool) (locked []string, err error) {
		for again := true; again; again = pg.LockTimeout(err) {
			locked, err = s.settleAll(ctx, jobs, false)
		}
		return locked, err
	}
	s.claims.Close()
	s.claims = batch.New(work, make(chan struct{}, 4), s.log)
}

// TestInstancesSettleWithoutDeadlock settles the same claims in two instances, in opposite orders. An uncommitted
// claim in the middle makes both transactions wait. There must be no deadlock.
func TestInstancesSettleWithoutDeadlock(t *testing.T) {
	const shares = 21
	all, seen := watched(t, 3)
	l := fundedRoom(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 10_000, shares)
	claims := make([]redpacket.Claim, shares)
	for i := range claims {
		claims[i] = redpacket.Claim{Ref: p.Ref, Share: i, User: fmt.Sprint("user-", i), At: l.At}
		_, err := all[0].Account(t.Context(), claims[i].User) // draws the seed now: otherwise the transactions would conflict there
		must(t, err)
	}
	var wg sync.WaitGroup
	undone := errors.New("undone")
	err := holdTx(t, all[2], func(w *writer) error {
		_, err := w.Exec(`insert into claims (packet_id, share_no, user_id, amount, at, transfer) values ($1, $2, 'nobody', 1, 0, 'none')`, p.ID, shares/2)
		must(t, err)
		for n := range 2 {
			var jobs []*settleJob
			for _, c := range claims {
				jobs = append(jobs, &settleJob{Claim: c, transfer: chat.NewID(c.At)})
			}
			slices.Reverse(claims)
			wg.Go(func() {
				_, err := all[n].settleAll(t.Context(), jobs, false)
				for pg.LockTimeout(err) { // on a busy machine, the claim in the middle may stay for longer than the wait
					_, err = all[n].settleAll(t.Context(), jobs, false)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		await(t, all[2], `select count(*) = 2 from pg_locks where not granted and
			pid in (select pid from pg_stat_activity where datname = current_database())`)
		return undone
	})
	wg.Wait()
	if n := seen.seen.Load(); !errors.Is(err, undone) || n != 0 {
		t.Errorf("%v, %d deadlocks", err, n)
	}
	wantBalanced(t, all[0])
}

package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// deadlocks counts, as a log's handler, the transactions that Postgres ended because they waited for each other crosswise.
type deadlocks struct {
	slog.Handler
	seen atomic.Int64
}

func (*deadlocks) Enabled(context.Context, slog.Level) bool { return true }

func (d *deadlocks) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && code(err) == "40P01" {
			d.seen.Add(1)
		}
		return true
	})
	return nil
}

// watched are instances whose deadlocks are counted.
func watched(t *testing.T, n int) (all []*Store, seen *deadlocks) {
	t.Helper()
	url, seen := storetest.Database(t), &deadlocks{Handler: slog.DiscardHandler}
	for range n {
		s, err := Open(t.Context(), url, slog.New(seen))
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		all = append(all, s)
	}
	return all, seen
}

// TestInstancesSettleTheSameUsers at random, the same claims too: each is paid once, and nobody waits crosswise.
func TestInstancesSettleTheSameUsers(t *testing.T) {
	const stores, packets, shares = 3, 20, 40
	all, seen := watched(t, stores)
	l := rich(t, all[0])
	claims := make([][]redpacket.Claim, stores+1) // the first are everybody's, then each store's own
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
					settled, err := s.Settle(t.Context(), part)
					if err != nil {
						t.Error(err)
					}
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
	balanced(t, all[0])
	if n := seen.seen.Load(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// TestInstancesSettleInOneOrder: who has the same claims the other way round does not wait crosswise. A claim that is
// never committed holds both up in the middle.
func TestInstancesSettleInOneOrder(t *testing.T) {
	const shares = 21
	all, seen := watched(t, 3)
	l := rich(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 10_000, shares)
	claims := make([]redpacket.Claim, shares)
	for i := range claims {
		claims[i] = redpacket.Claim{Ref: p.Ref, Share: i, User: fmt.Sprint("user-", i), At: l.At}
		_, err := all[0].Account(t.Context(), claims[i].User) // else they would meet drawing his seed
		must(t, err)
	}
	var wg sync.WaitGroup
	undone := errors.New("undone")
	err := all[2].tx(t.Context(), func(w *writer) error {
		_, err := w.exec(`insert into claims (packet_id, share_no, user_id, amount, at) values ($1, $2, 'nobody', 1, 0)`, p.ID, shares/2)
		must(t, err)
		for n := range 2 {
			var jobs []*settling
			for _, c := range claims {
				jobs = append(jobs, &settling{Claim: c, transfer: chat.NewID(c.At)})
			}
			slices.Reverse(claims)
			wg.Go(func() {
				if err := all[n].settleAll(t.Context(), jobs); err != nil {
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
	balanced(t, all[0])
}

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
		if _, err := all[0].settleBatch(w, []*settling{j}); err != nil {
			return err
		}
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

// TestInstancesSendFromOneWallet: it is never overdrawn, no seed is used twice, and a key sends once.
func TestInstancesSendFromOneWallet(t *testing.T) {
	const each, price, money = 40, 7, 300
	all := instances(t, 3)
	furnish(t, all[0])
	at := time.UnixMilli(1_700_000_000_000).UTC()
	_, _, err := all[0].Adjust(t.Context(), redpacket.Adjustment{ID: "fund", User: "owner", Amount: money, Key: "fund", Hash: []byte("h"), At: at})
	must(t, err)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		fresh = map[string]string{} // packet by commitment
		keys  = map[string]int{}
	)
	for i, s := range all {
		for n := range each {
			wg.Go(func() { // each request comes to two of the instances
				key := fmt.Sprint((i*each + n) / 2)
				id := fmt.Sprintf("%s-%d-%d", key, i, n)
				sent, err := s.Send(t.Context(), redpacket.Order{
					Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: price, Count: 2,
						CreatedAt: at, ExpiresAt: at.Add(time.Hour), Key: key},
					Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
				})
				if err != nil {
					if !errors.Is(err, redpacket.ErrInsufficientBalance) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if other, used := fresh[sent.Packet.Commitment]; used && other != sent.Packet.ID {
					t.Errorf("packets %s and %s come from one seed", other, sent.Packet.ID)
				}
				fresh[sent.Packet.Commitment] = sent.Packet.ID
				if !sent.Dup {
					keys[key]++
				}
			})
		}
	}
	wg.Wait()
	for key, times := range keys {
		if times != 1 {
			t.Errorf("key %s sent %d packets", key, times)
		}
	}
	if acc, err := all[0].Account(t.Context(), "owner"); err != nil || acc.Balance != money%price || len(keys) != money/price {
		t.Errorf("%d packets sent, %+v, %v", len(keys), acc, err)
	}
	balanced(t, all[0])
}

// TestSendMeetsItsKey in another command of the same user, which is being committed: it is refused, and nothing is kept.
func TestSendMeetsItsKey(t *testing.T) {
	all := instances(t, 2)
	l := rich(t, all[0])
	var (
		wg   sync.WaitGroup
		sent atomic.Bool
	)
	must(t, all[0].tx(t.Context(), func(w *writer) error {
		if err := w.putRequest("owner", "key", []byte("other"), room, 0, ""); err != nil {
			return err
		}
		wg.Go(func() {
			defer sent.Store(true)
			_, err := all[1].Send(t.Context(), redpacket.Order{
				Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 10, Count: 2,
					CreatedAt: l.At, ExpiresAt: l.At.Add(time.Hour), Key: "key"},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
			})
			if !errors.Is(err, chat.ErrKeyReused) {
				t.Errorf("got %v, want that the key was used", err)
			}
		})
		blockedOr(t, all[0], &sent)
		return nil
	}))
	wg.Wait()
	if got := lastSeq(t, all[0]); got != 0 {
		t.Errorf("last seq %d, want nothing kept", got)
	}
	balanced(t, all[0])
}

// TestSendsOfOneUserLeaveConnections to others, although they all wait for his row.
func TestSendsOfOneUserLeaveConnections(t *testing.T) {
	url := storetest.Database(t)
	s, other := openStore(t, url+"&pool_max_conns=3"), openStore(t, url)
	l := rich(t, other)
	must(t, s.PutUser(t.Context(), chat.User{ID: "ann"}))
	busy := &storetest.Life{TB: t, Ledger: s, Rooms: s, At: l.At}
	var wg sync.WaitGroup
	must(t, other.tx(t.Context(), func(w *writer) error {
		if _, err := w.lockUsers([]string{"owner"}); err != nil {
			return err
		}
		for i := range 20 {
			wg.Go(func() { busy.Send("owner", fmt.Sprint("packet-", i), redpacket.Equal, "", 10, 1) })
		}
		blocked(t, other)
		for range 20 {
			if _, err := s.Account(t.Context(), "ann"); err != nil {
				t.Error(err)
			}
		}
		return nil
	}))
	wg.Wait()
	balanced(t, s)
}

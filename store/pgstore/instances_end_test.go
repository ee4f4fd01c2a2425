package pgstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// TestInstancesEndOnePacketOnce ends a packet through several instances while its claims are settled. Exactly one
// call makes the refund.
func TestInstancesEndOnePacketOnce(t *testing.T) {
	t.Parallel()
	all := instances(t, 3)
	l := fundedRoom(t, all[0])
	for round := range 5 {
		p := l.Send("owner", fmt.Sprint("packet-", round), redpacket.Lucky, redpacket.Classic, 1000, 30)
		var grants []redpacket.Grant
		for k := range 20 {
			grants = append(grants, redpacket.Grant{User: fmt.Sprint("user-", k), Share: k})
		}
		var (
			wg             sync.WaitGroup
			mu             sync.Mutex
			done, inserted int
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
				inserted += len(closed.Inserted)
				if closed.Done {
					done++
				}
			})
			wg.Go(func() {
				settled := s.Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: i, User: fmt.Sprint("user-", i), At: l.At}})
				if err := redpacket.UnsettledErr(settled); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if settled[0].Verdict == redpacket.PaidNow {
					inserted++
				}
			})
		}
		wg.Wait()
		if done != 1 || inserted != len(grants) {
			t.Errorf("%d calls ended the packet, want 1; %d claims reported as new, want %d", done, inserted, len(grants))
		}
		wantBalanced(t, all[0])
	}
}

// TestEndWaitsForSettle ends a packet while a transaction settles one of its claims. The claim must be among the
// claims of the ended packet, and its amount not in the refund.
func TestEndWaitsForSettle(t *testing.T) {
	t.Parallel()
	all := instances(t, 2)
	l := fundedRoom(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	j := &settleJob{Claim: redpacket.Claim{Ref: p.Ref, Share: 1, User: "ann", At: l.At}, transfer: "t"}
	var (
		wg     sync.WaitGroup
		closed redpacket.Closed
		ended  atomic.Bool
	)
	l.Must(holdTx(t, all[0], func(w *writer) error {
		cut, _, err := all[0].shares(w, []string{p.ID})
		if err != nil {
			return err
		}
		var m pg.Message
		b := newClaimBatch([]*settleJob{j}, cut, nil, nil)
		added, err := w.takeLink()
		if err != nil {
			return err
		}
		b.queue(&m, payClaims, make([]string, 3), b.users, w)
		if err := m.Send(w.reader); err != nil {
			return err
		}
		added.added = true
		b.answerPaid()
		wg.Go(func() {
			defer ended.Store(true)
			var err error
			closed, err = all[1].End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
			if err != nil {
				t.Error(err)
			}
		})
		awaitBlockedOr(t, all[0], &ended)
		return nil
	}))
	wg.Wait()
	if j.answer.Verdict != redpacket.PaidNow || len(closed.Book.Claims) != 1 {
		t.Errorf("%+v; %+v", j.answer, closed)
	}
	wantBalanced(t, all[0])
}

// TestSettleWaitsForEnd settles a claim while another transaction ends the packet. The claim must be answered as too
// late, whether or not rows of the user must be written before the claim.
func TestSettleWaitsForEnd(t *testing.T) {
	for _, seeded := range []bool{false, true} {
		t.Run(fmt.Sprint("seeded ", seeded), func(t *testing.T) { settleDuringEnd(t, seeded) })
	}
}

func settleDuringEnd(t *testing.T, seeded bool) {
	all := instances(t, 2)
	l := fundedRoom(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	if seeded {
		earlier := l.Send("owner", "earlier", redpacket.Lucky, redpacket.Classic, 1000, 3)
		if paid := all[1].Settle(t.Context(), []redpacket.Claim{{Ref: earlier.Ref, User: "ann", At: l.At}}); paid[0].Verdict != redpacket.PaidNow {
			t.Fatalf("%+v", paid)
		}
	}
	var (
		wg      sync.WaitGroup
		settled []redpacket.Settlement
		done    atomic.Bool
	)
	l.Must(holdTx(t, all[0], func(w *writer) error {
		j, err := all[0].newEndJob(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done"})
		if err != nil {
			return err
		}
		if err := w.end([]*endJob{j}); err != nil {
			return err
		}
		wg.Go(func() {
			defer done.Store(true)
			settled = all[1].Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: 1, User: "ann", At: l.At}})
		})
		awaitBlockedOr(t, all[0], &done)
		return nil
	}))
	wg.Wait()
	if len(settled) != 1 || settled[0].Verdict != redpacket.TooLate || settled[0].Status != redpacket.Expired {
		t.Errorf("%+v", settled)
	}
	wantBalanced(t, all[0])
}

// TestSettleAndEndDoNotDeadlockOnSeeds pays a user without a seed twice at once: by a claim, and by the end of the
// packet. There must be no deadlock, so the claim must wait for the packet before it locks the user. Either may be first, because a wait for a
// lock ends with a timeout. The user is paid once.
func TestSettleAndEndDoNotDeadlockOnSeeds(t *testing.T) {
	all, seen := watched(t, 3)
	l := fundedRoom(t, all[0])
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	var (
		wg      sync.WaitGroup
		closed  redpacket.Closed
		settled []redpacket.Settlement
	)
	l.Must(holdTx(t, all[2], func(w *writer) error {
		if _, err := w.Exec(`select from packets where id = $1 for update`, p.ID); err != nil {
			return err
		}
		wg.Go(func() {
			var err error
			closed, err = all[1].End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done",
				Grants: []redpacket.Grant{{User: "ann", Share: 1}}})
			if err != nil {
				t.Error(err)
			}
		})
		awaitBlocked(t, all[2])
		wg.Go(func() {
			settled = all[0].Settle(t.Context(), []redpacket.Claim{{Ref: p.Ref, Share: 1, User: "ann", At: l.At}})
		})
		await(t, all[2], `select count(*) = 2 from pg_locks where not granted and
			pid in (select pid from pg_stat_activity where datname = current_database())`)
		return nil
	}))
	wg.Wait()
	if n := seen.seen.Load(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	claims, paid := closed.Book.Claims, len(closed.Inserted)
	switch settled[0].Verdict {
	case redpacket.PaidNow:
		paid++
	case redpacket.Duplicate:
	default:
		t.Errorf("%+v", settled)
	}
	if !closed.Done || paid != 1 || len(claims) != 1 || claims[0].User.ID != "ann" || claims[0].Share != 1 {
		t.Errorf("paid %d times: %+v, %+v", paid, closed, settled)
	}
	if acc, err := all[0].Account(t.Context(), "ann"); err != nil || acc.Balance != settled[0].Amount || acc.Balance == 0 {
		t.Errorf("%+v, %v, want the amount of %+v", acc, err, settled)
	}
	wantBalanced(t, all[0])
}

// awaitBlockedOr returns when a transaction of the database waits for a lock, or when the flag done is set.
func awaitBlockedOr(t *testing.T, s *Store, done *atomic.Bool) {
	t.Helper()
	for waiting := false; !waiting && !done.Load(); time.Sleep(2 * time.Millisecond) { // sleeps: polls, for nothing announces it
		must(t, s.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(`select count(*) > 0 from pg_locks where not granted and
				pid in (select pid from pg_stat_activity where datname = current_database())`, nil, &waiting)
			return err
		}))
	}
}

// TestEndsShareOneTransaction ends many packets of one room that wait behind a held transaction of ends, one of them twice, and one with a
// missing grant. One transaction must end all but the packet with the missing grant, with seqs that follow each other.
func TestEndsShareOneTransaction(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	var calls []redpacket.Close
	for n := range endsTogether - 1 {
		p := l.Send("owner", fmt.Sprint("packet-", n), redpacket.Equal, "", 30, 3)
		calls = append(calls, redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done-" + p.ID})
	}
	twice := calls[1]
	twice.EntryID = "again"
	calls = append(calls, twice)
	calls[0].Grants = []redpacket.Grant{{User: "late", Share: 1}}
	first := l.Send("owner", "first", redpacket.Equal, "", 30, 3)
	before := lastSeq(t, s)
	began, release := holdWork(t, &s.ends, s.endWork(), s.log)
	var all sync.WaitGroup
	end := func(c redpacket.Close, closed *redpacket.Closed) {
		all.Go(func() {
			var err error
			if *closed, err = s.End(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	var opener redpacket.Closed
	end(redpacket.Close{Ref: first.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done-first"}, &opener)
	<-began
	results := make([]redpacket.Closed, len(calls))
	for i, c := range calls {
		end(c, &results[i])
	}
	awaitQueued(t, s.ends.Waiting, len(calls))
	release()
	all.Wait()
	seqs := map[int64]bool{}
	done := 0
	for i, closed := range results {
		if closed.Done {
			done++
			seqs[closed.Entry.Seq] = true
		}
		if refund, missing := redpacket.Money(30-10*len(calls[i].Grants)), len(calls[i].Grants); closed.Book.Refunded != refund || len(closed.Inserted) != missing {
			t.Errorf("packet %s: %+v", calls[i].ID, closed)
		}
	}
	if last := lastSeq(t, s); done != len(calls)-1 || len(seqs) != done || last != before+int64(done)+1 {
		t.Errorf("%d packets are ended with %d seqs, the last of them %d", done, len(seqs), last)
	}
	if results[0].Accounts["late"].Balance != 10 {
		t.Errorf("the missing grant: %+v", results[0].Accounts)
	}
	if w := s.ends.Measured("", ""); w.Size.Count != 2 {
		t.Errorf("%d ends in %d transactions, want 2", 1+len(calls), w.Size.Count)
	}
	large := l.Send("owner", "large", redpacket.Equal, "", sharesTogether+1, sharesTogether+1)
	if closed, err := s.End(t.Context(), redpacket.Close{Ref: large.Ref, Reason: redpacket.Expired, At: l.At, EntryID: "done-large"}); err != nil || !closed.Done {
		t.Errorf("a packet with very many shares: %v, %v", closed.Done, err)
	}
	if w := s.ends.Measured("", ""); w.Size.Count != 2 {
		t.Error("a packet with very many shares is ended together with others")
	}
	wantBalanced(t, s)
}

// TestEndsAreSorted sorts ends for the locks of their packets. Of two with one packet, the second is a repeat of the first.
func TestEndsAreSorted(t *testing.T) {
	job := func(packet string) *endJob {
		return &endJob{Close: redpacket.Close{Ref: redpacket.Ref{ID: packet}}}
	}
	jobs := []*endJob{job("c"), job("a"), job("b"), job("a")}
	first, repeats := (&writer{}).sortEnds(jobs)
	if !slices.Equal(first, []*endJob{jobs[1], jobs[2], jobs[0]}) || len(repeats) != 1 || repeats[jobs[3]] != jobs[1] {
		t.Errorf("%v, %v", first, repeats)
	}
}

// TestLockedPacketDelaysOnlyItsOwnEnd locks a packet, the wallet of its sender or its room, while packets of other rooms and senders are
// ended. These ends must succeed. The end that needs the locked row succeeds once the row is free.
func TestLockedPacketDelaysOnlyItsOwnEnd(t *testing.T) {
	for what, sql := range map[string]string{
		"packet": `select from packets where id = 'packet-0' for update`,
		"wallet": `select from wallets where user_id = 'owner' for update`,
		"room":   `select from rooms where id = 'room-1' for update`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			i := newIsolationTest(t)
			stuck, other := i.packets[0], elsewhere(i)
			end := func(p redpacket.Packet) error {
				_, err := i.instances[0].End(context.WithoutCancel(t.Context()), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: time.Now(), EntryID: "done-" + p.ID})
				return err
			}
			unlock := i.hold(sql)
			var mine sync.WaitGroup
			mine.Go(func() {
				for end(stuck) != nil && t.Context().Err() == nil {
				}
			})
			i.wantOthersServed(func(n int) error { return end(other[n]) })
			unlock()
			mine.Wait()
			wantBalanced(t, i.instances[0])
		})
	}
}

// elsewhere sends a packet for each of the other calls: in a room of their own, by a sender of their own.
func elsewhere(i *isolationTest) []redpacket.Packet {
	s := i.instances[0]
	now := time.Now()
	_, _, err := s.PutUser(i.Context(), chat.Profile{User: chat.User{ID: "sender"}}, 0)
	must(i, err)
	_, _, err = s.CreateRoom(i.Context(), chat.NewRoom{ID: "elsewhere", Name: "room", Kind: chat.Public, Owner: chat.User{ID: "sender"}, Key: "elsewhere", Hash: []byte("h"), At: now, MaxRooms: 1})
	must(i, err)
	_, _, err = s.Adjust(i.Context(), redpacket.Adjustment{ID: "elsewhere", User: "sender", Amount: 1 << 40, Key: "elsewhere", Hash: []byte("h"), At: now})
	must(i, err)
	l := &storetest.Life{TB: i.T, Ledger: s, Rooms: s, At: now, Room: "elsewhere"}
	packets := make([]redpacket.Packet, others)
	for n := range packets {
		packets[n] = l.Send("sender", fmt.Sprint("other-", n), redpacket.Equal, "", 30, 3)
	}
	return packets
}

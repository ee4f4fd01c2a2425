package pgstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestEvents(t *testing.T) {
	testEvents(t, measuredStore)
}

func TestEventsThroughPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "suites")
	testEvents(t, storeThrough(bouncer(t)))
}

func testEvents(t *testing.T, open func(*testing.T) *Store) {
	storetest.TestEvents(t, func(t *testing.T) storetest.EventsUnderTest {
		t.Parallel()
		s := open(t)
		exec := func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.Exec(ofTheTest(statement))
				return err
			})
		}
		return storetest.EventsUnderTest{
			Store: s, Consumers: s, Absences: s, Ledger: s, Rooms: s, Exec: exec,
			NewEpoch: func() {
				if err := exec(`update settings set value = 'another epoch' where name = 'epoch'`); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// follow reads the stream in small pages until it has the wanted number of events.
func follow(t *testing.T, s *Store, from eventlog.Cursor, limit, want int) (all []eventlog.Event) {
	t.Helper()
	kinds, err := eventlog.ParseKinds([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); len(all) < want && time.Now().Before(until); {
		b, err := s.Events(t.Context(), eventlog.Query{After: from, Kinds: kinds, Limit: limit})
		if err != nil || len(b.Faults) > 0 {
			t.Fatalf("read events: %v, faults %v", err, b.Faults)
		}
		all, from = append(all, b.Events...), b.Next
	}
	return all
}

func storeWithEvents(t *testing.T, url string) *Store {
	t.Helper()
	s := openStore(t, url)
	kinds, err := eventlog.ParseKinds([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	s.UseEvents(kinds)
	return s
}

// TestEventsOfAnOpenTransactionAreNotMissed holds a transaction open after it has drawn its id, while others commit and a reader
// reads past them. When the transaction commits, the reader must get its events.
func TestEventsOfAnOpenTransactionAreNotMissed(t *testing.T) {
	t.Parallel()
	s := storeWithEvents(t, migratedDatabase(t))
	createTestRoom(t, s)
	credit := func(round string, i int) {
		user := fmt.Sprint("user-", i)
		_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: user + round, User: user, Amount: 1, Key: user + round, Hash: []byte("h"), At: time.Now()})
		if err != nil {
			t.Error(err)
		}
	}
	for i := range 5 {
		credit("before", i) // creates the users, which the gate would hold
	}
	from, err := s.NewestEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The gate holds the commit of a join at its very end, when the row of the event is written.
	if err := s.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, commitGate) }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	err = s.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `select pg_advisory_lock(42)`); err != nil {
			return err
		}
		wg.Go(func() {
			if _, _, err := s.Join(t.Context(), chat.Joining{Room: room, User: "late", At: time.Now(), MaxRooms: 9, MaxMembers: 9}); err != nil {
				t.Error(err)
			}
		})
		await(t, s, `select exists (select 1 from `+gateLocks+` and not granted)`)
		for i := range 5 { // wallets have no gate
			credit("after", i)
		}
		early := follow(t, s, from, 2, 5)
		if len(early) != 5 {
			t.Errorf("%d events before the open transaction ends, want 5", len(early))
		}
		b, err := s.Events(t.Context(), eventlog.Query{After: from, Kinds: eventlog.Kinds{eventlog.TransferCredit: true}, Limit: 100})
		if err != nil {
			return err
		}
		from = b.Next
		return pg.Simple(r.Ctx, r.Conn, `select pg_advisory_unlock(42)`)
	})
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if late := follow(t, s, from, 10, 1); len(late) != 1 || late[0].Kind != eventlog.MemberJoined || late[0].User != "late" {
		t.Errorf("events of the open transaction: %+v", late)
	}
}

// TestLostCommitsAddTheirEventsOnce loses the replies to commits, so that the transactions are run again.
func TestLostCommitsAddTheirEventsOnce(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	kinds, err := eventlog.ParseKinds([]string{"*"})
	b.must(err)
	b.Store.UseEvents(kinds)
	from, err := b.direct.NewestEvent(t.Context())
	b.must(err)
	b.withCommitReplyLost(true, func() {
		if _, dup, err := b.Append(t.Context(), textDraft(1)); err != nil || dup {
			t.Errorf("append: dup %v, %v", dup, err)
		}
	})
	if got := follow(t, b.direct, from, 10, 1); len(got) != 1 || got[0].Kind != eventlog.MessageNew {
		t.Errorf("events %+v, want the text", got)
	}
	var n int
	b.must(b.direct.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(*) from events`, nil, &n)
		return err
	}))
	if n != 1 {
		t.Errorf("%d rows of events, want one: the second run must add none", n)
	}
}

// TestOverlappingTransactionsKeepTheOrderOfEvents lets several stores write into the same rooms, wallets and packets, while readers
// follow. Each reader must get each fact once: the entries of a room in the order of seq, the transfers of a user in an order in which
// no balance falls below zero, and a packet's claims between its start and its end.
func TestOverlappingTransactionsKeepTheOrderOfEvents(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	const instances, workers, rounds, rooms, users = 3, 4, 12, 2, 4
	stores := make([]*Store, instances)
	for i := range stores {
		stores[i] = storeWithEvents(t, url)
	}
	user := func(i int) string { return fmt.Sprint("user-", i%users) }
	roomID := func(i int) string { return fmt.Sprint("room-", i%rooms) }
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	from := eventlog.Cursor{}
	for i := range users {
		_, _, err := stores[0].PutUser(t.Context(), chat.Profile{User: chat.User{ID: user(i), Name: user(i)}}, 0)
		must(err)
	}
	for i := range rooms {
		_, _, err := stores[0].CreateRoom(t.Context(), chat.NewRoom{
			ID: roomID(i), Name: "r", Kind: chat.Public, Owner: chat.User{ID: user(0)}, Members: []string{user(1), user(2), user(3)},
			Key: roomID(i), Hash: []byte("h"), At: time.Now(), MaxRooms: 99,
		})
		must(err)
	}
	work := func(n int) {
		s, ctx, now := stores[n%instances], t.Context(), time.Now()
		for i := range rounds {
			id := fmt.Sprintf("%d-%d", n, i)
			_, _, err := s.Append(ctx, chat.Draft{
				ID: "text-" + id, Room: roomID(n + i), From: chat.User{ID: user(n)}, Kind: chat.KindText, Key: "text-" + id, Hash: []byte("h"),
				Body: []byte(`{"text":"hello"}`), At: now,
			})
			must(err)
			_, _, err = s.Adjust(ctx, redpacket.Adjustment{ID: "credit-" + id, User: user(n + i), Amount: 10, Key: "credit-" + id, Hash: []byte("h"), At: now})
			must(err)
			ref := redpacket.Ref{ID: "packet-" + id}
			_, err = s.Send(ctx, redpacket.UnsealedPacket{
				Packet: redpacket.Packet{
					Ref: ref, Room: roomID(n + i), From: chat.User{ID: user(n + i)}, Mode: redpacket.Lucky, Spread: redpacket.Classic, Total: 4, Count: 2,
					CreatedAt: now, ExpiresAt: now.Add(time.Hour), Key: "packet-" + id,
				},
				Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "sent-" + id,
			})
			if errors.Is(err, redpacket.ErrInsufficientBalance) {
				continue // others have spent the money of the credit
			}
			must(err)
			var grabs sync.WaitGroup
			for share := range 2 {
				grabs.Go(func() {
					must(redpacket.UnsettledErr(stores[(n+share)%instances].Settle(ctx, []redpacket.Claim{{Ref: ref, Share: share, User: user(share), Entry: "e", At: now}})))
				})
			}
			if i%2 == 0 {
				grabs.Wait()
			}
			_, err = s.End(ctx, redpacket.Close{Ref: ref, Reason: redpacket.Expired, At: now, EntryID: "done-" + id})
			must(err)
			grabs.Wait()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for n := range workers * instances {
			all.Go(func() { work(n) })
		}
		all.Wait()
	}()
	kinds, err := eventlog.ParseKinds([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for limit := range 3 {
		readers.Go(func() {
			var all []eventlog.Event
			after := from
			for ended := false; ; {
				b, err := stores[limit].Events(t.Context(), eventlog.Query{After: after, Kinds: kinds, Limit: 3 + 40*limit})
				if err != nil || len(b.Faults) > 0 {
					t.Errorf("read events: %v, faults %v", err, b.Faults)
					return
				}
				all, after = append(all, b.Events...), b.Next
				if b.More {
					continue
				}
				if ended {
					break
				}
				select {
				case <-done:
					ended = true // one more read: events may have come meanwhile
				default:
				}
			}
			checkStream(t, stores[0], all)
		})
	}
	readers.Go(func() {
		transfers, cursor := map[string]int{}, ""
		for ended := false; ; {
			page, err := stores[1].LedgerAfter(t.Context(), cursor, 7)
			if err != nil {
				t.Errorf("read the ledger: %v", err)
				return
			}
			for _, transfer := range page.Transfers {
				transfers[transfer.ID]++
			}
			if cursor = page.Next; page.More {
				continue
			}
			if ended {
				break
			}
			select {
			case <-done:
				ended = true
			default:
			}
		}
		checkExport(t, stores[0], transfers)
	})
	readers.Wait()
}

// checkExport compares the transfers that a reader of the ledger has got with the table.
func checkExport(t *testing.T, s *Store, got map[string]int) {
	t.Helper()
	if err := s.withReader(t.Context(), func(r reader) error {
		all, err := tables.List(r, func(rs tables.Row) (id string, err error) {
			err = rs.Scan(&id)
			return id, err
		}, `select id from transfers`)
		if len(all) != len(got) || len(all) == 0 {
			t.Errorf("the export has %d transfers, the table %d", len(got), len(all))
		}
		for _, id := range all {
			if got[id] != 1 {
				t.Errorf("transfer %s came %d times", id, got[id])
			}
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// checkStream compares a whole stream with the tables.
func checkStream(t *testing.T, s *Store, all []eventlog.Event) {
	t.Helper()
	seqs, balances, ids, open, counts := map[string]int64{}, map[string]redpacket.Money{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, e := range all {
		if ids[e.ID] {
			t.Errorf("event %s came twice", e.ID)
		}
		ids[e.ID] = true
		counts[e.Kind]++
		switch {
		case e.Entry != nil:
			if seqs[e.Room]++; e.Entry.Seq != seqs[e.Room] {
				t.Fatalf("entry %d of %s follows entry %d", e.Entry.Seq, e.Room, seqs[e.Room]-1)
			}
			if e.Kind == eventlog.PacketSent {
				open[strings.TrimPrefix(e.Entry.ID, "sent-")] = true
			}
			if e.Kind == eventlog.PacketClosed {
				delete(open, strings.TrimPrefix(e.Entry.ID, "done-"))
			}
		case e.Claim != nil && !open[strings.TrimPrefix(e.Claim.Packet, "packet-")]:
			t.Errorf("a claim of %s comes before its packet or after its end", e.Claim.Packet)
		case e.Transfer != nil:
			if balances[e.User] += e.Transfer.Amount; balances[e.User] < 0 {
				t.Errorf("the transfers of %s are out of order: the balance falls to %d", e.User, balances[e.User])
			}
		}
	}
	for user, sum := range balances {
		acc, err := s.Account(t.Context(), user)
		if err != nil || acc.Balance != sum {
			t.Errorf("the transfers of %s sum up to %d, the wallet holds %d, %v", user, sum, acc.Balance, err)
		}
	}
	for room, seq := range seqs {
		r, err := s.Room(t.Context(), room)
		if err != nil || r.LastSeq != seq {
			t.Errorf("the stream of %s ends at %d, the room at %d, %v", room, seq, r.LastSeq, err)
		}
	}
	if err := s.withReader(t.Context(), func(r reader) error {
		var claims int
		_, err := r.Row(`select count(*) from claims`, nil, &claims)
		if claims != counts[eventlog.PacketClaimed] || claims == 0 {
			t.Errorf("%d claims, and %d events of them", claims, counts[eventlog.PacketClaimed])
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

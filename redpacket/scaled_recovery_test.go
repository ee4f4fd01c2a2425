package redpacket_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/memstore"
	"hongbao/store/pgstore"
	"hongbao/store/redisstore"
	"hongbao/store/storetest"
)

// scaledServices holds the services over a Redis and a Postgres that only this test uses.
type scaledServices struct {
	*testService
	database *loopback.Postgres
	ledger   *pgstore.Store
	grabs    redpacket.Pool
	url      string
}

func newScaledServices(t *testing.T, users ...string) *scaledServices {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &scaledServices{testService: &testService{published: &recorder{}}, database: storetest.Postgres(t)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.url, err = s.database.NewDatabase(t.Context())
	must(err)
	s.ledger, err = pgstore.Open(t.Context(), s.url, log)
	must(err)
	t.Cleanup(func() { _ = s.ledger.Close() })
	redis, err := redisstore.Open(t.Context(), storetest.Redis(t).URL(), log)
	must(err)
	t.Cleanup(func() { _ = redis.Close() })
	s.grabs = redis.Pool()
	s.rooms = chat.New(s.ledger, s.published, chat.Options{Log: log})
	s.packets = redpacket.New(s.ledger, s.grabs, s.rooms, s.published, redpacket.Options{Log: log})
	for _, u := range users {
		s.signIn(t, u)
	}
	m, _, err := s.rooms.CreateRoom(t.Context(), person(users[0]), chat.CreateRoom{Key: s.key(), Name: "hall", Kind: chat.Public})
	must(err)
	s.room = m.Room.ID
	for _, u := range users[1:] {
		_, err := s.rooms.Join(t.Context(), person(u), s.room)
		must(err)
	}
	s.credit(t, users[0], 1_000_000)
	return s
}

// exec runs an SQL statement on the database, past the services.
func (s *scaledServices) exec(t *testing.T, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// orphans makes the pool grant n shares that no instance settles, as if the granting instance had died. Five of them
// belong to users whose names begin with "poison-".
func orphans(t *testing.T, h *testService, pool redpacket.Pool, n int) {
	t.Helper()
	const shares = 500
	for first := 0; first < n; first += shares {
		p := h.send(t, "boss", redpacket.SendRequest{Total: shares + 1, Count: shares + 1}) // keeps the packet open
		attempts := make([]redpacket.Attempt, shares)
		for i := range attempts {
			attempts[i] = redpacket.Attempt{Ref: p.Ref, User: fmt.Sprint("user-", i)}
			if i == shares/2 && first/shares < poisoned {
				attempts[i].User = fmt.Sprint("poison-", first/shares)
			}
		}
		answers, err := pool.Grab(t.Context(), attempts)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			if a.Decision != redpacket.Granted {
				t.Fatalf("%s: %+v", attempts[i].User, a)
			}
		}
	}
}

const (
	manyOrphans     = 20_000
	embeddedOrphans = 4_000
	poisoned        = 5
	inTime          = 5 * time.Second // limit until all claims that can be paid are paid
)

// recovering is a service that recovers claims while a test watches.
type recovering struct {
	*testService
	pool   redpacket.Pool
	audit  func(context.Context, *redpacket.AuditQuery) (redpacket.Audit, error)
	claims func() int // returns the number of claims in SQL
	begun  time.Time
}

func (r *recovering) await(t *testing.T, what string, patience time.Duration, good func() bool) {
	t.Helper()
	if enginetest.RaceDetector() {
		patience *= 10
	}
	for until := time.Now().Add(patience); !good(); time.Sleep(50 * time.Millisecond) { // sleeps: polls another process
		if time.Now().After(until) {
			t.Fatalf("not in time: %s: %d claims, %+v", what, r.claims(), r.packets.Stats())
		}
	}
	t.Logf("%s after %v", what, time.Since(r.begun))
}

// wantRecovered runs the background tasks until all of the n claims but the poisoned ones are paid, which must be in
// time. The poisoned claims must be in quarantine. At most mayBeAside of them may still be paused, where the error
// does not say yet that the row is to blame.
func (r *recovering) wantRecovered(t *testing.T, n, mayBeAside int) {
	t.Helper()
	r.begun = time.Now()
	r.run(t)
	r.await(t, "all others are paid", inTime, func() bool { return r.claims() == n-poisoned })
	quarantined := 0
	r.await(t, "the poisoned are put aside", 3*inTime, func() bool {
		s := r.packets.Stats()
		quarantined = int(s.Quarantined)
		return quarantined == poisoned || quarantined+s.SetAside == poisoned && s.SetAside <= mayBeAside
	})
	r.await(t, "the outbox holds nothing else", inTime, func() bool {
		left := storetest.Unsettled(t, r.pool, 0)
		return len(left) == poisoned-quarantined &&
			!slices.ContainsFunc(left, func(c redpacket.Claim) bool { return !strings.HasPrefix(c.User, "poison-") })
	})
	if a, err := r.audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Quarantined != quarantined || a.Claims != n-poisoned {
		t.Errorf("audit: %+v, %v; want %d in quarantine", a, err, quarantined)
	}
}

// TestRecoveryOfManyClaims recovers many claims, of which Postgres refuses some, for several reasons. These must delay
// no other claim.
func TestRecoveryOfManyClaims(t *testing.T) {
	enginetest.Nightly(t, "waits")
	s := newScaledServices(t, "boss")
	s.exec(t, `create function poison() returns trigger language plpgsql as $$ begin
			if new.user_id in ('poison-0', 'poison-1') then raise exception 'poisoned' using errcode = 'P0001'; end if;
			if new.user_id like 'poison-%' then raise exception 'poisoned' using errcode = '23514'; end if;
			return new;
		end $$`)
	s.exec(t, `create trigger poison before insert on claims for each row execute function poison()`)
	orphans(t, s.testService, s.grabs, manyOrphans)
	time.Sleep(redpacket.RecoverAge) // sleeps: makes the claims old enough for recovery, by the clock of Redis
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	count := func() (n int) {
		if err := conn.QueryRow(t.Context(), `select count(*) from claims`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	r := &recovering{testService: s.testService, pool: s.grabs, audit: s.ledger.Audit, claims: count}
	r.wantRecovered(t, manyOrphans, 0)
}

// hold runs the statement in a transaction and keeps its row locks until end is called.
func (s *scaledServices) hold(t *testing.T, statement string, args ...any) (end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), statement, args...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
}

// TestRecoveryBesideALockedWallet locks a user's wallet and recovers many claims, among them claims of this user in
// many packets. The lock must delay the other claims once, not again in each batch.
func TestRecoveryBesideALockedWallet(t *testing.T) {
	enginetest.Nightly(t, "waits")
	const many, packets = 10_000, 20
	s := newScaledServices(t, "boss")
	s.credit(t, "user-7", 1)
	orphans(t, s.testService, s.grabs, many)
	free := s.hold(t, `select from wallets where user_id = 'user-7' for update`)
	defer free()
	time.Sleep(redpacket.RecoverAge) // sleeps: makes the claims old enough for recovery, by the clock of Redis
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	r := &recovering{testService: s.testService, pool: s.grabs, begun: time.Now(), claims: func() (n int) {
		if err := conn.QueryRow(t.Context(), `select count(*) from claims`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}}
	r.run(t)
	r.await(t, "all others are paid", 2*inTime, func() bool { return r.claims() == many-packets })
	free()
	r.await(t, "the locked user is paid", 2*time.Minute, func() bool { return r.claims() == many })
	if a, err := s.ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Quarantined > 0 {
		t.Errorf("audit: %+v, %v", a, err)
	}
}

// TestRecoveryPaysAllButALockedWallet is the small TestRecoveryBesideALockedWallet: its Pool is in memory and has the test's clock. All claims but
// those of the locked user must be paid while the lock is held, and those after it.
func TestRecoveryPaysAllButALockedWallet(t *testing.T) {
	const shares, packets = 500, 2
	s := newScaledServices(t, "boss")
	s.credit(t, "user-7", 1)
	now := time.Now()
	s.grabs = memstore.NewPool(memstore.Options{Now: func() time.Time { return now }})
	s.packets = redpacket.New(s.ledger, s.grabs, s.rooms, s.published, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
	orphans(t, s.testService, s.grabs, shares*packets)
	free := s.hold(t, `select from wallets where user_id = 'user-7' for update`)
	defer free()
	now = now.Add(redpacket.RecoverAge)
	r := &recovering{testService: s.testService, pool: s.grabs, begun: time.Now(), claims: func() int {
		a, err := s.ledger.Audit(t.Context(), nil)
		if err != nil || len(a.Differences) > 0 {
			t.Fatalf("audit: %+v, %v", a, err)
		}
		return a.Claims
	}}
	r.run(t)
	r.await(t, "all others are paid", time.Minute, func() bool { return r.claims() == packets*(shares-1) })
	free()
	r.await(t, "the locked user is paid", time.Minute, func() bool { return r.claims() == packets*shares })
}

// TestLockedPacketLeavesTheOutboxToOthers locks the row of a packet. When the service has noticed, after 64 claims that could not be
// settled, grabs of the packet must be refused before the Pool grants them, but for one in 250 ms. After the lock ends, they must win.
func TestLockedPacketLeavesTheOutboxToOthers(t *testing.T) {
	enginetest.Nightly(t, "waits")
	const first, crowd, tryEvery = 100, 3000, 250 * time.Millisecond
	s := newScaledServices(t, "boss")
	rooms := &fixedRooms{Rooms: s.rooms, standings: map[string]chat.Standing{}}
	for i := range crowd {
		rooms.standings[fmt.Sprint("user-", i)] = chat.Standing{In: true, Ever: true}
	}
	s.packets = redpacket.New(s.ledger, s.grabs, rooms, s.published, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
	p := s.send(t, "boss", redpacket.SendRequest{Total: crowd + 1, Count: crowd + 1})
	grab := func(user int) (redpacket.Result, error) {
		return s.packets.Grab(context.Background(), redpacket.GrabRequest{User: fmt.Sprint("user-", user), Packet: p.ID})
	}
	free := s.hold(t, `select from packets where id = $1 for update`, p.ID)
	defer free()
	grabAll := func(from, to int) (held int) {
		var all sync.WaitGroup
		for user := from; user < to; user++ {
			time.Sleep(2 * time.Millisecond) // sleeps: spreads the grabs over the time in which single ones are tried
			all.Go(func() {
				if _, err := grab(user); !errors.Is(err, chat.ErrUnavailable) {
					t.Errorf("user %d: %v", user, err)
				}
			})
		}
		all.Wait()
		return len(storetest.Unsettled(t, s.grabs, 0))
	}
	before := grabAll(0, first)
	begun := time.Now()
	after := grabAll(first, crowd)
	if tries := 1 + int(time.Since(begun)/tryEvery); before < 1 || after > before+tries {
		t.Errorf("the outbox held %d claims of %d grabs, and holds %d after %d grabs, want at most %d more", before, first, after, crowd, tries)
	}
	free()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) { // sleeps: polls another process
		if r, err := grab(crowd - 1); err == nil && r.Outcome == redpacket.OutcomeWon {
			break
		} else if time.Now().After(until) {
			t.Fatalf("it is free, and yet: %+v, %v", r, err)
		}
	}
}

// TestRecoveryOfManyClaimsEmbedded is TestRecoveryOfManyClaims with the embedded engines.
func TestRecoveryOfManyClaimsEmbedded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestService(t, "boss")
		h.credit(t, "boss", 1_000_000)
		h.exec(t, `create trigger poison before insert on claims when new.user_id like 'poison-%' begin select raise(abort, 'poisoned'); end`)
		orphans(t, h, h.pool, embeddedOrphans)
		h.clock.advance(redpacket.RecoverAge)
		db, err := sql.Open("sqlite", h.file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		count := func() (n int) {
			if err := db.QueryRowContext(t.Context(), `select count(*) from claims`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		r := &recovering{testService: h, pool: h.pool, audit: h.store.Audit, claims: count}
		r.wantRecovered(t, embeddedOrphans, 0)
	})
}

// TestNothingIsGrantedWhileTheLedgerIsDown stops Postgres. As soon as the service has noticed, grabs must leave
// nothing in the outbox. When Postgres is back, they must win.
func TestNothingIsGrantedWhileTheLedgerIsDown(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	users := []string{"boss"}
	for i := range 20 {
		users = append(users, fmt.Sprint("user-", i))
	}
	s := newScaledServices(t, users...)
	rooms := &fixedRooms{Rooms: s.rooms, standings: map[string]chat.Standing{}} // as if cached
	for _, u := range users {
		rooms.standings[u] = chat.Standing{In: true, Ever: true}
	}
	s.packets = redpacket.New(s.ledger, s.grabs, rooms, s.published, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
	first := s.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 100})
	second := s.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 100})
	grabAll := func(p redpacket.Packet) (refused int) {
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, u := range users[1:] {
			all.Go(func() {
				_, err := s.packets.Grab(context.Background(), redpacket.GrabRequest{User: u, Packet: p.ID})
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, chat.ErrUnavailable) {
					refused++
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return refused
	}
	s.database.Kill()
	if n := grabAll(first); n == 0 || s.ledger.OutOfReach() == nil {
		t.Fatalf("%d of 20 were refused; the ledger knows: %v", n, s.ledger.OutOfReach())
	}
	waiting := len(storetest.Unsettled(t, s.grabs, 0))
	begun := time.Now()
	for range 10 {
		if n := grabAll(second); n != 20 {
			t.Errorf("%d of 20 were refused", n)
		}
	}
	if now := len(storetest.Unsettled(t, s.grabs, 0)); waiting == 0 || now != waiting || time.Since(begun) > 20*time.Second {
		t.Errorf("the outbox held %d claims and holds %d, after %v", waiting, now, time.Since(begun))
	}
	if err := s.database.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); s.ledger.OutOfReach() != nil && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond) // sleeps: polls a state of the store
	}
	if a, b := grabAll(first), grabAll(second); a+b != 0 {
		t.Errorf("%d are refused when it is back", a+b)
	}
	s.packets.Idle()
	if a, err := s.ledger.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Claims != 40 {
		t.Errorf("audit: %+v, %v", a, err)
	}
	time.Sleep(redpacket.RecoverAge) // sleeps: until recovery acks the claims: a grab by a user that already has a share acks none, by the clock of Redis
	s.packets.Pass(t.Context())
	if left := storetest.Unsettled(t, s.grabs, 0); len(left) > 0 {
		t.Errorf("still in the outbox: %+v", left)
	}
}

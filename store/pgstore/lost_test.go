package pgstore

import (
	"context"
	"errors"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// faultyStore is a store behind a proxy. A gate holds its commits just before they take effect, so that a test can
// lose the reply.
type faultyStore struct {
	*testing.T
	*Store        // through the proxy
	direct *Store // past the proxy
	proxy  *loopback.Proxy
	bypass atomic.Bool // if true, new connections of the store do not use the proxy

	beforeCut func() // called when the commit is durable, before its reply is lost; may be nil
}

func newFaultyStore(t *testing.T) *faultyStore {
	t.Helper()
	database := migratedDatabase(t)
	proxy, url := startProxy(t, database)
	b := &faultyStore{T: t, Store: openStore(t, url), direct: openStore(t, database), proxy: proxy}
	b.pool.ConnConfig().DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if b.bypass.Load() {
			addr = sharedServer(t).Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	createTestRoom(t, b.direct)
	return b
}

// commitGate creates triggers that make each writing commit wait at its very end for an advisory lock, however long that takes.
const commitGate = `
create function wait_at_the_gate() returns trigger language plpgsql set lock_timeout = 0 as
	$$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$;
create constraint trigger gate after insert or update on rooms deferrable initially deferred
	for each row execute function wait_at_the_gate();
create constraint trigger gate after insert or update on members deferrable initially deferred
	for each row execute function wait_at_the_gate();
create constraint trigger gate after insert or update on users deferrable initially deferred
	for each row execute function wait_at_the_gate()`

// withCommitReplyLost makes the call and drops all replies from its commit on. It returns when the call has returned.
// With cut, the connection is also closed, so that the store notices the loss. Without cut, the store just gets no
// reply.
func (b *faultyStore) withCommitReplyLost(cut bool, call func()) {
	b.Helper()
	b.must(b.direct.withReader(b.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, commitGate) }))
	var wg sync.WaitGroup
	err := b.direct.withLongSnapshot(b.Context(), func(r pg.Reader) error {
		if err := pg.Simple(r.Ctx, r.Conn, `select pg_advisory_lock(42)`); err != nil {
			return err
		}
		wg.Go(call)
		await(b.T, b.direct, `select exists (select 1 from `+gateLocks+` and not granted)`)
		b.proxy.DropReplies(true)
		err := pg.Simple(r.Ctx, r.Conn, `select pg_advisory_unlock(42)`)
		await(b.T, b.direct, `select not exists (select 1 from `+gateLocks+`)`) // it is committed
		if b.beforeCut != nil {
			b.beforeCut()
		}
		if cut {
			b.bypass.Store(true)
			b.proxy.Cut()
		}
		return err
	})
	wg.Wait()
	b.must(err)
}

const gateLocks = `pg_locks where locktype = 'advisory' and objid = 42 and database = (select oid from pg_database where datname = current_database())`

func (b *faultyStore) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// TestAppendWhoseCommitWasLost loses the reply to the commit of an append. The second run must find its own entry: it
// reports no dup, and there is no second entry.
func TestAppendWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	b.withCommitReplyLost(true, func() {
		if e, dup, err := b.Append(t.Context(), textDraft(1)); err != nil || dup || e.Seq != 1 || e.ID != "entry-1" {
			t.Errorf("%+v, dup %v, %v; want a new entry", e, dup, err)
		}
	})
	if got := lastSeq(t, b.direct); got != 1 {
		t.Errorf("last seq %d, want 1", got)
	}
}

// TestLostAppendMeetsALockedRow loses the reply to an append's commit, and locks the sender's row before the second
// run. The job then waits in a lane (a queue for one locked row), and a later transaction finds the entry stored. It
// must be recognised as the job's own entry, and not be reported as a duplicate.
func TestLostAppendMeetsALockedRow(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	inLane := make(chan bool, 1)
	b.beforeCut = func() {
		unlock := hold(t, b.direct, `select from members where room_id = 'room-1' and user_id = 'owner' for update`)
		go func() {
			until := time.Now().Add(pg.Patience)
			for b.entries.Waiting() == 0 && time.Now().Before(until) {
				time.Sleep(time.Millisecond) // sleeps: polls, for nothing announces it
			}
			unlock()
			inLane <- time.Now().Before(until)
		}()
	}
	b.withCommitReplyLost(true, func() {
		if e, dup, err := b.Append(t.Context(), textDraft(1)); err != nil || dup || e.Seq != 1 || e.ID != "entry-1" {
			t.Errorf("%+v, dup %v, %v; want a new entry", e, dup, err)
		}
	})
	if !<-inLane {
		t.Error("the job was in no lane: the test proves nothing")
	}
	if got := lastSeq(t, b.direct); got != 1 {
		t.Errorf("last seq %d, want 1", got)
	}
}

// TestAppendWhoseReplyWasLost drops the replies but keeps the connection open. The append fails when patience ends.
// The caller can then repeat the request and gets the same entry.
func TestAppendWhoseReplyWasLost(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	b := newFaultyStore(t)
	b.withCommitReplyLost(false, func() {
		began := time.Now()
		_, _, err := b.Append(t.Context(), textDraft(1))
		if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > inTime {
			t.Errorf("%v after %v, want unavailable when patience ends", err, took)
		}
	})
	b.proxy.DropReplies(false)
	b.proxy.Cut()
	b.must(b.pool.Await(t.Context()))
	again := textDraft(1)
	again.ID = "another"
	if e, dup, err := b.Append(t.Context(), again); err != nil || !dup || e.Seq != 1 || e.ID != "entry-1" {
		t.Errorf("second call: %+v, dup %v, %v", e, dup, err)
	}
}

func TestCreateRoomWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	r := chat.NewRoom{ID: "room-2", Name: "x", Kind: chat.Public, Owner: chat.User{ID: "ann"}, Key: "k2", Hash: []byte("h"), At: time.Now(), MaxRooms: 1}
	b.withCommitReplyLost(true, func() {
		if m, dup, err := b.CreateRoom(t.Context(), r); err != nil || dup || m.Role != chat.Owner || m.Room.Members != 1 {
			t.Errorf("%+v, dup %v, %v; want a new room", m, dup, err)
		}
	})
	if _, dup, err := b.CreateRoom(t.Context(), r); err != nil || !dup {
		t.Errorf("second call: dup %v, %v", dup, err)
	}
}

func TestJoinWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	j := chat.Joining{Room: room, User: "ann", At: time.Now(), MaxRooms: 1, MaxMembers: 2}
	b.withCommitReplyLost(true, func() {
		if m, changed, err := b.Join(t.Context(), j); err != nil || !changed || m.Room.Members != 2 {
			t.Errorf("%+v, changed %v, %v; want a new member", m, changed, err)
		}
	})
	if m, changed, err := b.Join(t.Context(), j); err != nil || changed || m.Room.Members != 2 {
		t.Errorf("second call: %+v, changed %v, %v", m, changed, err)
	}
}

func TestLeaveWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	for _, kind := range []chat.RoomKind{chat.Public, chat.Private} {
		t.Run(string(kind), func(t *testing.T) {
			b := newFaultyStore(t)
			owner := chat.User{ID: "owner"}
			_, _, err := b.direct.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "heir"}}, 0)
			b.must(err)
			_, _, err = b.direct.CreateRoom(t.Context(), chat.NewRoom{
				ID: "room-2", Name: "x", Kind: kind, Owner: owner, Members: []string{"heir"}, Key: "k2", Hash: []byte("h"), At: time.Now(), MaxRooms: 2,
			})
			b.must(err)
			l := chat.Leaving{Room: "room-2", User: owner, At: time.Now(), EntryIDs: [2]string{"e1", "e2"}}
			var left chat.Left
			b.withCommitReplyLost(true, func() { left, err = b.Leave(t.Context(), l) })
			b.must(err)
			kept, _, err := b.direct.History(t.Context(), "room-2", chat.Page{After: new(int64), Limit: 9})
			b.must(err)
			if !left.Changed || left.NewOwner != "heir" || left.Room.Members != 1 || !reflect.DeepEqual(left.Entries, kept) {
				t.Errorf("returned %+v, stored %+v", left, kept)
			}
			if left, err := b.Leave(t.Context(), l); err != nil || left.Changed || len(left.Entries) != 0 {
				t.Errorf("second call: %+v, %v", left, err)
			}
		})
	}
}

func TestReadWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	_, _, err := b.direct.Append(t.Context(), textDraft(1))
	b.must(err)
	b.must(b.direct.tx(t.Context(), func(w *writer) error {
		_, err := w.Exec(`update members set read_seq = 0`)
		return err
	}))
	b.withCommitReplyLost(true, func() {
		if r, err := b.Read(t.Context(), room, "owner", 1, time.Now()); err != nil || r != (chat.Reading{Seq: 1, Moved: true, Members: 1}) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestSilentConnection keeps connections open but transfers nothing. Calls must fail in time: the first when patience ends, later
// ones at once, because the breaker is open.
func TestSilentConnection(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	b := newFaultyStore(t)
	b.proxy.Swallow(true)
	unavailableWithin(t, inTime, "write", func() error { _, _, err := b.Append(t.Context(), textDraft(1)); return err })
	awaitBreaker(t, b.Store)
	unavailableWithin(t, pg.Patience, "another", func() error { _, _, err := b.Append(t.Context(), textDraft(2)); return err })
	unavailableWithin(t, pg.Patience, "read", func() error { _, err := b.Room(t.Context(), room); return err })
	unavailableWithin(t, pg.Patience, "ready", func() error { return b.Ready(t.Context()) })
	b.proxy.Swallow(false)
	b.proxy.Cut()
	b.must(b.pool.Await(t.Context()))
	if e, dup, err := b.Append(t.Context(), textDraft(1)); err != nil || dup || e.Seq != 1 {
		t.Errorf("after recovery: %+v, dup %v, %v", e, dup, err)
	}
}

// awaitBreaker waits until the breaker of the store is open.
func awaitBreaker(t *testing.T, s *Store) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); s.pool.Err() == nil; time.Sleep(10 * time.Millisecond) { // sleeps: polls, for nothing announces it
		if time.Now().After(until) {
			t.Fatal("the breaker is not open after 30 s")
		}
	}
}

// TestPostgresKilledAndRestarted kills Postgres during calls and restarts it. Every call fails in time, and a
// repeated request takes effect once.
func TestPostgresKilledAndRestarted(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	p := storetest.Postgres(t)
	url, err := p.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, url)
	createTestRoom(t, s)
	const senders, each = 8, 20
	var wg sync.WaitGroup
	half := make(chan struct{})
	results := make([][]error, senders)
	for i := range senders {
		results[i] = make([]error, each)
		wg.Go(func() {
			for n := range each {
				if i == 0 && n == each/2 {
					close(half)
				}
				began := time.Now()
				_, _, results[i][n] = s.Append(context.Background(), textDraft(i*each+n))
				if took := time.Since(began); took > inTime {
					t.Errorf("answered after %v: %v", took, results[i][n])
				}
			}
		})
	}
	<-half
	p.Kill()
	wg.Wait()
	unavailableWithin(t, inTime, "write", func() error { _, _, err := s.Append(t.Context(), textDraft(senders*each)); return err })
	awaitBreaker(t, s)
	unavailableWithin(t, pg.Patience, "read", func() error { _, err := s.Room(t.Context(), room); return err })
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.pool.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, errs := range results {
		for n, err := range errs {
			if err != nil && !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("call during the kill: %v", err)
			}
			if _, dup, again := s.Append(t.Context(), textDraft(i*each+n)); again != nil || err == nil && !dup {
				t.Errorf("first call %v, second call: dup %v, %v", err, dup, again)
			}
		}
	}
	if got := lastSeq(t, s); got != senders*each {
		t.Errorf("last seq %d, want %d entries", got, senders*each)
	}
}

// TestPostgresKilledBehindPgBouncer kills Postgres behind a PgBouncer, which still accepts connections. Calls must
// fail in time, and succeed after the restart.
func TestPostgresKilledBehindPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	p := storetest.Postgres(t)
	database, err := p.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, bouncerOf(t, p)(database))
	createTestRoom(t, s)
	p.Kill()
	unavailableWithin(t, inTime, "write", func() error { _, _, err := s.Append(t.Context(), textDraft(1)); return err })
	unavailableWithin(t, inTime, "read", func() error { _, err := s.Room(t.Context(), room); return err })
	unavailableWithin(t, inTime, "single", func() error {
		_, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "u"}}, 0)
		return err
	})
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.pool.Await(t.Context()); err != nil { // PgBouncer waits, too, before it connects to the server again
		t.Fatal(err)
	}
	if e, dup, err := s.Append(t.Context(), textDraft(1)); err != nil || dup || e.Seq != 1 {
		t.Errorf("after recovery: %+v, dup %v, %v", e, dup, err)
	}
}

// unavailableWithin makes a call, which must fail. In make nightly, it must also fail within the limit.
func unavailableWithin(t *testing.T, limit time.Duration, what string, call func() error) {
	t.Helper()
	began := time.Now()
	err := call()
	if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > limit && enginetest.Tonight("waits") {
		t.Errorf("%s: %v after %v, want unavailable within %v", what, err, took, limit)
	}
}

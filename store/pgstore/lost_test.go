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
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// brokenLine is a store behind a proxy, whose commits wait at the very end for the test to have its way.
type brokenLine struct {
	*testing.T
	*Store        // through the proxy
	direct *Store // past it
	proxy  *loopback.Proxy
	past   atomic.Bool // new connections of the store go past it too
}

func newBrokenLine(t *testing.T) *brokenLine {
	t.Helper()
	database := storetest.Database(t)
	proxy, url := through(t, database)
	b := &brokenLine{T: t, Store: openStore(t, url), direct: openStore(t, database), proxy: proxy}
	b.pool.config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if b.past.Load() {
			addr = storetest.SharedPostgres(t).Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	furnish(t, b.direct)
	return b
}

// gate makes each commit that has written wait at its very end, for whoever holds the gate's lock.
const gate = `
create function wait_at_the_gate() returns trigger language plpgsql as
	$$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$;
create constraint trigger gate after insert or update on rooms deferrable initially deferred
	for each row execute function wait_at_the_gate();
create constraint trigger gate after insert or update on members deferrable initially deferred
	for each row execute function wait_at_the_gate();
create constraint trigger gate after insert or update on users deferrable initially deferred
	for each row execute function wait_at_the_gate()`

// losingTheReply makes the call, loses the reply to its commit and all that would come after, and returns when the call
// has. Hung up, the store knows that the line is broken; else it can only wait.
func (b *brokenLine) losingTheReply(hangUp bool, call func()) {
	b.Helper()
	b.must(b.direct.look(b.Context(), func(r reader) error { return simple(r.ctx, r.conn, gate) }))
	var wg sync.WaitGroup
	err := b.direct.survey(b.Context(), func(r reader) error {
		if err := simple(r.ctx, r.conn, `select pg_advisory_lock(42)`); err != nil {
			return err
		}
		wg.Go(call)
		await(b.T, b.direct, `select exists (select 1 from `+atTheGate+` and not granted)`)
		b.proxy.DropReplies(true)
		err := simple(r.ctx, r.conn, `select pg_advisory_unlock(42)`)
		await(b.T, b.direct, `select not exists (select 1 from `+atTheGate+`)`) // it is committed
		if hangUp {
			b.past.Store(true)
			b.proxy.Cut()
		}
		return err
	})
	wg.Wait()
	b.must(err)
}

const atTheGate = `pg_locks where locktype = 'advisory' and objid = 42 and database = (select oid from pg_database where datname = current_database())`

func (b *brokenLine) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// TestAppendWhoseCommitWasLost is run again and finds its own entry: no dup, no second one.
func TestAppendWhoseCommitWasLost(t *testing.T) {
	b := newBrokenLine(t)
	b.losingTheReply(true, func() {
		if e, dup, err := b.Append(t.Context(), text(1)); err != nil || dup || e.Seq != 1 || e.ID != "entry-1" {
			t.Errorf("%+v, dup %v, %v; want the entry, as new", e, dup, err)
		}
	})
	if got := lastSeq(t, b.direct); got != 1 {
		t.Errorf("last seq %d, want 1", got)
	}
}

// TestAppendWhoseReplyWasLost: on a line that stays open nobody can tell, until patience ends. The same request again
// is right.
func TestAppendWhoseReplyWasLost(t *testing.T) {
	b := newBrokenLine(t)
	b.losingTheReply(false, func() {
		began := time.Now()
		_, _, err := b.Append(t.Context(), text(1))
		if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > 5*time.Second {
			t.Errorf("%v after %v, want unavailable within 5 s", err, took)
		}
	})
	b.proxy.DropReplies(false)
	b.proxy.Cut()
	b.must(b.pool.breaker.await(t.Context()))
	again := text(1)
	again.ID = "another"
	if e, dup, err := b.Append(t.Context(), again); err != nil || !dup || e.Seq != 1 || e.ID != "entry-1" {
		t.Errorf("again: %+v, dup %v, %v", e, dup, err)
	}
}

func TestCreateRoomWhoseCommitWasLost(t *testing.T) {
	b := newBrokenLine(t)
	r := chat.NewRoom{ID: "room-2", Name: "x", Kind: chat.Public, Owner: chat.User{ID: "ann"}, Key: "k2", Hash: []byte("h"), At: time.Now(), MaxRooms: 1}
	b.losingTheReply(true, func() {
		if m, dup, err := b.CreateRoom(t.Context(), r); err != nil || dup || m.Role != chat.Owner || m.Room.Members != 1 {
			t.Errorf("%+v, dup %v, %v; want a new room", m, dup, err)
		}
	})
	if _, dup, err := b.CreateRoom(t.Context(), r); err != nil || !dup {
		t.Errorf("again: dup %v, %v", dup, err)
	}
}

func TestJoinWhoseCommitWasLost(t *testing.T) {
	b := newBrokenLine(t)
	j := chat.Joining{Room: room, User: "ann", At: time.Now(), MaxRooms: 1, MaxMembers: 2}
	b.losingTheReply(true, func() {
		if m, changed, err := b.Join(t.Context(), j); err != nil || !changed || m.Room.Members != 2 {
			t.Errorf("%+v, changed %v, %v; want that he came in", m, changed, err)
		}
	})
	if m, changed, err := b.Join(t.Context(), j); err != nil || changed || m.Room.Members != 2 {
		t.Errorf("again: %+v, changed %v, %v", m, changed, err)
	}
}

func TestLeaveWhoseCommitWasLost(t *testing.T) {
	for _, kind := range []chat.RoomKind{chat.Public, chat.Private} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBrokenLine(t)
			owner := chat.User{ID: "owner"}
			_, err := b.direct.PutUser(t.Context(), chat.User{ID: "heir"}, 0)
			b.must(err)
			_, _, err = b.direct.CreateRoom(t.Context(), chat.NewRoom{
				ID: "room-2", Name: "x", Kind: kind, Owner: owner, Members: []string{"heir"}, Key: "k2", Hash: []byte("h"), At: time.Now(), MaxRooms: 2,
			})
			b.must(err)
			l := chat.Leaving{Room: "room-2", User: owner, At: time.Now(), EntryIDs: [2]string{"e1", "e2"}}
			var left chat.Left
			b.losingTheReply(true, func() { left, err = b.Leave(t.Context(), l) })
			b.must(err)
			kept, _, err := b.direct.History(t.Context(), "room-2", chat.Page{After: new(int64), Limit: 9})
			b.must(err)
			if !left.Changed || left.Heir != "heir" || left.Room.Members != 1 || !reflect.DeepEqual(left.Entries, kept) {
				t.Errorf("left %+v, kept %+v", left, kept)
			}
			if left, err := b.Leave(t.Context(), l); err != nil || left.Changed || len(left.Entries) != 0 {
				t.Errorf("again: %+v, %v", left, err)
			}
		})
	}
}

func TestReadWhoseCommitWasLost(t *testing.T) {
	b := newBrokenLine(t)
	_, _, err := b.direct.Append(t.Context(), text(1))
	b.must(err)
	b.must(b.direct.tx(t.Context(), func(w *writer) error {
		_, err := w.exec(`update members set read_seq = 0`)
		return err
	}))
	b.losingTheReply(true, func() {
		if r, err := b.Read(t.Context(), room, "owner", 1); err != nil || r != (chat.Reading{Seq: 1, Moved: true, Members: 1}) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestSilentLine: Postgres is there, but nothing comes through.
func TestSilentLine(t *testing.T) {
	b := newBrokenLine(t)
	b.proxy.Swallow(true)
	unavailableWithin(t, 5*time.Second, "write", func() error { _, _, err := b.Append(t.Context(), text(1)); return err })
	unavailableWithin(t, time.Second, "another", func() error { _, _, err := b.Append(t.Context(), text(2)); return err })
	unavailableWithin(t, time.Second, "read", func() error { _, err := b.Room(t.Context(), room); return err })
	unavailableWithin(t, time.Second, "ready", func() error { return b.Ready(t.Context()) })
	b.proxy.Swallow(false)
	b.proxy.Cut()
	b.must(b.pool.breaker.await(t.Context()))
	if e, dup, err := b.Append(t.Context(), text(1)); err != nil || dup || e.Seq != 1 {
		t.Errorf("afterwards: %+v, dup %v, %v", e, dup, err)
	}
}

// TestPostgresKilledAndRestarted: whatever it hit is told within 5 s, and done once when it is asked for again.
func TestPostgresKilledAndRestarted(t *testing.T) {
	p := storetest.Postgres(t)
	url, err := p.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, url)
	furnish(t, s)
	const senders, each = 8, 20
	var wg sync.WaitGroup
	half := make(chan struct{})
	told := make([][]error, senders)
	for i := range senders {
		told[i] = make([]error, each)
		wg.Go(func() {
			for n := range each {
				if i == 0 && n == each/2 {
					close(half)
				}
				began := time.Now()
				_, _, told[i][n] = s.Append(context.Background(), text(i*each+n))
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("answered after %v: %v", took, told[i][n])
				}
			}
		})
	}
	<-half
	p.Kill()
	wg.Wait()
	unavailableWithin(t, 5*time.Second, "write", func() error { _, _, err := s.Append(t.Context(), text(senders*each)); return err })
	unavailableWithin(t, time.Second, "read", func() error { _, err := s.Room(t.Context(), room); return err })
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.pool.breaker.await(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, errs := range told {
		for n, err := range errs {
			if err != nil && !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("caught by the kill: %v", err)
			}
			if _, dup, again := s.Append(t.Context(), text(i*each+n)); again != nil || err == nil && !dup {
				t.Errorf("told %v, then again: dup %v, %v", err, dup, again)
			}
		}
	}
	if got := lastSeq(t, s); got != senders*each {
		t.Errorf("last seq %d, want %d entries", got, senders*each)
	}
}

// TestPostgresKilledBehindPgBouncer, which takes calls all the same.
func TestPostgresKilledBehindPgBouncer(t *testing.T) {
	p := storetest.Postgres(t)
	database, err := p.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, bouncerBefore(t, p)(database))
	furnish(t, s)
	p.Kill()
	unavailableWithin(t, 5*time.Second, "write", func() error { _, _, err := s.Append(t.Context(), text(1)); return err })
	unavailableWithin(t, 5*time.Second, "read", func() error { _, err := s.Room(t.Context(), room); return err })
	unavailableWithin(t, 5*time.Second, "single", func() error { _, err := s.PutUser(t.Context(), chat.User{ID: "u"}, 0); return err })
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.pool.breaker.await(t.Context()); err != nil { // PgBouncer itself waits before it tries again
		t.Fatal(err)
	}
	if e, dup, err := s.Append(t.Context(), text(1)); err != nil || dup || e.Seq != 1 {
		t.Errorf("afterwards: %+v, dup %v, %v", e, dup, err)
	}
}

func unavailableWithin(t *testing.T, limit time.Duration, what string, call func() error) {
	t.Helper()
	began := time.Now()
	err := call()
	if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > limit {
		t.Errorf("%s: %v after %v, want unavailable within %v", what, err, took, limit)
	}
}

package pgstore

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
)

// TestOtherServerIsRefused makes the store serve one identity while a server of another one answers. All calls must be
// refused, except those that compare the two.
func TestOtherServerIsRefused(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	read, err := s.State(t.Context())
	if err != nil || read.Epoch == "" || read.Stored != "" || strings.Count(read.Identity, "/") != 3 {
		t.Fatalf("state %+v, %v; want an epoch, no stored identity, and an identity of four parts", read, err)
	}
	s.Serve(read.Identity)
	if _, _, err := s.Append(t.Context(), textDraft(1)); err != nil {
		t.Fatal(err)
	}

	s.Serve("another server")
	if _, err := s.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := 5
	if enginetest.Tonight("waits") {
		calls = 300 // the breaker probes meanwhile
	}
	for n := range calls {
		if n >= 5 {
			time.Sleep(10 * time.Millisecond) // sleeps: the time of three probes must pass
		}
		_, _, write := s.Append(t.Context(), textDraft(2))
		_, read := s.Room(t.Context(), room)
		if !errors.Is(write, chat.ErrUnavailable) || !errors.Is(read, chat.ErrUnavailable) {
			t.Fatalf("a write on another server: %v, a read: %v; want both refused", write, read)
		}
	}
	if n, err := s.Missing(t.Context(), s.Recent().List()); err != nil || n != 0 || len(s.Recent().List()) == 0 {
		t.Errorf("%d of %d commits are missing, %v", n, len(s.Recent().List()), err)
	}
	now, err := s.Accept(t.Context(), read)
	if err != nil || now.Stored != read.Identity {
		t.Errorf("accepted %+v, %v", now, err)
	}

	s.Serve(read.Identity)
	for until := time.Now().Add(time.Minute); ; {
		_, _, err := s.Append(t.Context(), textDraft(3))
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the store still refuses: %v", err)
		}
		must(t, s.pool.Await(t.Context()))
	}
	if got := lastSeq(t, s); got != 2 {
		t.Errorf("last seq %d, want 2: nothing was written while calls were refused", got)
	}
}

// TestStaleStateIsRefused begins an epoch and accepts a server from states that are outdated.
func TestStaleStateIsRefused(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	read, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := read
	other.Identity = "another server"
	if now, renewed, err := s.Renew(t.Context(), other); err != nil || renewed != nil || now.Epoch != read.Epoch {
		t.Errorf("renewed %+v to %+v, %v; want nothing", renewed, now, err)
	}
	if now, err := s.Accept(t.Context(), other); err != nil || now != read {
		t.Errorf("accepted %+v, %v; want %+v", now, err, read)
	}
}

// TestIdentityOfARestrictedPostgres reads the identity as a role that may not call the functions which name the server. The
// start of the server replaces them.
func TestIdentityOfARestrictedPostgres(t *testing.T) {
	t.Parallel()
	database := migratedDatabase(t)
	admin := openStore(t, database)
	name := "restricted_" + database[strings.LastIndex(database, "_")+1:strings.Index(database, "?")]
	err := admin.withReader(t.Context(), func(r reader) error {
		return pg.Simple(r.Ctx, r.Conn, `create role `+name+` login; grant all on schema public to `+name+`; grant all on all tables in schema public to `+name+`;
			revoke execute on function pg_control_system() from public`)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, `drop owned by `+name+`; drop role `+name) })
	})
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(name)
	s := openStore(t, u.String())
	read, err := s.State(t.Context())
	if err != nil || !strings.HasPrefix(read.Identity, "started ") {
		t.Fatalf("state %+v, %v; want an identity by the start of the server", read, err)
	}
	if now, err := s.Accept(t.Context(), read); err != nil || now.Stored != read.Identity {
		t.Errorf("accepted %+v, %v", now, err)
	}
}

// TestOnLoss deletes the newest link of a chain. The next transaction must tell so once, and the one after ForgetCached must
// succeed with a new chain.
func TestOnLoss(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	var told []string
	s.OnLoss(func(reason string) { told = append(told, reason) })
	if _, _, err := s.Append(t.Context(), textDraft(1)); err != nil {
		t.Fatal(err)
	}
	err := s.withReader(t.Context(), func(r reader) error {
		return pg.Simple(r.Ctx, r.Conn, `delete from links where id = (select max(id) from links)`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Append(t.Context(), textDraft(2)); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("append after the loss: %v, want unavailable", err)
	}
	if len(told) != 1 || !strings.Contains(told[0], errTailLost.Error()) {
		t.Errorf("told %q, want the loss once", told)
	}
	s.ForgetCached()
	if _, _, err := s.Append(t.Context(), textDraft(3)); err != nil || len(told) != 1 {
		t.Errorf("append in a new chain: %v, told %q", err, told)
	}
}

// TestChainGivenUpDuringATransaction gives all chains up while a transaction uses one. It must not be used again, and its
// loss is no news.
func TestChainGivenUpDuringATransaction(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	s.OnLoss(func(reason string) { t.Errorf("told %q", reason) })
	used := &ownChain{number: 1, last: 1, era: s.chains.present()}
	s.ForgetCached()
	s.chains.put(used)
	s.noteLoss(&link{chain: used}, errTailLost)
	if got := s.chains.take(); got != nil {
		t.Errorf("chain %d is used again", got.number)
	}
}

package pgstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// inTime is how long a call may take that must not wait longer than patience. The rest is for a busy machine.
var inTime = pg.Patience + 10*time.Second

// credit adds an amount of 1 to the user's wallet.
func credit(t *testing.T, s *Store, user string, n int) error {
	t.Helper()
	key := fmt.Sprintf("credit-%s-%d", user, n)
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: key, User: user, Amount: 1, Key: key, Hash: []byte(key), At: time.Now()})
	return err
}

// othersSucceed calls the store until the given time, for rows that no test has locked. Each call must succeed before patience
// ends, which is when the calls for a locked row fail. At most a tenth may take longer than a second, as a busy machine may need.
// The breaker must let calls pass.
func othersSucceed(t *testing.T, s *Store, l *storetest.Life, from int, until time.Time) (calls int) {
	t.Helper()
	slow := 0
	defer func() {
		if slow > 1+calls/10 {
			t.Errorf("%d of %d unrelated calls took longer than a second", slow, calls)
		}
	}()
	for n := from; time.Now().Before(until); n++ {
		for what, call := range map[string]func() error{
			"send":    func() error { l.Send("owner", fmt.Sprint("packet-", n), redpacket.Equal, "", 10, 10); return nil },
			"append":  func() error { _, _, err := s.Append(t.Context(), textDraft(n)); return err },
			"account": func() error { _, err := s.Account(t.Context(), fmt.Sprint("new-", n)); return err },
			"credit":  func() error { return credit(t, s, "other", n) },
			"room":    func() error { _, err := s.Room(t.Context(), room); return err },
		} {
			began := time.Now()
			err := call()
			took := time.Since(began)
			if err != nil || took >= pg.Patience {
				t.Errorf("unrelated %s: %v after %v", what, err, took)
			}
			if took > time.Second {
				slow++
			}
			if err := s.pool.Err(); err != nil {
				t.Errorf("breaker open: %v", err)
			}
			calls++
		}
	}
	return calls
}

// TestLockedRowDelaysOnlyItsCallers locks one wallet while 50 concurrent callers need it. Calls for other rows must
// succeed as usual.
func TestLockedRowDelaysOnlyItsCallers(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	url := migratedDatabase(t)
	s, outsider := openStore(t, url), openStore(t, url)
	l := fundedRoom(t, s)
	must(t, credit(t, s, "stuck", 0))
	const callers = 50
	start := func(from int) (results []error, wait func()) {
		var all sync.WaitGroup
		results = make([]error, callers)
		for i := range callers {
			all.Go(func() { results[i] = credit(t, s, "stuck", from+i) })
		}
		return results, all.Wait
	}
	var second []error
	var wait func()
	must(t, outsider.withLongSnapshot(t.Context(), func(r pg.Reader) error {
		must(t, pg.Simple(r.Ctx, r.Conn, `rollback; begin; select from wallets where user_id = 'stuck' for update`))
		began := time.Now()
		first, ended := start(1)
		othersSucceed(t, s, l, 1, began.Add(pg.Patience))
		ended()
		if took := time.Since(began); took > inTime {
			t.Errorf("calls ended after %v, want at most %v", took, inTime)
		}
		locked := 0 // callers that get this error; those of the others is that patience ended during a statement
		for _, err := range first {
			if !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("got %v, want unavailable", err)
			}
			if errors.Is(err, errBlocked) {
				locked++
			}
		}
		if locked < callers-maxBlocked {
			t.Errorf("%d of %d errors name the locked row", locked, callers)
		}
		second, wait = start(1 + callers)
		othersSucceed(t, s, l, 10_000, time.Now().Add(pg.Patience/4))
		return pg.Simple(r.Ctx, r.Conn, `rollback`)
	}))
	othersSucceed(t, s, l, 20_000, time.Now().Add(time.Second/2))
	wait()
	must(t, errors.Join(second...))
	if acc, err := s.Account(t.Context(), "stuck"); err != nil || acc.Balance != 1+callers {
		t.Errorf("%+v, %v, want a balance of %d", acc, err, 1+callers)
	}
	if n := len(s.blocked); n > 0 {
		t.Errorf("%d slots of blocked transactions are still taken", n)
	}
}

// TestSlowStatementDoesNotOpenTheBreaker makes one statement take longer than patience. The breaker must let other
// calls pass, and their connections must stay open.
func TestSlowStatementDoesNotOpenTheBreaker(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	must(t, s.withReader(t.Context(), func(r reader) error {
		return pg.Simple(r.Ctx, r.Conn, `
			create function sleep_when_slow() returns trigger language plpgsql as
				$$ begin if new.user_id = 'slow' then perform pg_sleep(5); end if; return new; end $$;
			create trigger slow before insert or update on wallets for each row execute function sleep_when_slow()`)
	}))
	before := backends(t, s, 4)
	began := time.Now()
	results := make(chan error)
	go func() { results <- credit(t, s, "slow", 1) }()
	othersSucceed(t, s, l, 1, began.Add(pg.Patience+time.Second/2))
	if err := <-results; !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("slow call: %v, want unavailable", err)
	}
	kept := 0
	for _, pid := range backends(t, s, 4) {
		for _, was := range before {
			if pid == was {
				kept++
			}
		}
	}
	if kept < 3 {
		t.Errorf("%d of 4 sessions are left, want at least 3", kept)
	}
}

// TestKeyLockWaitEndsWithPatience locks a key and waits for it a second time, without a deadline of the caller. The
// second wait must fail when patience ends.
func TestKeyLockWaitEndsWithPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks keyLocks
		unlock, err := locks.lock(t.Context(), "key")
		must(t, err)
		began := time.Now()
		if _, err := locks.lock(t.Context(), "key"); !errors.Is(err, pg.ErrPatience) || time.Since(began) != pg.Patience {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		unlock()
		unlock, err = locks.lock(t.Context(), "key")
		must(t, err)
		unlock()
	})
}

package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// TestDeadlockIsRetried lets two transactions deadlock. Postgres rolls one back. It is run again, so both are
// committed in the end.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	all, seen := watched(t, 1)
	s := all[0]
	for _, id := range []string{"a", "b"} {
		if _, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: id}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	var both, wg sync.WaitGroup
	both.Add(2)
	for _, ids := range [][]string{{"a", "b"}, {"b", "a"}} {
		wg.Go(func() {
			first := true
			err := holdTx(t, s, func(w *writer) error {
				if first { // no other limit ends the first run
					if _, err := w.Exec(`set local lock_timeout = 0`); err != nil {
						return err
					}
				}
				for _, id := range ids {
					if _, err := w.Exec(`update users set name = name || 'x' where id = $1`, id); err != nil {
						return err
					}
					if first {
						first = false
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	await(t, s, `select bool_and(name = 'xx') from users where id in ('a', 'b')`)
	if seen.seen.Load() == 0 {
		t.Error("no deadlock: the test proves nothing")
	}
}

// TestSlowClientGetsMoreTime lets Postgres end a transaction whose client pauses for too long. The later runs, which pause as long, may
// be silent for longer, so one of them is committed.
func TestSlowClientGetsMoreTime(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	s := storeWithRoom(t)
	runs := 0
	err := s.tx(t.Context(), func(w *writer) error {
		runs++
		if err := tables.EnsureUser(w, "slow"); err != nil {
			return err
		}
		time.Sleep(600 * time.Millisecond) // sleeps: the time of Postgres must pass
		_, err := w.Exec(`select 1`)
		return err
	})
	if err != nil || runs < 2 {
		t.Errorf("%v after %d runs, want a commit by a later run than the first", err, runs)
	}
	await(t, s, `select exists (select 1 from users where id = 'slow')`)
}

// TestRunAfterAnIdleOneMayBeIdleForLonger raises, in the first run of a transaction, the error with which Postgres ends an idle
// session. The second run may be idle for twice as long.
func TestRunAfterAnIdleOneMayBeIdleForLonger(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	runs, ended, returned := 0, 0, false // ended: runs that ended because they were idle; on a busy machine there may be others
	must(t, s.tx(t.Context(), func(w *writer) error {
		if returned { // the run was idle before its commit
			ended++
		}
		var limit string
		if _, err := w.Row(`show idle_in_transaction_session_timeout`, nil, &limit); err != nil {
			if pg.SQLState(err) == idleTimeout {
				ended++
			}
			return err
		}
		if want := []string{"400ms", "800ms", "1600ms"}[min(ended, 2)]; limit != want {
			t.Errorf("after %d idle runs, a run may be idle for %s, want %s", ended, limit, want)
		}
		if runs++; runs == 1 {
			ended++
			_, err := w.Exec(`do $$ begin raise exception 'idle' using errcode = '` + idleTimeout + `'; end $$`)
			return err
		}
		returned = true
		return nil
	}))
	if runs < 2 {
		t.Errorf("%d runs, want 2", runs)
	}
}

func TestRefusalRollsBack(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	for _, want := range []error{chat.ErrForbidden, errors.New("else")} {
		runs := 0
		err := holdTx(t, s, func(w *writer) error { // without a limit for an idle run, which would be a reason for another
			runs++
			return errors.Join(tables.EnsureUser(w, "nobody"), want)
		})
		if !errors.Is(err, want) || runs != 1 {
			t.Errorf("%v after %d runs, want %v", err, runs, want)
		}
	}
	await(t, s, `select not exists (select 1 from users where id = 'nobody')`)
}

func TestPanicRollsBack(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	err := s.tx(t.Context(), func(w *writer) error {
		if err := tables.EnsureUser(w, "nobody"); err != nil {
			return err
		}
		if _, err := w.Query(`select generate_series(1, 100000)`); err != nil {
			return err
		}
		panic("in the middle of a result")
	})
	if err == nil || errors.Is(err, errLost) {
		t.Errorf("got %v, want the panic", err)
	}
	await(t, s, `select not exists (select 1 from users where id = 'nobody')`)
}

// TestSwallowedErrorIsNoCommit ignores the error of a statement in a transaction. Postgres answers the commit with a
// pg.Rollback, so tx must fail.
func TestSwallowedErrorIsNoCommit(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	err := s.tx(t.Context(), func(w *writer) error {
		_, _ = w.Exec(`select 1 / 0`)
		return nil
	})
	if err == nil {
		t.Error("committed")
	}
}

// TestRetriesEndWithPatience makes every run of a transaction conflict. The call must fail when patience ends.
func TestRetriesEndWithPatience(t *testing.T) {
	enginetest.Nightly(t, "waits")
	t.Parallel()
	s := storeWithRoom(t)
	began := time.Now()
	err := s.tx(t.Context(), func(*writer) error { return tables.ErrRetry })
	if took := time.Since(began); !errors.Is(err, chat.ErrUnavailable) || took > inTime {
		t.Errorf("%v after %v", err, took)
	}
}

// TestKilledSessionIsReplaced makes Postgres end idle sessions. The next call must not fail.
func TestKilledSessionIsReplaced(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	createTestRoom(t, s)
	for i := range 4 {
		backends(t, s, 5)
		err := other.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(`select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
				where datname = current_database() and pid <> pg_backend_pid()`, nil, new(int))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			_, err = s.Room(t.Context(), room)
		} else {
			_, _, err = s.Append(t.Context(), textDraft(i))
		}
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestFullPoolMakesCallersWait makes more calls at once than there are connections. All must succeed.
func TestFullPoolMakesCallersWait(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t)+"&pool_max_conns=3")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, _, err := s.PutUser(context.Background(), chat.Profile{User: chat.User{ID: fmt.Sprint(i)}}, 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	await(t, s, `select count(*) <= 3 from pg_stat_activity where datname = current_database()`)
	await(t, s, `select count(*) = 50 from users`)
}

// TestLocksOfAGroupAreTakenAgain locks a table while a group commit locks rows, which waits for no row. If the table is unlocked after the first
// run, the second one gets the rows. Otherwise the call fails after maxGroupRuns runs.
func TestLocksOfAGroupAreTakenAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	p := fundedRoom(t, s).Send("owner", "packet", redpacket.Equal, "", 30, 3)
	jobs := []*endJob{{Close: redpacket.Close{Ref: p.Ref}, sender: "owner", room: p.Room}}
	for unlockAfter, want := range map[int]int{1: 2, maxGroupRuns: maxGroupRuns} {
		unlock := hold(t, s, `lock table packets in access exclusive mode`)
		runs := 0
		err := s.groupTx(t.Context(), func(w *writer) (bool, error) {
			if runs++; runs > unlockAfter {
				unlock()
			}
			locked, err := beginFreeEnds(w, jobs)
			if err == nil && locked[0] != "" {
				t.Errorf("%s is locked", locked[0])
			}
			return false, err
		})
		unlock()
		if failed := errors.Is(err, chat.ErrUnavailable) && !contended(err); runs != want || failed != (unlockAfter == maxGroupRuns) || !failed && err != nil {
			t.Errorf("unlocked after %d runs: %d runs, %v", unlockAfter, runs, err)
		}
	}
}

package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// readersTest is a budget with one slot, and what became of the commands that waited for it. Its methods need a synctest bubble.
type readersTest struct {
	t       *testing.T
	scans   *scans
	served  []string      // names, in order
	refused []string      // names, in order
	after   time.Duration // of the last refusal
	running func()        // releases the slot; nil: it is free
}

// ask asks for the slot and returns when the command waits, runs or is refused.
func (r *readersTest) ask(user, name string) {
	go func() {
		release, err := r.scans.acquire(r.t.Context(), user)
		rate := new(chat.RateError)
		switch {
		case errors.As(err, &rate):
			r.refused, r.after = append(r.refused, name), rate.After
		case err != nil:
			r.t.Error(err)
		default:
			r.served, r.running = append(r.served, name), release
		}
	}()
	synctest.Wait()
}

// finish lets the running command and n-1 waiting ones run for some time, one after the other.
func (r *readersTest) finish(n int, each time.Duration) {
	for range n {
		time.Sleep(each)
		release := r.running
		r.running = nil
		release()
		synctest.Wait()
	}
}

// TestScansTakeTurns lets one user wait with many commands, and others come later. Each user must be served in turn, and each user's
// commands in order.
func TestScansTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, 0)}
		for _, c := range [][2]string{{"ann", "ann"}, {"ann", "ann 1"}, {"ann", "ann 2"}, {"ann", "ann 3"}, {"bob", "bob 1"}, {"cem", "cem 1"}, {"bob", "bob 2"}} {
			r.ask(c[0], c[1])
		}
		r.finish(7, 0)
		if want := []string{"ann", "ann 1", "bob 1", "cem 1", "ann 2", "bob 2", "ann 3"}; !slices.Equal(r.served, want) {
			t.Errorf("served %q, want %q", r.served, want)
		}
		if r.scans.free != 1 || len(r.scans.turns) != 0 || r.scans.waiting != 0 {
			t.Errorf("at the end %d are free, %d users wait with %d commands", r.scans.free, len(r.scans.turns), r.scans.waiting)
		}
	})
}

// TestOneUserLeavesASlot fills the slots with commands of one user. A command of another user must start at once, and then the waiting
// commands of the first user must go on, one after the other.
func TestOneUserLeavesASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(2, 0)}
		for _, c := range [][2]string{{"eve", "eve 1"}, {"eve", "eve 2"}, {"eve", "eve 3"}, {"eve", "eve 4"}} {
			r.ask(c[0], c[1])
		}
		if wait := r.scans.expectedLocked(); wait != 3*leastRun {
			t.Errorf("the last of three commands that wait for one slot is expected to wait %v, want %v", wait, 3*leastRun)
		}
		eve := r.running
		r.ask("ann", "ann")
		if want := []string{"eve 1", "ann"}; !slices.Equal(r.served, want) {
			t.Errorf("%q run, want %q", r.served, want)
		}
		r.finish(1, 0)
		if want := []string{"eve 1", "ann"}; !slices.Equal(r.served, want) {
			t.Errorf("after ann's command %q have run, want %q", r.served, want)
		}
		r.running = eve
		r.finish(4, 0)
		if want := []string{"eve 1", "ann", "eve 2", "eve 3", "eve 4"}; !slices.Equal(r.served, want) {
			t.Errorf("served %q, want %q", r.served, want)
		}
		if r.scans.free != 2 || r.scans.waiting != 0 || r.scans.readers["eve"].running != 0 {
			t.Errorf("at the end %d are free and %d wait", r.scans.free, r.scans.waiting)
		}
	})
}

// TestScansServeTheUserThatHasReadLeast lets a user read for a second. Users that come later must be served before it, until
// its reads have worn off.
func TestScansServeTheUserThatHasReadLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, 0)}
		round := func(name string) {
			r.served = nil
			r.ask("eve", "running")
			r.ask("ann", "ann "+name)
			r.ask("bob", "bob "+name)
			r.finish(3, 0)
		}
		r.ask("ann", "ann")
		r.finish(1, time.Second)
		for _, step := range []struct {
			after time.Duration
			want  []string
		}{
			{0, []string{"running", "bob 0s", "ann 0s"}},
			{19 * time.Second, []string{"running", "bob 19s", "ann 19s"}},
			{time.Second, []string{"running", "ann 1s", "bob 1s"}},
		} {
			time.Sleep(step.after)
			if round(step.after.String()); !slices.Equal(r.served, step.want) {
				t.Errorf("served %q, want %q", r.served, step.want)
			}
		}
	})
}

// TestOverloadRefusesTheUserThatHasReadMost makes ann read all the time, until the expected wait reaches its bound. Her commands must be
// refused, with a delay, and no command of another user, until each of them has as many.
func TestOverloadRefusesTheUserThatHasReadMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, time.Second)}
		for range 100 { // now the average is 100 ms: ten commands may wait
			r.ask("ann", "before")
			r.finish(1, 100*time.Millisecond)
		}
		r.ask("ann", "running")
		for i := range 11 {
			r.ask("ann", strconv.Itoa(i))
		}
		if want := []string{"10"}; !slices.Equal(r.refused, want) || r.after < time.Second || r.after > 3*time.Second {
			t.Fatalf("refused %q, the last for %v, want %q for one to three seconds", r.refused, r.after, want)
		}
		r.ask("bob", "bob")
		r.ask("cem", "cem")
		if want := []string{"10", "9", "8"}; !slices.Equal(r.refused, want) {
			t.Fatalf("refused %q, want %q", r.refused, want)
		}
		if waiting, refused := (&Commands{scans: r.scans, searches: newScans(1, 0)}).Scans(); waiting != 10 || refused != 3 {
			t.Errorf("%d wait and %d were refused, want 10 and 3", waiting, refused)
		}
		r.served = nil
		r.finish(11, 100*time.Millisecond)
		if want := []string{"bob", "cem", "0", "1", "2", "3", "4", "5", "6", "7"}; !slices.Equal(r.served, want) {
			t.Errorf("served %q, want %q", r.served, want)
		}
	})
}

// TestSearchesOfAUserRunOneByOne lets a user search three times at once. Only one search may run, the others must leave the slots of scans free,
// and a search and a history of others must start at once.
func TestSearchesOfAUserRunOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Commands{scans: newScans(4, 0), searches: newScans(searchesAtOnce, 0)}
		ends := map[string][]func(){}
		begin := func(user, method string) {
			go func() {
				r := NewRequest(method, nil)
				r.spent = true
				end, err := a.Begin(t.Context(), Caller{User: chat.User{ID: user}}, &r)
				if err != nil {
					t.Error(err)
					return
				}
				ends[user] = append(ends[user], end)
			}()
			synctest.Wait()
		}
		for range 3 {
			begin("eve", "search")
		}
		begin("ann", "search")
		begin("bob", "history")
		if len(ends["eve"]) != 1 || len(ends["ann"]) != 1 || len(ends["bob"]) != 1 || a.scans.free != 1 {
			t.Errorf("%d searches of eve, %d of ann and %d histories run, with %d slots left; want one of each, and one slot", len(ends["eve"]), len(ends["ann"]), len(ends["bob"]), a.scans.free)
		}
		for n := range 3 {
			ends["eve"][n]()
			synctest.Wait()
		}
		ends["ann"][0]()
		ends["bob"][0]()
		if a.scans.free != 4 || a.searches.free != searchesAtOnce {
			t.Errorf("at the end %d slots of scans and %d of searches are free", a.scans.free, a.searches.free)
		}
	})
}

// TestQuickScansStillHaveABound runs commands that take no time, as commands do that are given up. The number that may wait must
// stay bounded.
func TestQuickScansStillHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, 50*time.Millisecond)}
		for range 100 {
			r.ask("ann", "quick")
			r.finish(1, 0)
		}
		r.ask("ann", "running")
		for i := range 60 {
			r.ask(strconv.Itoa(i), "waiting")
		}
		if len(r.refused) != 10 {
			t.Errorf("%d of 60 commands were refused, want 10", len(r.refused))
		}
		r.finish(51, 0)
	})
}

// TestScansRecoverFromAnOutage lets commands wait for the database for ten seconds each, and then run for a millisecond. Soon as many may
// wait as before.
func TestScansRecoverFromAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, time.Second)}
		for i := range 150 {
			r.ask(strconv.Itoa(i), "")
			if i < 50 {
				r.finish(1, 10*time.Second)
			} else {
				r.finish(1, time.Millisecond)
			}
		}
		r.ask("ann", "running")
		for i := range 300 {
			r.ask(strconv.Itoa(i), "waiting")
		}
		if len(r.refused) != 0 {
			t.Errorf("%d of 300 commands were refused, want none", len(r.refused))
		}
		r.finish(301, 0)
	})
}

// TestReadersAreForgotten has many users read once. When their reads have worn off, the budget must not remember them.
func TestReadersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readersTest{t: t, scans: newScans(1, 0)}
		for i := range 3 * minReaders {
			r.ask(strconv.Itoa(i), "")
			r.finish(1, time.Millisecond)
		}
		if n := len(r.scans.readers); n > minReaders {
			t.Errorf("%d users are remembered, want at most %d", n, minReaders)
		}
	})
}

// TestScanThatGivesUpLeavesNothing ends the context of a waiting command. It must be unavailable, and later ones must not wait for it.
func TestScanThatGivesUpLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScans(1, 0)
		release, err := s.acquire(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.acquire(ctx, "bob"); !errors.Is(err, chat.ErrUnavailable) || len(s.turns) != 0 {
			t.Errorf("after a second: %v, and %d users wait", err, len(s.turns))
		}
		release()
		if s.free != 1 {
			t.Errorf("%d are free, want 1", s.free)
		}
	})
}

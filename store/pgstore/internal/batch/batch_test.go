package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// rowJob is a job that needs two rows.
type rowJob struct {
	rows [3]string
	n    int // position among the jobs that need the same rows
}

// rowStore simulates a database of rows that can be locked, in the time of a synctest bubble.
type rowStore struct {
	mu     sync.Mutex
	locked map[string]time.Time // by row: when its lock ends; guarded by mu
	bad    map[string]error     // by row: the error of writing it; guarded by mu
	done   []rowJob             // guarded by mu
}

var (
	errLockTimeout = errors.New("lock timeout")
	errBroken      = errors.New("row cannot be written")
	errOutOfTime   = errors.New("statement cancelled")
)

// patience is how long a caller of a store waits.
const patience = 4 * time.Second

func judge(err error) Fault {
	if errors.Is(err, errLockTimeout) {
		return RowsLocked
	}
	if errors.Is(err, errOutOfTime) {
		return Exhausted
	}
	return PassingRow
}

func isPoisoned(err error) bool {
	var poisoned *PoisonedError
	return errors.As(err, &poisoned)
}

// run behaves like a transaction: it takes time, waits for locked rows or skips them, and rolls back as a whole.
func (s *rowStore) run(_ context.Context, jobs []rowJob, skip bool) (locked []string, err error) {
	time.Sleep(2 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	locked = make([]string, len(jobs))
	for i, j := range jobs {
		for _, row := range j.rows {
			wait := time.Until(s.locked[row])
			switch {
			case s.bad[row] != nil:
				return nil, s.bad[row]
			case wait <= 0 || locked[i] != "":
			case skip:
				locked[i] = row
			default:
				s.mu.Unlock()
				time.Sleep(min(wait, 200*time.Millisecond))
				s.mu.Lock()
				if wait > 200*time.Millisecond {
					return nil, errLockTimeout
				}
			}
		}
	}
	for i, j := range jobs {
		if locked[i] == "" {
			s.done = append(s.done, j)
		}
	}
	return locked, nil
}

func (s *rowStore) lock(row string, for_ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked[row] = time.Now().Add(for_)
}

func newRowCommitter() (*rowStore, *Committer[rowJob]) {
	s := &rowStore{locked: map[string]time.Time{}, bad: map[string]error{}}
	return s, New(Work[rowJob]{
		Run: s.run, Keys: func(j rowJob) [3]string { return j.rows }, Wrote: func(rowJob) bool { return true }, Judge: judge, Patience: patience,
	}, make(chan struct{}, 4), slog.New(slog.DiscardHandler))
}

// TestLanesAnswerEachJobOnce locks random rows for random times. Each job is answered once. Jobs of free rows are
// answered within a second, and jobs of the same rows in order.
func TestLanesAnswerEachJobOnce(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			s, c := newRowCommitter()
			for n := range 10 {
				s.lock(fmt.Sprint("room-", n), time.Duration(random.IntN(6000))*time.Millisecond)
			}
			for n := range 10 {
				s.lock(fmt.Sprint("user-", n), time.Duration(random.IntN(6000))*time.Millisecond)
			}
			var wg sync.WaitGroup
			for user := range 40 {
				pace := time.Duration(random.IntN(50)) * time.Millisecond
				room := random.IntN(40)
				wg.Go(func() {
					for n := range 50 {
						time.Sleep(pace)
						j := rowJob{[3]string{fmt.Sprint("room-", room), fmt.Sprint("user-", user)}, n}
						began := time.Now()
						err := c.Do(t.Context(), j)
						took := time.Since(began)
						if err != nil && !errors.Is(err, chat.ErrUnavailable) {
							t.Errorf("seed %d: %v", seed, err)
						}
						if free := user >= 10 && room >= 10; free && (err != nil || took > time.Second) || took > patience {
							t.Errorf("seed %d: %+v took %v, %v", seed, j, took, err)
						}
					}
				})
			}
			wg.Wait()
			c.Close()
			last := map[[3]string]int{}
			for _, j := range s.done {
				if n, ok := last[j.rows]; ok && n >= j.n {
					t.Errorf("seed %d: %+v was done after job %d", seed, j, n)
				}
				last[j.rows] = j.n
			}
			if len(c.lanes.open) > 0 {
				t.Errorf("seed %d: open lanes after close: %v", seed, c.lanes.open)
			}
		})
	}
}

// TestLaneKeepsTheOrder queues jobs while their row is locked. Once it is free they are done in that order.
func TestLaneKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		s.lock("room", 2*time.Second)
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				if err := c.Do(t.Context(), rowJob{[3]string{"room", fmt.Sprint("user-", n)}, n}); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(50 * time.Millisecond)
		}
		wg.Wait()
		c.Close()
		if !slices.IsSortedFunc(s.done, func(a, b rowJob) int { return a.n - b.n }) || len(s.done) != 20 {
			t.Errorf("done: %v", s.done)
		}
	})
}

// TestTransactionsAreBounded locks a row while many jobs need it. No transaction may have more jobs than Work.Most, in the queue or in the lane.
func TestTransactionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, first := newRowCommitter()
		first.Close()
		w := first.work
		most := 0
		w.Most, w.Run = 3, func(ctx context.Context, jobs []rowJob, skip bool) ([]string, error) {
			s.mu.Lock()
			most = max(most, len(jobs))
			s.mu.Unlock()
			return s.run(ctx, jobs, skip)
		}
		c := New(w, make(chan struct{}, 4), slog.New(slog.DiscardHandler))
		s.lock("room", time.Second)
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				if err := c.Do(t.Context(), rowJob{[3]string{"room", fmt.Sprint("user-", n)}, n}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		c.Close()
		if most != 3 || len(s.done) != 20 {
			t.Errorf("%d jobs done, at most %d in a transaction; want 20 and 3", len(s.done), most)
		}
	})
}

// TestLanesAreBounded adds more lanes, and more jobs to one lane, than allowed. Jobs beyond a bound are refused at
// once.
func TestLanesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		var wg sync.WaitGroup
		refusedAtOnce := func(jobs int, job func(n int) rowJob) (refused int) {
			var mu sync.Mutex
			for n := range jobs {
				wg.Go(func() {
					began := time.Now()
					if err := c.Do(t.Context(), job(n)); errors.Is(err, chat.ErrUnavailable) && time.Since(began) < 2*time.Second {
						mu.Lock()
						refused++
						mu.Unlock()
					}
				})
			}
			time.Sleep(2 * time.Second)
			mu.Lock()
			defer mu.Unlock()
			return refused
		}
		s.lock("room", time.Hour)
		if n := refusedAtOnce(maxInLane+20, func(n int) rowJob { return rowJob{[3]string{"room", "user"}, n} }); n != 20 {
			t.Errorf("%d of %d were refused, want 20", n, maxInLane+20)
		}
		for n := range maxLanes + 9 {
			s.lock(fmt.Sprint("user-", n), time.Hour)
		}
		if n := refusedAtOnce(maxLanes+9, func(n int) rowJob { return rowJob{[3]string{"free", fmt.Sprint("user-", n)}, n} }); n != 10 {
			t.Errorf("%d of %d were refused, want 10: one lane is open already", n, maxLanes+9)
		}
		if err := c.Do(t.Context(), rowJob{[3]string{"free", "somebody"}, 0}); err != nil {
			t.Error(err)
		}
		wg.Wait()
		c.Close()
	})
}

// TestCloseEndsLanes closes a committer while jobs wait in lanes. They are answered soon after.
func TestCloseEndsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		s.lock("room", time.Hour)
		result := make(chan error, 1)
		go func() { result <- c.Do(t.Context(), rowJob{[3]string{"room", "user"}, 0}) }()
		time.Sleep(time.Second)
		began := time.Now()
		c.Close()
		if err := <-result; !errors.Is(err, chat.ErrUnavailable) || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestPoisonNeedsOtherCommits makes a row fail repeatedly. The error is a PoisonedError only if other jobs are
// committed meanwhile.
func TestPoisonNeedsOtherCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		defer c.Close()
		job := func(user string) error { return c.Do(t.Context(), rowJob{[3]string{"room", user}, 0}) }
		s.bad["room"] = errBroken
		for range 3 {
			if err := job("user"); err == nil || isPoisoned(err) {
				t.Errorf("no row can be written: %v", err)
			}
		}
		delete(s.bad, "room")
		s.bad["user"] = errBroken
		if err := errors.Join(job("another"), job("third")); err != nil {
			t.Error(err)
		}
		if err := job("user"); !isPoisoned(err) {
			t.Errorf("other rows can be written: %v, want a poisoned row", err)
		}
		delete(s.bad, "user")
		if err := job("user"); err != nil {
			t.Error(err)
		}
		s.bad["user"] = errBroken
		if err := job("user"); err == nil || isPoisoned(err) {
			t.Errorf("no commit since the failure: %v", err)
		}
	})
}

// TestOldFailuresDoNotPoison makes all jobs fail in two outages. A row fails alone in both. Jobs committed between
// the outages must not make its error a PoisonedError.
func TestOldFailuresDoNotPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		defer c.Close()
		job := func(user string) error { return c.Do(t.Context(), rowJob{[3]string{"room", user}, 0}) }
		for outage := range 2 {
			s.bad["room"] = errBroken
			if err := job("user"); err == nil || isPoisoned(err) {
				t.Errorf("outage %d: %v, want an error of the database", outage, err)
			}
			delete(s.bad, "room")
			if err := job("other"); err != nil {
				t.Error(err)
			}
			time.Sleep(failureAge)
		}
	})
}

// TestContendedGroupsAreHalved makes every batch of more than two jobs fail by contention. All jobs are done in
// smaller ones.
func TestContendedGroupsAreHalved(t *testing.T) {
	c := New(Work[int]{
		Run: func(_ context.Context, jobs []int, _ bool) ([]string, error) {
			if len(jobs) > 2 {
				return nil, errLockTimeout
			}
			return nil, nil
		},
		Keys:  func(int) [3]string { return [3]string{"room", "user"} },
		Wrote: func(int) bool { return true },
		Judge: judge, Patience: patience,
	}, make(chan struct{}, 1), slog.New(slog.DiscardHandler))
	defer c.Close()
	if err := errors.Join(c.DoAll(t.Context(), make([]int, 100))...); err != nil {
		t.Error(err)
	}
}

// TestManyLockedRowsDelayNoOther locks one row briefly and 200 rows for long. The job of the first row succeeds soon,
// and the others fail when their time in lanes ends.
func TestManyLockedRowsDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		var wg sync.WaitGroup
		call := func(user string, most time.Duration, wantErr bool) {
			wg.Go(func() {
				began := time.Now()
				err := c.Do(t.Context(), rowJob{[3]string{"room", user}, 0})
				if took := time.Since(began); took > most || (err != nil) != wantErr {
					t.Errorf("%s: %v after %v, want %v at most", user, err, took, most)
				}
			})
		}
		for n := range 200 {
			s.lock(fmt.Sprint("stuck-", n), time.Minute)
			call(fmt.Sprint("stuck-", n), patience+time.Second, true)
		}
		time.Sleep(time.Second)
		s.lock("short", 300*time.Millisecond)
		call("short", 2600*time.Millisecond, false) // a slot is free once the first jobs of the other rows give up, after at most 2.57 s
		wg.Wait()
		began := time.Now()
		c.Close()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("closing took %v", took)
		}
	})
}

// TestPanicFailsOnlyItsJob makes one job of a batch panic. That job fails, and the others succeed.
func TestPanicFailsOnlyItsJob(t *testing.T) {
	c := New(Work[int]{Judge: judge, Patience: patience, Run: func(_ context.Context, jobs []int, _ bool) ([]string, error) {
		if slices.Contains(jobs, 13) {
			panic("unlucky")
		}
		return nil, nil
	}}, nil, slog.New(slog.DiscardHandler))
	defer c.Close()
	for i, err := range c.DoAll(t.Context(), []int{11, 12, 13, 14}) {
		if (err != nil) != (i == 2) {
			t.Errorf("job %d: %v", i, err)
		}
	}
}

// TestCloseRunsQueuedJobs closes a committer while a batch runs and two jobs wait in the queue. All jobs are done.
func TestCloseRunsQueuedJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newRowCommitter()
		s.lock("room", 100*time.Millisecond) // holds up the first batch
		var wg sync.WaitGroup
		for n := range 3 {
			wg.Go(func() {
				if err := c.Do(t.Context(), rowJob{[3]string{"room", "user"}, n}); err != nil {
					t.Errorf("job %d: %v", n, err)
				}
			})
			synctest.Wait()
		}
		if waiting := c.Waiting(); waiting != 2 {
			t.Fatalf("%d jobs are queued, want 2", waiting)
		}
		c.Close()
		wg.Wait()
		if len(s.done) != 3 {
			t.Errorf("%d jobs were done, want 3", len(s.done))
		}
		if err := c.Do(t.Context(), rowJob{}); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("after Close: %v, want unavailable", err)
		}
	})
}

// TestFaults makes every run of eight jobs fail with one fault. It checks the sizes of the batches that are run, and how long the
// callers wait.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		fault  Fault
		locks  bool // the jobs lock rows
		runs   []int
		skips  bool // some runs skip locked rows
		inLane bool // the callers wait for their patience, or for all tries
	}{
		{Outage, true, []int{8}, false, false},
		{Outage, false, []int{8}, false, false},
		{RowsLocked, true, []int{8, 8, 4, 2, 1}, true, true},
		{RowsLocked, false, []int{8}, false, false},
		{KeyTaken, true, []int{8, 4, 2, 1}, true, true},
		{KeyTaken, false, []int{8}, false, false},
		{PassingRow, true, []int{8, 4, 2, 1}, true, true},
		{PassingRow, false, []int{8, 4, 2, 1}, false, false},
		{Exhausted, true, []int{8, 4, 2, 1}, true, true},
		{Exhausted, false, []int{8, 4, 2, 1}, false, false},
		{LastingRow, true, []int{8, 4, 2, 1}, false, false},
		{LastingRow, false, []int{8, 4, 2, 1}, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var (
				mu    sync.Mutex
				sizes []int
				skips bool
			)
			began, hold := make(chan struct{}), make(chan struct{})
			w := Work[int]{
				Judge: func(error) Fault { return test.fault }, Wrote: func(int) bool { return true }, Patience: patience,
				Run: func(_ context.Context, jobs []int, skip bool) ([]string, error) {
					if jobs[0] < 0 { // the first batch only holds up the queue
						close(began)
						<-hold
						return nil, nil
					}
					mu.Lock()
					defer mu.Unlock()
					sizes, skips = append(sizes, len(jobs)), skips || skip
					return nil, errBroken
				},
			}
			if test.locks {
				w.Keys = func(n int) [3]string { return [3]string{"room", fmt.Sprint("user-", n)} }
			}
			c := New(w, make(chan struct{}, 4), slog.New(slog.DiscardHandler))
			var callers sync.WaitGroup
			callers.Go(func() { _ = c.Do(t.Context(), -1) })
			<-began
			queuedAt := time.Now()
			callers.Go(func() {
				for n, err := range c.DoAll(t.Context(), []int{1, 2, 3, 4, 5, 6, 7, 8}) {
					if err == nil {
						t.Errorf("%v: job %d succeeded", test.fault, n)
					}
				}
			})
			synctest.Wait()
			close(hold)
			callers.Wait()
			waited := time.Since(queuedAt) > 0
			c.Close()
			if got := sizes[:min(len(sizes), len(test.runs))]; !slices.Equal(got, test.runs) {
				t.Errorf("%v, locks %v: batches of %v, want them to begin with %v", test.fault, test.locks, sizes, test.runs)
			}
			if !test.locks && (test.fault == Outage || test.fault.isConflict()) && len(sizes) != 1 {
				t.Errorf("%v without locks: %d runs, want one", test.fault, len(sizes))
			}
			if skips != test.skips || waited != test.inLane {
				t.Errorf("%v, locks %v: skipped locked rows %v, waited in lanes %v; want %+v", test.fault, test.locks, skips, waited, test)
			}
		})
	}
}

// TestExhaustedRowIsBadOnlyAfterMinutes makes one job fail because time or memory ran out, while others are committed. Its error must be
// a PoisonedError only when it has failed so for minutes, and never if the other commits stopped in between.
func TestExhaustedRowIsBadOnlyAfterMinutes(t *testing.T) {
	const pause = 30 * time.Second // between two tries of the job, as recovery tries a claim again
	for name, test := range map[string]struct {
		quiet bool          // no other job is committed between some of the tries
		until time.Duration // when the error must be a PoisonedError; 0: never
	}{
		"others are committed": {until: starvedFor},
		"others pause":         {quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := newRowCommitter()
				defer c.Close()
				job := func(user string) error { return c.Do(t.Context(), rowJob{[3]string{"room", user}, 0}) }
				s.bad["user"] = errOutOfTime
				began := time.Now()
				for n := 0; time.Since(began) < 3*starvedFor; n++ {
					at := time.Since(began)
					err := job("user")
					if want := test.until > 0 && at >= test.until; err == nil || isPoisoned(err) != want {
						t.Errorf("after %v: %v, want a poisoned row: %v", at, err, want)
					}
					if test.quiet && n%4 == 3 {
						time.Sleep(pause)
						continue
					}
					time.Sleep(pause / 2)
					if err := job("other"); err != nil {
						t.Error(err)
					}
					time.Sleep(pause / 2)
				}
				delete(s.bad, "user")
				if err := job("user"); err != nil {
					t.Error(err)
				}
				s.bad["user"] = errOutOfTime
				if err := errors.Join(job("other"), job("other")); err != nil {
					t.Error(err)
				}
				if err := job("user"); err == nil || isPoisoned(err) {
					t.Errorf("after a success: %v, want an error of the database", err)
				}
			})
		})
	}
}

// TestManyExhaustedRowsAreBounded makes jobs of more users fail than are remembered. None is a PoisonedError, and the list stays bounded.
func TestManyExhaustedRowsAreBounded(t *testing.T) {
	l := lanes[int]{starved: map[[3]string]streak{}}
	for n := range 2 * maxFailing {
		if l.starve([3]string{"room", fmt.Sprint("user-", n)}) {
			t.Errorf("job %d is bad at its first failure", n)
		}
	}
	if len(l.starved) != maxFailing {
		t.Errorf("%d streaks, want %d", len(l.starved), maxFailing)
	}
}

// TestHungBatchIsAnsweredInTime lets each batch hang for the patience of the store, as commits do that wait for a dead standby. Every job
// must be answered within 5 s of its call, also one that waits for the batch before its own or for a place in the queue.
func TestHungBatchIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Work[int]{
			Run: func(context.Context, []int, bool) ([]string, error) {
				time.Sleep(patience)
				return nil, context.DeadlineExceeded
			},
			Judge: func(error) Fault { return Outage }, Patience: patience,
		}, nil, slog.New(slog.DiscardHandler))
		var all sync.WaitGroup
		call := func(do func() error) {
			all.Go(func() {
				began := time.Now()
				err := do()
				if took := time.Since(began); err == nil || took > 5*time.Second {
					t.Errorf("%v after %v, want an error within 5 s", err, took)
				}
			})
		}
		for range 20 {
			call(func() error { return c.Do(t.Context(), 1) })
			call(func() error { return c.DoRead(t.Context(), 1) })
			call(func() error { return errors.Join(c.DoAll(t.Context(), make([]int, 2*maxBatch))...) })
			time.Sleep(300 * time.Millisecond)
		}
		all.Wait()
		c.Close()
	})
}

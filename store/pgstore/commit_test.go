package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// held queues the drafts, in order, behind a commit that is held up, so that they share the next one.
func held(t *testing.T, s *Store, drafts ...chat.Draft) (jobs []*appending, errs []error) {
	t.Helper()
	var wg sync.WaitGroup
	errs = make([]error, len(drafts))
	err := s.tx(t.Context(), func(w *writer) error {
		if _, err := w.lockRoom(room); err != nil {
			return err
		}
		wg.Go(func() {
			if _, _, err := s.Append(t.Context(), text(1000)); err != nil {
				t.Error(err)
			}
		})
		blocked(t, s)
		for i, d := range drafts {
			j := &appending{draft: d}
			jobs = append(jobs, j)
			wg.Go(func() { errs[i] = s.entries.do(t.Context(), j) })
			for len(s.entries.queue) <= i { // do has queued it when it is counted
				runtime.Gosched()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return jobs, errs
}

// blocked returns when some transaction of the database waits for a lock.
func blocked(t *testing.T, s *Store) {
	t.Helper()
	await(t, s, `select count(*) > 0 from pg_locks where not granted and
		pid in (select pid from pg_stat_activity where datname = current_database())`)
}

// await asks until the answer is yes.
func await(t *testing.T, s *Store, question string, args ...any) {
	t.Helper()
	for yes := false; !yes; {
		if err := s.look(t.Context(), func(r reader) error { _, err := r.row(question, args, &yes); return err }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyShareOneCommit(t *testing.T) {
	s := furnished(t)
	const many = 100
	var drafts []chat.Draft
	for i := range many {
		drafts = append(drafts, text(i))
	}
	jobs, errs := held(t, s, drafts...)
	for i, j := range jobs {
		if errs[i] != nil || j.err != nil || j.entry.Seq != int64(i+2) {
			t.Errorf("job %d: seq %d, %v, %v", i, j.entry.Seq, errs[i], j.err)
		}
	}
	var transactions int
	err := s.look(t.Context(), func(r reader) error {
		_, err := r.row(`select count(distinct xmin::text) from entries`, nil, &transactions)
		return err
	})
	if err != nil || transactions != 2 {
		t.Errorf("%d transactions, %v; want the first one's and the others'", transactions, err)
	}
}

// TestPoisonRowFailsAlone: Postgres stores no zero byte in a text, and refuses the whole statement.
func TestPoisonRowFailsAlone(t *testing.T) {
	for _, bad := range []int{0, 3, 12} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			s := furnished(t)
			var drafts []chat.Draft
			for i := range 13 {
				d := text(i)
				if i == bad {
					d.From.Name = "zero\x00byte"
				}
				drafts = append(drafts, d)
			}
			jobs, errs := held(t, s, drafts...)
			for i, j := range jobs {
				if (errs[i] != nil) != (i == bad) || j.err != nil {
					t.Errorf("job %d: %v, %v", i, errs[i], j.err)
				}
			}
			if got := lastSeq(t, s); got != 13 {
				t.Errorf("last seq %d, want 13 entries without holes", got)
			}
			_, _, err := s.Append(t.Context(), drafts[bad])
			if !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("alone: %v, want unavailable", err)
			}
		})
	}
}

// TestKeysInOneBatch: what the key stands for is decided by the first that is accepted.
func TestKeysInOneBatch(t *testing.T) {
	s := furnished(t)
	stranger := text(1)
	stranger.From.ID = "stranger"
	again, other := text(2), text(2)
	again.ID, other.ID, other.Hash = "again", "other", []byte("other")
	strangerAgain := stranger
	jobs, errs := held(t, s, stranger, strangerAgain, text(2), again, other, text(3))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, want := range []appending{
		{err: chat.ErrNotMember}, {err: chat.ErrNotMember},
		{entry: chat.Entry{Seq: 2, ID: "entry-2"}}, {entry: chat.Entry{Seq: 2, ID: "entry-2"}, dup: true},
		{err: chat.ErrKeyReused}, {entry: chat.Entry{Seq: 3, ID: "entry-3"}},
	} {
		if j := jobs[i]; !errors.Is(j.err, want.err) || j.dup != want.dup || want.err == nil && (j.entry.Seq != want.entry.Seq || j.entry.ID != want.entry.ID) {
			t.Errorf("job %d: %+v, dup %v, %v; want %+v", i, j.entry, j.dup, j.err, want)
		}
	}
}

// TestCloseAnswersWhatIsQueued and refuses what comes later, reads too.
func TestCloseAnswersWhatIsQueued(t *testing.T) {
	url := storetest.Database(t) // its server outlives the test
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(t.Context(), url, quiet)
	if err != nil {
		t.Fatal(err)
	}
	furnish(t, s)
	const callers = 50
	told := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { _, _, told[i] = s.Append(t.Context(), text(i)) })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for _, err := range told {
		if err != nil && !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("caught by closing: %v", err)
		}
	}
	began := time.Now()
	_, _, write := s.Append(t.Context(), text(callers))
	_, _, single := s.Join(t.Context(), chat.Joining{Room: room, User: "owner"})
	_, read := s.Room(t.Context(), room)
	_, _, several := s.Members(t.Context(), room, "", 9)
	for _, err := range []error{write, single, read, several} {
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("after closing: %v, want unavailable", err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v to say so", took)
	}
}

// TestCloseWaitsForTheQueue: a job that is queued when the store closes is committed.
func TestCloseWaitsForTheQueue(t *testing.T) {
	url := storetest.Database(t)
	s, other := openStore(t, url), openStore(t, url)
	furnish(t, s)
	var wg sync.WaitGroup
	told := make([]error, 3)
	err := other.tx(t.Context(), func(w *writer) error {
		if _, err := w.lockRoom(room); err != nil {
			return err
		}
		say := func(i int) { wg.Go(func() { _, _, told[i] = s.Append(t.Context(), text(i)) }) }
		say(0)
		blocked(t, other)
		say(1)
		say(2)
		for len(s.entries.queue) < len(told)-1 {
			runtime.Gosched()
		}
		wg.Go(func() { _ = s.Close() })
		<-s.entries.closing
		return nil
	})
	wg.Wait()
	if err = errors.Join(err, errors.Join(told...)); err != nil {
		t.Error(err)
	}
	if got := lastSeq(t, other); got != 3 {
		t.Errorf("last seq %d, want all three", got)
	}
}

func TestCancelledContextIsUnavailable(t *testing.T) {
	s := furnished(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, write := s.Append(ctx, text(1))
	_, single := s.PutUser(ctx, chat.User{ID: "u"}, 0)
	_, read := s.Room(ctx, room)
	for _, err := range []error{write, single, read} {
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("%v, want unavailable", err)
		}
	}
	if got := lastSeq(t, s); got != 0 {
		t.Errorf("last seq %d: a cancelled call was queued", got)
	}
}

// BenchmarkAppend: many senders in one room.
func BenchmarkAppend(b *testing.B) {
	const senders = 200
	s := furnished(b)
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range senders {
		wg.Go(func() {
			for n := i; n < b.N; n += senders {
				if _, _, err := s.Append(context.Background(), text(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// TestPanicIsAnError of the job that has it, and of no other.
func TestPanicIsAnError(t *testing.T) {
	c := newCommitter(func(_ context.Context, jobs []int) error {
		if slices.Contains(jobs, 13) {
			panic("unlucky")
		}
		return nil
	}, slog.New(slog.DiscardHandler))
	defer c.close()
	for i, err := range c.doAll(t.Context(), []int{11, 12, 13, 14}) {
		if (err != nil) != (i == 2) {
			t.Errorf("job %d: %v", i, err)
		}
	}
}

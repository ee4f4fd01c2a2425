package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hongbao/chat"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
)

// appendInOneBatch queues the drafts in order behind a commit that the test holds up, so that they share the next commit.
func appendInOneBatch(t *testing.T, s *Store, drafts ...chat.Draft) (jobs []*appendJob, errs []error) {
	t.Helper()
	var wg sync.WaitGroup
	errs = make([]error, len(drafts))
	began, release := holdCommit(t, s)
	wg.Go(func() {
		if _, _, err := s.Append(t.Context(), textDraft(1000)); err != nil {
			t.Error(err)
		}
	})
	<-began
	for i, d := range drafts {
		j := &appendJob{draft: d}
		jobs = append(jobs, j)
		wg.Go(func() { errs[i] = s.entries.Do(t.Context(), j) })
		awaitQueued(t, s.entries.Waiting, i+1)
	}
	release()
	wg.Wait()
	return jobs, errs
}

// holdCommit holds up the next commit of entries.
func holdCommit(t *testing.T, s *Store) (began chan struct{}, release func()) {
	return holdWork(t, &s.entries, s.appendWork(), s.log)
}

// holdWork holds up the next commit of a committer until release is called, at the latest when the test ends. began is closed
// when the commit has its jobs; later jobs stay in the queue. No call of the store may be under way.
func holdWork[J any](t *testing.T, c **batch.Committer[J], held batch.Work[J], log *slog.Logger) (began chan struct{}, release func()) {
	began, released := make(chan struct{}), make(chan struct{})
	hold := sync.OnceFunc(func() { close(began); <-released })
	held.Patience = time.Minute // a busy machine may need long to halve the batch
	run := held.Run
	held.Run = func(ctx context.Context, jobs []J, skip bool) ([]string, error) {
		hold()
		return run(ctx, jobs, skip)
	}
	(*c).Close()
	*c = batch.New(held, make(chan struct{}, 1), log)
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return began, release
}

// awaitQueued waits until n jobs are queued. It fails the test after 30 s.
func awaitQueued(t *testing.T, queued func() int, n int) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); queued() < n; time.Sleep(time.Millisecond) { // sleeps: polls, for nothing announces it
		if time.Now().After(until) {
			t.Fatalf("%d of %d jobs are queued after 30 s", queued(), n)
		}
	}
}

// awaitBlocked returns when a transaction of the database waits for a lock.
func awaitBlocked(t *testing.T, s *Store) {
	t.Helper()
	await(t, s, `select count(*) > 0 from pg_locks where not granted and
		pid in (select pid from pg_stat_activity where datname = current_database())`)
}

// await repeats a query that returns a boolean until it returns true. It fails the test after 30 s.
func await(t *testing.T, s *Store, question string, args ...any) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); ; {
		var yes bool
		if err := s.withReader(t.Context(), func(r reader) error { _, err := r.Row(question, args, &yes); return err }); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("not true within 30 s: %s", question)
		}
		time.Sleep(2 * time.Millisecond) // sleeps: leaves the processors to the transaction for which this test waits
	}
}

// holdTx runs fn in a transaction of the store. The transaction may hold its locks while idle, without a timeout.
func holdTx(t *testing.T, s *Store, fn func(w *writer) error) error {
	t.Helper()
	return s.tx(t.Context(), func(w *writer) error {
		if _, err := w.Exec(`set local idle_in_transaction_session_timeout = 0`); err != nil {
			return err
		}
		return fn(w)
	})
}

func TestQueuedJobsShareOneCommit(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	const many = 100
	var drafts []chat.Draft
	for i := range many {
		drafts = append(drafts, textDraft(i))
	}
	jobs, errs := appendInOneBatch(t, s, drafts...)
	for i, j := range jobs {
		if errs[i] != nil || j.err != nil || j.entry.Seq != int64(i+2) {
			t.Errorf("job %d: seq %d, %v, %v", i, j.entry.Seq, errs[i], j.err)
		}
	}
	var transactions int
	err := s.withReader(t.Context(), func(r reader) error {
		_, err := r.Row(`select count(distinct xmin::text) from entries`, nil, &transactions)
		return err
	})
	if err != nil || transactions != 2 {
		t.Errorf("%d transactions, %v; want 2: the first job's and the batch's", transactions, err)
	}
}

// TestPoisonRowFailsAlone appends several texts in one batch. For one with a zero byte, Postgres refuses the whole
// statement. Only that text may fail.
func TestPoisonRowFailsAlone(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 3, 12} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			s := storeWithRoom(t)
			var drafts []chat.Draft
			for i := range 13 {
				d := textDraft(i)
				if i == bad {
					d.From.Name = "zero\x00byte"
				}
				drafts = append(drafts, d)
			}
			jobs, errs := appendInOneBatch(t, s, drafts...)
			for i, j := range jobs {
				if (errs[i] != nil) != (i == bad) || j.err != nil {
					t.Errorf("job %d: %v, %v", i, errs[i], j.err)
				}
			}
			if got := lastSeq(t, s); got != 13 {
				t.Errorf("last seq %d, want 13 entries without gaps", got)
			}
			_, _, err := s.Append(t.Context(), drafts[bad])
			if !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("bad row alone: %v, want unavailable", err)
			}
		})
	}
}

// TestRepeatedKeysInOneBatch uses one idempotency key in several jobs of a batch. The first accepted job decides the
// content of the key: the same content gets its answer, other content is refused.
func TestRepeatedKeysInOneBatch(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	stranger := textDraft(1)
	stranger.From.ID = "stranger"
	again, other := textDraft(2), textDraft(2)
	again.ID, other.ID, other.Hash = "again", "other", []byte("other")
	strangerAgain := stranger
	jobs, errs := appendInOneBatch(t, s, stranger, strangerAgain, textDraft(2), again, other, textDraft(3))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, want := range []appendJob{
		{err: chat.ErrNotMember}, {err: chat.ErrNotMember},
		{entry: chat.Entry{Seq: 2, ID: "entry-2"}}, {entry: chat.Entry{Seq: 2, ID: "entry-2"}, dup: true},
		{err: chat.ErrKeyReused}, {entry: chat.Entry{Seq: 3, ID: "entry-3"}},
	} {
		if j := jobs[i]; !errors.Is(j.err, want.err) || j.dup != want.dup || want.err == nil && (j.entry.Seq != want.entry.Seq || j.entry.ID != want.entry.ID) {
			t.Errorf("job %d: %+v, dup %v, %v; want %+v", i, j.entry, j.dup, j.err, want)
		}
	}
}

// TestCloseAnswersQueuedJobs closes a store with jobs in its queues. All are answered, and later writes and reads are
// refused.
func TestCloseAnswersQueuedJobs(t *testing.T) {
	url := migratedDatabase(t) // started before goleak looks, because the shared server outlives the test
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := Open(t.Context(), url, discardLog)
	if err != nil {
		t.Fatal(err)
	}
	createTestRoom(t, s)
	const callers = 50
	results := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { _, _, results[i] = s.Append(t.Context(), textDraft(i)) })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for _, err := range results {
		if err != nil && !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("during close: %v", err)
		}
	}
	_, _, write := s.Append(t.Context(), textDraft(callers))
	_, _, single := s.Join(t.Context(), chat.Joining{Room: room, User: "owner"})
	_, read := s.Room(t.Context(), room)
	_, _, several := s.Members(t.Context(), room, "", 9)
	for _, err := range []error{write, single, read, several} {
		if !errors.Is(err, chat.ErrUnavailable) || errors.Is(err, pg.ErrPatience) {
			t.Errorf("after close: %v, want unavailable at once", err)
		}
	}
}

// TestCloseCommitsQueuedJobs closes a store while jobs wait in the queue. They are committed.
func TestCloseCommitsQueuedJobs(t *testing.T) {
	t.Parallel()
	database := migratedDatabase(t)
	s, other := openStore(t, database), openStore(t, database)
	createTestRoom(t, s)
	var wg sync.WaitGroup
	results := make([]error, 3)
	say := func(i int) { wg.Go(func() { _, _, results[i] = s.Append(t.Context(), textDraft(i)) }) }
	began, release := holdCommit(t, s)
	say(0)
	<-began
	say(1)
	say(2)
	awaitQueued(t, s.entries.Waiting, len(results)-1)
	wg.Go(func() { _ = s.Close() })
	for { // until Close has closed the committer: then it refuses a job at once
		refused := make(chan error, 1)
		go func() {
			refused <- s.entries.Do(context.WithoutCancel(t.Context()), &appendJob{draft: textDraft(1000)})
		}()
		select {
		case err := <-refused:
			if !errors.Is(err, chat.ErrUnavailable) {
				t.Fatalf("a job while the store closes: %v, want unavailable", err)
			}
		case <-time.After(50 * time.Millisecond):
			continue
		}
		break
	}
	release()
	wg.Wait()
	if err := errors.Join(results...); err != nil {
		t.Error(err)
	}
	if got := lastSeq(t, other); got < 3 {
		t.Errorf("last seq %d, want at least 3", got)
	}
}

func TestCancelledContextIsUnavailable(t *testing.T) {
	t.Parallel()
	s := storeWithRoom(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, write := s.Append(ctx, textDraft(1))
	_, _, single := s.PutUser(ctx, chat.Profile{User: chat.User{ID: "u"}}, 0)
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

// BenchmarkAppend measures appends by 200 concurrent senders to one room.
func BenchmarkAppend(b *testing.B) {
	const senders = 200
	s := storeWithRoom(b)
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range senders {
		wg.Go(func() {
			for n := i; n < b.N; n += senders {
				if _, _, err := s.Append(context.Background(), textDraft(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

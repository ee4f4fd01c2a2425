package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
)

const room = "room-1"

// storeWithRoom opens a store with one room and its owner.
func storeWithRoom(t testing.TB) *Store {
	t.Helper()
	s := openStore(t, migratedFolder(t))
	createTestRoom(t, s)
	return s
}

// createTestRoom creates one room with its owner.
func createTestRoom(t testing.TB, s *Store) {
	t.Helper()
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{
		ID: room, Name: "the room", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: time.Now(), MaxRooms: 1,
	})
	noError(t, err)
}

func text(n int) chat.Draft {
	return chat.Draft{
		ID: fmt.Sprint("entry-", n), Room: room, From: chat.User{ID: "owner"}, Kind: chat.KindText,
		Key: fmt.Sprint("key-", n), Hash: []byte("h"), Body: []byte(`{"text":"hello"}`), At: time.Now(),
	}
}

// shareCommit runs all jobs in one transaction, in order, and returns their errors. Another job keeps the committer
// busy until all are queued.
func shareCommit(t *testing.T, s *Store, jobs ...func(w *writer) error) []error {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.do(t.Context(), func(*writer) error { close(held); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	for i, run := range jobs {
		wg.Go(func() { errs[i] = s.do(t.Context(), run) })
		for len(s.jobs) <= i { // once a job is in the channel, do has queued it
			runtime.Gosched()
		}
	}
	close(release)
	wg.Wait()
	return errs
}

func lastSeq(t *testing.T, s *Store) int64 {
	t.Helper()
	r, err := s.Room(context.Background(), room)
	noError(t, err)
	return r.LastSeq
}

func appending(n int) func(w *writer) error {
	return func(w *writer) error { _, _, err := w.appendDraft(text(n)); return err }
}

// TestFailingJobIsRolledBackAlone runs three bad jobs among others in one batch: one fails after writing, one panics,
// one is refused by SQLite. Only these are rolled back.
func TestFailingJobIsRolledBackAlone(t *testing.T) {
	s := storeWithRoom(t)
	boom := errors.New("boom")
	errs := shareCommit(t, s,
		appending(1),
		func(w *writer) error { return errors.Join(appending(2)(w), boom) },
		appending(3),
		func(w *writer) error { _ = appending(4)(w); panic("boom") },
		func(w *writer) error { _, err := w.Exec(`insert into rooms (id) values ('half a room')`); return err },
		appending(5),
	)
	for i, fails := range []bool{false, true, false, true, true, false} {
		if (errs[i] != nil) != fails {
			t.Errorf("job %d: %v", i, errs[i])
		}
	}
	if got := lastSeq(t, s); got != 3 {
		t.Errorf("last seq %d, want 3 entries without gaps", got)
	}
	if _, dup, err := s.Append(t.Context(), text(2)); err != nil || dup {
		t.Errorf("the failed job again: dup %v, %v", dup, err)
	}
}

// TestFailedCommitIsUnavailable breaks the shared transaction. All its jobs must fail with chat.ErrUnavailable and
// change nothing. The next jobs must run on a new connection.
func TestFailedCommitIsUnavailable(t *testing.T) {
	for _, sabotage := range []string{"rollback", "release job"} {
		t.Run(sabotage, func(t *testing.T) {
			s := storeWithRoom(t)
			errs := shareCommit(t, s,
				appending(1),
				func(w *writer) error { _, err := w.Exec(sabotage); return err },
				appending(2),
			)
			for i, err := range errs {
				if !errors.Is(err, chat.ErrUnavailable) {
					t.Errorf("job %d: %v, want unavailable", i, err)
				}
			}
			if got := lastSeq(t, s); got != 0 {
				t.Errorf("last seq %d after the transaction was lost", got)
			}
			if e, dup, err := s.Append(t.Context(), text(1)); err != nil || dup || e.Seq != 1 {
				t.Errorf("afterwards: %+v, dup %v, %v", e, dup, err)
			}
		})
	}
}

// TestCloseAnswersQueuedJobs closes a store with queued jobs. All are answered, and later writes and reads are
// refused.
func TestCloseAnswersQueuedJobs(t *testing.T) {
	s := storeWithRoom(t)
	const callers = 50
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		wg.Go(func() { _, _, errs[i] = s.Append(t.Context(), text(i)) })
	}
	noError(t, s.Close())
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("queued while closing: %v", err)
		}
	}
	_, _, write := s.Append(t.Context(), text(callers))
	_, read := s.Room(t.Context(), room)
	_, several := s.Spans(t.Context(), []chat.Span{{Room: room, Through: 9}})
	for _, err := range []error{write, read, several} {
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("after closing: %v, want unavailable", err)
		}
	}
}

func TestCancelledContextIsUnavailable(t *testing.T) {
	s := storeWithRoom(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, write := s.Append(ctx, text(1))
	_, read := s.Room(ctx, room)
	if !errors.Is(write, chat.ErrUnavailable) || !errors.Is(read, chat.ErrUnavailable) {
		t.Errorf("write: %v, read: %v; want unavailable", write, read)
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
				if _, _, err := s.Append(context.Background(), text(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

package pgstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
)

// backends returns the process ids of n connections that are acquired at once.
func backends(t *testing.T, s *Store, n int) (pids []uint32) {
	t.Helper()
	for range n {
		conn, err := s.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		pids = append(pids, conn.Conn().PgConn().PID())
	}
	return pids
}

// TestCancelledReadLosesOnlyItsConnection cancels the context of a read. Only that connection is closed, and the
// breaker lets calls pass.
func TestCancelledReadLosesOnlyItsConnection(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, other := openStore(t, url), openStore(t, url)
	before := backends(t, s, 8)
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error)
	go func() {
		read <- s.withReader(ctx, func(r reader) error { return r.SendBatch(batchOf(`select pg_sleep(60)`)) })
	}()
	await(t, other, `select exists (select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')`)
	cancel()
	if err := <-read; err == nil {
		t.Error("the read was not cancelled")
	}
	for _, pid := range backends(t, s, 7) {
		if !slices.Contains(before, pid) {
			t.Errorf("session %d is new: a good connection was closed", pid)
		}
	}
	if err := s.pool.Err(); err != nil {
		t.Errorf("breaker open: %v", err)
	}
}

// TestCallersDeadlineDoesNotTripTheBreaker lets a caller's deadline end while a connection is being made. That must
// not trip the breaker.
func TestCallersDeadlineDoesNotTripTheBreaker(t *testing.T) {
	t.Parallel()
	proxy, url := startProxy(t, migratedDatabase(t))
	s := openStore(t, url)
	createTestRoom(t, s)
	proxy.Swallow(true)
	proxy.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Room(ctx, room); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	if err := s.pool.Err(); err != nil {
		t.Errorf("breaker open: %v", err)
	}
	proxy.Swallow(false)
	proxy.Cut()
	if _, err := s.Room(t.Context(), room); err != nil {
		t.Errorf("next call: %v", err)
	}
}

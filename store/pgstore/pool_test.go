package pgstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// backends gives the sessions of so many connections, lent at once.
func backends(t *testing.T, s *Store, n int) (pids []uint32) {
	t.Helper()
	for range n {
		conn, err := s.pool.lend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		pids = append(pids, conn.Conn().PgConn().PID())
	}
	return pids
}

// TestCancelledReadCostsItsOwnConnection at most: that the caller has gone says nothing about Postgres.
func TestCancelledReadCostsItsOwnConnection(t *testing.T) {
	url := storetest.Database(t)
	s, other := openStore(t, url), openStore(t, url)
	before := backends(t, s, 8)
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error)
	go func() {
		read <- s.look(ctx, func(r reader) error { return r.batch(batchOf(`select pg_sleep(60)`)) })
	}()
	await(t, other, `select exists (select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')`)
	cancel()
	if err := <-read; err == nil {
		t.Error("it was not cancelled")
	}
	for _, pid := range backends(t, s, 7) {
		if !slices.Contains(before, pid) {
			t.Errorf("session %d is new: a good connection was closed", pid)
		}
	}
	if err := s.pool.breaker.err(); err != nil {
		t.Errorf("others are told: %v", err)
	}
}

// TestCallersDeadlineIsHisOwn: who cannot wait for a connection to be made keeps nobody else from waiting.
func TestCallersDeadlineIsHisOwn(t *testing.T) {
	proxy, url := through(t, storetest.Database(t))
	s := openStore(t, url)
	furnish(t, s)
	proxy.Swallow(true)
	proxy.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Room(ctx, room); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	if err := s.pool.breaker.err(); err != nil {
		t.Errorf("others are told: %v", err)
	}
	proxy.Swallow(false)
	proxy.Cut()
	if _, err := s.Room(t.Context(), room); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestParseURL(t *testing.T) {
	for _, url := range []string{
		"postgres://u:secret@h/d?pool_max_conns=2", "postgres://u:secret@h/d?pool_max_conns=x", "postgres://u:secret@h:port/d",
	} {
		if _, err := parseURL(url); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, size := range map[string]int32{"postgres://u@h/d?application_name=x": 16, "postgres://u@h/d?pool_max_conns=7&application_name=x": 7} {
		c, err := parseURL(url)
		if err != nil || c.MaxConns != size || c.MinConns != 0 || len(c.ConnConfig.RuntimeParams) != 1 || c.ConnConfig.ConnectTimeout != connectTimeout {
			t.Errorf("%s: %+v, %v", url, c, err)
		}
	}
}

package loopback

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestSynchronousCommitWaits stops the standby: a commit then waits until the standby goes on.
func TestSynchronousCommitWaits(t *testing.T) {
	t.Parallel()
	primary, standby := startPairT(t)
	standby.Pause()
	t.Cleanup(standby.Resume)
	watch := connect(t, primary.URL("postgres"))
	done := inBackground(connect(t, primary.URL("postgres")), "create table kept (n int)")
	err := waitUntil(within(t, time.Minute), nil, func(ctx context.Context) error {
		var one int
		return watch.QueryRow(ctx, `select 1 from pg_stat_activity where wait_event = 'SyncRep'`).Scan(&one)
	})
	if err != nil || len(done) > 0 {
		t.Errorf("the commit does not wait for the standby: %v", err)
	}
	standby.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPausedPostgresAnswersNothing pauses a server with an open connection.
func TestPausedPostgresAnswersNothing(t *testing.T) {
	t.Parallel()
	p := startPostgresT(t)
	c := connect(t, p.URL("postgres"))
	p.Pause()
	t.Cleanup(p.Resume)
	done := inBackground(c, "select 1")
	mustWait(t, done)
	if !p.Running() {
		t.Error("a paused server does not count as running")
	}
	p.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if p.Kill(); p.Running() {
		t.Error("a killed server counts as running")
	}
}

// inBackground executes a statement on a connection that is open already, and returns its result.
func inBackground(c *pgx.Conn, statement string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(context.Background(), statement)
		done <- err
	}()
	return done
}

func mustWait(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Errorf("the statement was answered: %v", err)
	case <-time.After(50 * time.Millisecond): // an answer that comes too late for this fails other runs
	}
}

// startPairT starts a server whose commits wait for a standby.
func startPairT(t *testing.T) (primary, standby *Postgres) {
	t.Helper()
	primary = startPostgresT(t)
	standby = startStandbyT(t, primary)
	noError(t, primary.SetSynchronous(t.Context(), standby))
	return primary, standby
}

func startStandbyT(t *testing.T, primary *Postgres) *Postgres {
	t.Helper()
	p, err := primary.StartStandby(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(p.Stop)
	return p
}

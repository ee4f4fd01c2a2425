package loopback

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/store/enginetest"
)

func TestPostgresKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	p := startPostgresT(t)
	url := newDatabase(t, p)
	execute(t, url, "create table kept (n int)")
	execute(t, url, "insert into kept values (1)")

	busy := connect(t, url)
	asleep := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "insert into kept select 2 from pg_sleep(60)")
		asleep <- err
	}()
	awaitBackend(t, url, "pg_sleep")

	began := time.Now()
	p.Kill()
	if err := <-asleep; err == nil {
		t.Error("a statement outlived its server")
	}
	noError(t, p.Restart(t.Context()))
	t.Logf("killed and back after %v", time.Since(began))
	if n := count(t, url); n != 1 {
		t.Errorf("%d rows after kill", n)
	}
	if err := p.Restart(t.Context()); err != nil { // a restart while the server runs
		t.Fatal(err)
	}
	if n := count(t, url); n != 1 {
		t.Errorf("%d rows after restart", n)
	}
}

func TestPostgresStartsOnWhatAnEarlierOneLeft(t *testing.T) {
	t.Parallel()
	enginetest.Need(t, "Postgres")
	dir := t.TempDir()
	for run := range 2 {
		p, err := StartPostgres(t.Context(), dir)
		noError(t, err)
		t.Cleanup(p.Stop)
		execute(t, p.URL("postgres"), "create table if not exists kept (n int)")
		if n := count(t, p.URL("postgres")); n != run {
			t.Errorf("run %d finds %d rows", run, n)
		}
		execute(t, p.URL("postgres"), "insert into kept values (1)")
		p.Stop()
		p.Stop() // a second call has no effect
	}
}

func TestPostgresDatabasesAreApart(t *testing.T) {
	t.Parallel()
	p := startPostgresT(t)
	one, other := newDatabase(t, p), newDatabase(t, p)
	execute(t, one, "create table kept (n int)")
	execute(t, other, "create table kept (n int)")
	var fsync string
	if err := connect(t, one).QueryRow(t.Context(), "show fsync").Scan(&fsync); err != nil || fsync != "on" {
		t.Errorf("fsync is %q, %v", fsync, err)
	}
}

func TestUnreachableFolderIsNamed(t *testing.T) {
	as, err := unprivileged()
	noError(t, err)
	if as == nil {
		t.Skip("only root runs Postgres as another user")
	}
	private := filepath.Join(t.TempDir(), "private")
	noError(t, os.Mkdir(private, 0o700))
	if err := as.own(filepath.Join(private, "ours")); err != nil {
		t.Error("a temporary folder was not opened:", err)
	}
	t.Setenv("TMPDIR", private)
	noError(t, os.Chmod(private, 0o700))
	if err := as.own(filepath.Join(private, "theirs")); err == nil {
		t.Error("a folder that is not temporary was opened")
	}
}

func newDatabase(t *testing.T, p *Postgres) string {
	t.Helper()
	url, err := p.NewDatabase(t.Context())
	noError(t, err)
	return url
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	noError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, url string) (n int) {
	t.Helper()
	noError(t, connect(t, url).QueryRow(t.Context(), "select count(*) from kept").Scan(&n))
	return n
}

// awaitBackend waits until another session executes the statement.
func awaitBackend(t *testing.T, url, statement string) {
	t.Helper()
	c := connect(t, url)
	err := waitUntil(within(t, time.Minute), nil, func(ctx context.Context) error {
		var one int
		return c.QueryRow(ctx, `select 1 from pg_stat_activity
			where state = 'active' and pid <> pg_backend_pid() and query like '%' || $1 || '%'`, statement).Scan(&one)
	})
	noError(t, err)
}

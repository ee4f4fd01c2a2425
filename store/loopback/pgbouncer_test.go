package loopback

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPgBouncerLeadsToTheDatabase(t *testing.T) {
	t.Parallel()
	p := startPostgresT(t)
	b, err := StartPgBouncer(t.Context(), t.TempDir(), p, "postgres")
	noError(t, err)
	t.Cleanup(b.Stop)
	url := newDatabase(t, p)
	execute(t, url, "create table kept (n int)")
	config, err := pgx.ParseConfig(url)
	noError(t, err)
	for _, through := range []string{b.URL(url), b.URL(config.Database)} {
		execute(t, through, "insert into kept values (1)")
	}
	if n := count(t, url); n != 2 {
		t.Errorf("%d rows", n)
	}

	// Clients that are between two transactions hold no session of the server, so many can share few sessions.
	for range 30 {
		noError(t, connect(t, b.URL(url)).PgConn().Exec(within(t, time.Minute), "select 1").Close())
	}
	var sessions int
	err = connect(t, url).QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = $1", config.Database).Scan(&sessions)
	if err != nil || sessions > 25 {
		t.Errorf("30 idle clients hold %d sessions, %v", sessions, err)
	}
	noError(t, p.Restart(t.Context()))
	noError(t, waitUntil(t.Context(), b.current(), b.serves))
	if n := count(t, b.URL(url)); n != 2 {
		t.Errorf("%d rows after the server's restart", n)
	}
}

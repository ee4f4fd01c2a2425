package pgstore

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"

	"github.com/jackc/pgx/v5"
)

// migrationWatch logs which sessions a migration waits for. It ends those of audits in the background, which hold locks for up
// to an hour. Otherwise the migration would be tried again and again for that hour, and each try stalls its tables. Such an
// audit begins again later.
type migrationWatch struct {
	pool   *pg.Pool
	log    *slog.Logger
	logged time.Time // when it has last logged what a migration waits for
}

const (
	watchEvery   = 100 * time.Millisecond
	watchTimeout = time.Second
	logWaitEvery = 10 * time.Second
)

// begin begins the transaction of a migration, and watches it until stop is called. It waits until the migrations of
// other instances have ended.
func (m *migrationWatch) begin(ctx context.Context, conn *pgx.Conn) (stop func(), err error) {
	if err := simple(ctx, conn, beginMigrating); err != nil {
		return nil, err
	}
	var pid uint32 // the connection's own number is not that of Postgres behind PgBouncer
	if err := conn.QueryRow(ctx, `select pg_backend_pid()`).Scan(&pid); err != nil {
		return nil, err
	}
	stop = m.watch(ctx, pid)
	if err := simple(ctx, conn, fmt.Sprintf(lockMigration, migrationLock)); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func (m *migrationWatch) watch(ctx context.Context, pid uint32) (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-time.After(watchEvery):
				if err := m.look(ctx, pid); err != nil {
					m.log.Debug("what a migration waits for is unknown", "err", err)
				}
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		watching.Wait()
	}
}

// blocker is a session that a migration waits for.
type blocker struct {
	pid               uint32
	application, user string
}

// look ends the audits in the background that the session waits for, and logs the other sessions that it waits for.
func (m *migrationWatch) look(ctx context.Context, pid uint32) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	pooled, err := m.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	blockers, err := tables.List(reader{ctx: ctx, conn: pooled.Conn()}, func(rs tables.Row) (b blocker, err error) {
		return b, rs.Scan(&b.pid, &b.application, &b.user)
	}, `select b.pid, coalesce(a.application_name, ''), coalesce(a.usename, '')
		from unnest(pg_blocking_pids($1)) b (pid) left join pg_stat_activity a on a.pid = b.pid`, pid)
	if err != nil {
		return err
	}
	var others []string
	for _, b := range blockers {
		other := fmt.Sprintf("%q of user %s, process %d", b.application, b.user, b.pid)
		if b.application == backgroundAudit {
			_, err := pooled.Exec(ctx, `select pg_terminate_backend($1)`, b.pid)
			if err == nil {
				m.log.Info("audit in the background ended for a migration", "process", b.pid)
				continue
			}
			other += ", which cannot be ended: " + err.Error()
		}
		others = append(others, other)
	}
	if len(others) > 0 && time.Since(m.logged) >= logWaitEvery {
		m.logged = time.Now()
		m.log.Warn("migration waits for other sessions", "sessions", strings.Join(others, "; "))
	}
	return nil
}

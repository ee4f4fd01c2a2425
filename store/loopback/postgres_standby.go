package loopback

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// StartStandby starts an asynchronous standby of the server. The data of the standby is in the folder. Until Promote, the
// standby answers only reads.
func (p *Postgres) StartStandby(ctx context.Context, dir string) (*Postgres, error) {
	return startPostgres(ctx, p.clock, dir, "pg_basebackup", func(begun string) []string {
		return append(p.backupArgs(begun), "--write-recovery-conf")
	})
}

// Backup copies the server's databases, as they are now, into the folder, unless the folder has data already. StartPostgres can
// start a server there. That server has the same system identifier, timeline and databases as this one. So clients can tell
// the two servers apart only by their addresses.
func (p *Postgres) Backup(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		_, err = createData(ctx, dir, p.as, "pg_basebackup", p.backupArgs)
	}
	return err
}

func (p *Postgres) backupArgs(begun string) []string {
	return []string{
		"-D", begun, "-h", "127.0.0.1", "-p", strconv.Itoa(p.port.number), "-U", "postgres", "--checkpoint=fast", "--wal-method=stream", "--no-sync",
	}
}

// CatchUp waits until the standby has all that the primary had committed at the time of the call.
func (p *Postgres) CatchUp(ctx context.Context, primary *Postgres) error {
	var written string
	if err := primary.queryRow(ctx, "select pg_current_wal_flush_lsn()::text", &written); err != nil {
		return err
	}
	return waitUntil(ctx, p.current(), func(ctx context.Context) error {
		var there bool
		err := p.queryRow(ctx, "select coalesce(pg_last_wal_replay_lsn() >= '"+written+"', false)", &there)
		if err == nil && !there {
			err = errors.New("the standby lags behind")
		}
		return err
	})
}

// Detach makes the standby receive nothing more from its primary, so that it lacks what the primary commits from now
// on.
func (p *Postgres) Detach(ctx context.Context) error {
	if err := p.exec(ctx, "alter system set primary_conninfo = ''"); err != nil {
		return err
	}
	if err := p.exec(ctx, "select pg_reload_conf()"); err != nil {
		return err
	}
	return waitUntil(ctx, p.current(), func(ctx context.Context) error {
		var receivers int
		err := p.queryRow(ctx, "select count(*) from pg_stat_wal_receiver", &receivers)
		if err == nil && receivers > 0 {
			err = errors.New("the standby still receives")
		}
		return err
	})
}

// Promote makes the standby a primary, on a timeline of its own.
func (p *Postgres) Promote(ctx context.Context) error {
	var promoted bool
	if err := p.queryRow(ctx, "select pg_promote(true, 60)", &promoted); err != nil {
		return err
	}
	if !promoted {
		return fmt.Errorf("standby at %s not promoted within 60 s", p.Addr())
	}
	return nil
}

func (p *Postgres) exec(ctx context.Context, statement string) error {
	return run(ctx, p.URL("postgres"), statement)
}

func (p *Postgres) queryRow(ctx context.Context, query string, dest any) error {
	c, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the result is known already
	return c.QueryRow(ctx, query).Scan(dest)
}

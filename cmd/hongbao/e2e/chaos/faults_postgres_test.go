package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/loopback"
)

func killPostgres(ctx context.Context, w *world, dice *rand.Rand) error {
	server := w.postgres.current()
	server.Kill()
	_ = pause(ctx, between(dice, 50*time.Millisecond, 4*time.Second)) // it is started in any case
	return server.Restart(context.WithoutCancel(ctx))
}

func pausePostgres(ctx context.Context, w *world, dice *rand.Rand) error {
	server := w.postgres.current()
	server.Pause()
	defer server.Resume()
	return pause(ctx, between(dice, time.Second, 7*time.Second))
}

// promote kills the primary and promotes the synchronous standby, which lacks nothing.
func promote(ctx context.Context, w *world, _ *rand.Rand) error {
	standby := w.postgres.sync
	if err := w.postgres.succeed(ctx, func() (*loopback.Postgres, error) { return standby, standby.Promote(ctx) }); err != nil {
		return err
	}
	return w.follow(ctx)
}

// follow leads the instances to a new primary, and starts its standbys.
func (w *world) follow(ctx context.Context) error {
	w.leadToPostgres(w.postgres.addr())
	return w.postgres.renew(ctx)
}

// leadToPostgres makes the instances use another server.
func (w *world) leadToPostgres(addr string) {
	for _, i := range w.instances {
		i.toPostgres.Retarget(addr)
		i.toPostgres.Cut()
	}
}

// promoteAsync kills the primary and promotes the asynchronous standby. Mostly it has received nothing for a while.
func promoteAsync(ctx context.Context, w *world, dice *rand.Rand) error {
	standby := w.postgres.async
	w.record.beginLoss()
	if err := standby.CatchUp(ctx, w.postgres.current()); err != nil {
		return err
	}
	if dice.IntN(4) > 0 {
		if err := standby.Detach(ctx); err != nil {
			return err
		}
	}
	_ = pause(ctx, between(dice, 100*time.Millisecond, 4*time.Second)) // the primary is replaced in any case
	ctx = context.WithoutCancel(ctx)
	err := w.postgres.succeed(ctx, func() (*loopback.Postgres, error) {
		w.record.endLoss()
		return standby, standby.Promote(ctx)
	})
	if err == nil && w.mayDie { // an instance that dies takes its newest commits with it
		err = w.tellRestored()
	}
	if err != nil {
		return err
	}
	return w.follow(ctx)
}

// restoreBackup puts Postgres back to what it had some seconds before, and runs `hongbao restored`, as an operator does. The servers
// cannot see that another server answers: the backup is a copy of the files.
func restoreBackup(ctx context.Context, w *world, dice *rand.Rand) error {
	w.record.beginLoss()
	disk, err := w.postgres.backup(ctx)
	if err != nil {
		return err
	}
	_ = pause(ctx, between(dice, 100*time.Millisecond, 4*time.Second)) // the primary is replaced in any case
	ctx = context.WithoutCancel(ctx)
	err = w.postgres.succeed(ctx, func() (*loopback.Postgres, error) {
		w.record.endLoss()
		return w.postgres.startOn(ctx, disk, w.postgres.clock.StartPostgres)
	})
	if err == nil {
		err = w.tellRestored()
	}
	if err != nil {
		return err
	}
	return w.follow(ctx)
}

// tellRestored runs `hongbao restored`.
func (w *world) tellRestored() error {
	cmd := exec.Command(w.binary, "restored", "--database-url", w.postgres.current().URL(w.postgres.database))
	cmd.Env = e2e.BareEnvironment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hongbao restored: %w\n%s", err, out)
	}
	return nil
}

// killStandby kills the standby for which commits wait.
func killStandby(ctx context.Context, w *world, dice *rand.Rand) error {
	w.postgres.sync.Kill()
	_ = pause(ctx, between(dice, 50*time.Millisecond, 4*time.Second)) // it is started in any case
	return w.postgres.sync.Restart(context.WithoutCancel(ctx))
}

func pauseStandby(ctx context.Context, w *world, dice *rand.Rand) error {
	w.postgres.sync.Pause()
	defer w.postgres.sync.Resume()
	return pause(ctx, between(dice, time.Second, 7*time.Second))
}

// fillDisk leaves Postgres no space. If it ends by itself, it is started again once there is space.
func fillDisk(ctx context.Context, w *world, dice *rand.Rand) error {
	free, err := w.postgres.fillDisk()
	if err != nil {
		return err
	}
	// Only a checkpoint or a full segment of WAL needs new space.
	switches := w.postgres.execute(ctx, "postgres", "select pg_switch_wal()")
	err = pause(ctx, between(dice, 2*time.Second, 5*time.Second))
	free()
	_ = switches // it fails if the disk is full in time
	return errors.Join(err, keepRunning(context.WithoutCancel(ctx), w.postgres.current()))
}

// keepRunning starts a server again that ends by itself, until it has run for two seconds. A server that restarts itself at the
// moment when its disk gets space may end more than once.
func keepRunning(ctx context.Context, server *loopback.Postgres) (err error) {
	for end, tries := time.Now().Add(2*time.Second), 0; time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if server.Running() {
			continue
		}
		if err = server.Restart(ctx); err != nil && tries == 4 {
			return err
		}
		end, tries = time.Now().Add(2*time.Second), tries+1
	}
	return nil
}

// lockRows holds locks on the rows that many transactions need.
func lockRows(ctx context.Context, w *world, dice *rand.Rand) error {
	one := w.users[dice.IntN(len(w.users))].id
	wallet, packets := "user_id = '"+one+"'", "status = 'open'"
	if w.postgres.citus != nil { // which locks rows of one bucket only
		wallet += " and bucket = bucket_of('" + one + "')"
		packets += fmt.Sprint(" and bucket = ", dice.IntN(16))
	}
	return w.hold(ctx, dice, []string{
		"select 1 from wallets where " + wallet + " for update",
		"select 1 from packets where " + packets + " for update",
		"select 1 from rooms where id = '" + w.rooms[dice.IntN(len(w.rooms))] + "' for update",
		"select 1 from users where id = '" + one + "' for update",
	}[dice.IntN(4)])
}

// lockTable holds a lock on a whole table.
func lockTable(ctx context.Context, w *world, dice *rand.Rand) error {
	table := []string{"claims", "entries", "packets", "wallets", "transfers", "requests"}[dice.IntN(6)]
	return w.hold(ctx, dice, "lock table "+table+" in access exclusive mode")
}

// hold runs a statement in a transaction that stays open for a while. Another fault may end it before.
func (w *world) hold(ctx context.Context, dice *rand.Rand, statement string) error {
	length := between(dice, time.Second, 5*time.Second)
	c, err := w.postgres.connect(ctx, w.postgres.database)
	if err != nil {
		return pause(ctx, length)
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, "begin", pgx.QueryExecModeSimpleProtocol); err == nil {
		_, _ = c.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	}
	return pause(ctx, length)
}

// poisonRows makes every write to some rows of one user fail.
func poisonRows(ctx context.Context, w *world, dice *rand.Rand) error {
	table, column := "claims", "user_id"
	switch dice.IntN(4) {
	case 0:
		table = "wallets"
	case 1:
		table, column = "entries", "sender"
	case 2:
		table, column = "packets", "sender"
	}
	user := w.users[dice.IntN(len(w.users))].id
	poison := fmt.Sprintf(`
		create or replace function poison() returns trigger language plpgsql as $$ begin raise exception 'poisoned row of %s'; end $$;
		create or replace trigger poison before insert or update on %s for each row when (new.%s = '%s') execute function poison()`,
		user, table, column, user)
	if err := w.postgres.executeAtLast(ctx, poison); err != nil {
		return err
	}
	err := pause(ctx, between(dice, time.Second, 5*time.Second))
	return errors.Join(err, w.heal(ctx))
}

// heal removes what poisonRows has done.
func (w *world) heal(ctx context.Context) error {
	return w.postgres.executeAtLast(context.WithoutCancel(ctx), `drop trigger if exists poison on claims; drop trigger if exists poison on wallets;
		drop trigger if exists poison on entries; drop trigger if exists poison on packets`)
}

// endSessions ends three sessions of the instances, chosen at random, every 200 ms for some seconds.
func endSessions(ctx context.Context, w *world, dice *rand.Rand) error {
	c, err := pgx.Connect(ctx, w.postgres.current().URL(w.postgres.database))
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	for until := time.Now().Add(between(dice, time.Second, 5*time.Second)); time.Now().Before(until); {
		if _, err := c.Exec(ctx, `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
			where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 3) s`); err != nil {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
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

// promote kills the primary and promotes the synchronous standby. Then new standbys follow.
func promote(ctx context.Context, w *world, _ *rand.Rand) error {
	if err := w.postgres.promote(ctx); err != nil {
		return err
	}
	for _, i := range w.instances {
		i.toPostgres.Retarget(w.postgres.addr())
		i.toPostgres.Cut()
	}
	return w.postgres.renew(ctx)
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
	server := w.postgres.current()
	for range 20 { // it may be about to end
		if !server.Running() {
			return errors.Join(err, server.Restart(context.WithoutCancel(ctx)))
		}
		_ = pause(ctx, 100*time.Millisecond) // the next try returns the error
	}
	return err
}

// lockRows holds locks on the rows that many transactions need.
func lockRows(ctx context.Context, w *world, dice *rand.Rand) error {
	one := w.users[dice.IntN(len(w.users))].id
	return w.hold(ctx, dice, []string{
		"select 1 from wallets where user_id = '" + one + "' for update",
		"select 1 from packets where status = 'open' for update",
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
	heal := w.postgres.executeAtLast(context.WithoutCancel(ctx), "drop trigger if exists poison on "+table)
	return errors.Join(err, heal)
}

package main

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/cmd/hongbao-bench/schemes"
)

// singleMessageTables is a chat with one transaction a message: as narrow as possible, with the same keys as ours.
const singleMessageTables = `
	create table room (id text primary key, last_seq bigint not null);
	insert into room values ('hall', 0);
	create table entry (room text, seq bigint, sender text not null, key text not null, body text not null, at timestamptz not null default now(),
		primary key (room, seq), unique (sender, key))`

func singleMessageSide(ctx context.Context, e *engines, db *schemes.Database) (measure.Side, error) {
	if err := db.Exec(ctx, singleMessageTables); err != nil {
		return measure.Side{}, err
	}
	last := int64(0)
	return measure.Side{Name: "one transaction a message", Ready: func(_ context.Context, round int) (measure.Play, error) {
		log := newSeqLog(last)
		return func(ctx context.Context) (measure.Round, error) {
			played, err := e.crowd(messageCallers).Call(ctx, func(ctx context.Context, i int) (bool, error) {
				if i >= mostMessages {
					return false, nil
				}
				seq, err := sendSingly(ctx, db, "u"+strconv.Itoa(i%messageCallers), messageKey(round, i))
				if err != nil {
					return true, err
				}
				return true, log.note(seq)
			})
			if err != nil {
				return played, err
			}
			err = db.With(ctx, func(c *pgx.Conn) error {
				return c.QueryRow(ctx, `select max(seq) from entry where room = 'hall'`).Scan(&last)
			})
			if err != nil {
				return played, err
			}
			return played, log.check(played.Done, last)
		}, nil
	}}, nil
}

func sendSingly(ctx context.Context, db *schemes.Database, sender, key string) (seq int64, err error) {
	err = db.Transact(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `select last_seq + 1 from room where id = 'hall' for update`).Scan(&seq); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `insert into entry (room, seq, sender, key, body) values ('hall', $1, $2, $3, $4)`, seq, sender, key, aText); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update room set last_seq = $1 where id = 'hall'`, seq)
		return err
	})
	return seq, err
}

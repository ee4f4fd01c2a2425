package pgstore

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
)

// queueCredit adds to wallets, of users sorted and each once, and makes those that are not there.
func queueCredit(b *pgx.Batch, users []string, amounts []redpacket.Money) *pgx.QueuedQuery {
	return b.Queue(`insert into wallets (user_id, balance)
		select user_id, amount from unnest($1::text[], $2::bigint[]) i (user_id, amount) order by user_id collate "C"
		on conflict (user_id) do update set balance = wallets.balance + excluded.balance`, users, amounts)
}

// queueDebit takes from a wallet what is in it and gives what is left. If it is not in it, there is no row.
func queueDebit(b *pgx.Batch, user string, amount redpacket.Money) *pgx.QueuedQuery {
	return b.Queue(`update wallets set balance = balance - $2 where user_id = $1 and balance >= $2 returning balance`, user, amount)
}

// affected notes how many rows a queued statement has changed.
func affected(n *int64) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		*n = tag.RowsAffected()
		return nil
	}
}

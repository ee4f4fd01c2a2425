package pgstore

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
)

// queueCredit adds amounts to wallets and creates missing wallets. The users must be sorted and unique.
func queueCredit(b *pgx.Batch, users []string, amounts []redpacket.Money) *pgx.QueuedQuery {
	return b.Queue(`insert into wallets (user_id, balance, version)
		select user_id, amount, 1 from unnest($1::text[], $2::bigint[]) i (user_id, amount) order by user_id collate "C"
		on conflict (user_id) do update set balance = wallets.balance + excluded.balance, version = wallets.version + 1`, users, amounts)
}

// queueDebit makes the batch take the amount from a wallet. sends is how many packets it pays for. The query returns
// the new balance and version, or no row if the wallet holds less.
func queueDebit(b *pgx.Batch, user string, amount redpacket.Money, sends int) *pgx.QueuedQuery {
	return b.Queue(`update wallets set balance = balance - $2, version = version + 1, sends = sends + $3
		where user_id = $1 and balance >= $2 returning balance, version`, user, amount, sends)
}

// affected returns a callback that stores in n how many rows a queued statement has changed.
func affected(n *int64) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		*n = tag.RowsAffected()
		return nil
	}
}

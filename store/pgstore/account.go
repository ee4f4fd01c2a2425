package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// Account implements redpacket.Ledger. Only the first time it has anything to write.
func (s *Store) Account(ctx context.Context, user string) (acc redpacket.Account, err error) {
	drawn := false
	err = s.look(ctx, func(r reader) error {
		acc, drawn, err = readAccount(r, user)
		return err
	})
	if err != nil || drawn {
		return acc, outcome("read account", err)
	}
	err = s.tx(ctx, func(w *writer) error {
		acc, err = w.account(user)
		return err
	})
	return acc, outcome("open account", err)
}

// readAccount reads what there is of an account; drawn is false while the user has no seed yet.
func readAccount(q querier, user string) (acc redpacket.Account, drawn bool, err error) {
	var seed redpacket.Seed
	_, err = q.row(`select coalesce(w.balance, 0), u.next_seed
		from users u left join wallets w on w.user_id = u.id where u.id = $1`,
		[]any{user}, &acc.Balance, storedSeed{&seed, &drawn})
	if drawn {
		acc.NextCommitment = redpacket.Commitment(seed)
	}
	return acc, drawn, err
}

// account reads the user's account, and makes him known and draws his first seed if need be.
func (w *writer) account(user string) (redpacket.Account, error) {
	all, err := w.accounts([]string{user})
	return all[user], err
}

// accounts does the same for several users, sorted and each once. Whoever changes their wallets asks for the seeds
// before: a user's row is locked before his wallet.
func (w *writer) accounts(users []string) (all map[string]redpacket.Account, err error) {
	var b pgx.Batch
	queueSeeds(&b, users)
	queueAccounts(&b, users, &all)
	return all, w.batch(&b)
}

// firstSeeds draws a seed for everyone who has none yet. What others draw at the same time stays.
const firstSeeds = `
insert into users (id, next_seed)
select i.id, i.seed from unnest($1::text[], $2::bytea[]) i (id, seed)
where (select u.next_seed from users u where u.id = i.id) is null order by i.id collate "C"
on conflict (id) do update set next_seed = excluded.next_seed where users.next_seed is null`

// queueSeeds makes sure that the users, sorted and each once, are known and have a seed.
func queueSeeds(b *pgx.Batch, users []string) {
	seeds := make([][]byte, len(users))
	for i := range users {
		seed := redpacket.NewSeed()
		seeds[i] = seed[:]
	}
	b.Queue(firstSeeds, users, seeds)
}

// readAccounts looks each user up, whatever the planner thinks of the tables.
const readAccounts = `select id, coalesce((select balance from wallets where user_id = id), 0), (select u.next_seed from users u where u.id = i.id)
	from unnest($1::text[]) i (id)`

// queueAccounts has the batch read the accounts of users who have a seed.
func queueAccounts(b *pgx.Batch, users []string, all *map[string]redpacket.Account) {
	b.Queue(readAccounts, users).Query(func(rs pgx.Rows) error {
		*all = make(map[string]redpacket.Account, len(users))
		return scanAccounts(rs, *all)
	})
}

// scanAccounts reads user, balance and seed of each row, which may begin with others.
func scanAccounts(rs pgx.Rows, all map[string]redpacket.Account, first ...any) error {
	defer rs.Close()
	for rs.Next() {
		var (
			user  string
			acc   redpacket.Account
			seed  redpacket.Seed
			drawn bool
		)
		if err := rs.Scan(append(first, &user, &acc.Balance, storedSeed{&seed, &drawn})...); err != nil {
			return err
		}
		if !drawn { // somebody has put the database back
			return errAgain
		}
		acc.NextCommitment = redpacket.Commitment(seed)
		all[user] = acc
	}
	return rs.Err()
}

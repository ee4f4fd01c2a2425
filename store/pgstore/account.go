package pgstore

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/redpacket"
)

// Account implements redpacket.Ledger. It writes only if the user has no seed yet: then it draws the first one.
func (s *Store) Account(ctx context.Context, user string) (acc redpacket.Account, err error) {
	drawn := false
	err = s.withReader(ctx, func(r reader) error {
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

// readAccount reads the stored account of a user. drawn = false means that no seed has been drawn for the user yet.
func readAccount(q querier, user string) (acc redpacket.Account, drawn bool, err error) {
	var seed redpacket.Seed
	_, err = q.row(`select coalesce(w.balance, 0), coalesce(w.version, 0), u.next_seed
		from users u left join wallets w on w.user_id = u.id where u.id = $1`,
		[]any{user}, &acc.Balance, &acc.Version, storedSeed{&seed, &drawn})
	if drawn {
		acc.NextCommitment = redpacket.Commitment(seed)
	}
	return acc, drawn, err
}

// account reads the user's account. If there is no such user or no seed, it creates them first.
func (w *writer) account(user string) (redpacket.Account, error) {
	all, err := w.accounts([]string{user})
	return all[user], err
}

// accounts does the same as account for several users, which must be sorted and unique. A transaction that changes
// their wallets calls it first, because a user's row must be locked before the user's wallet.
func (w *writer) accounts(users []string) (all map[string]redpacket.Account, err error) {
	var b pgx.Batch
	queueSeeds(&b, users)
	queueAccounts(&b, users, &all)
	return all, w.sendBatch(&b)
}

// firstSeeds draws a seed for each of the users that has none. If another transaction draws one at the same time,
// that stays.
const firstSeeds = `
insert into users (id, next_seed)
select i.id, i.seed from unnest($1::text[], $2::bytea[]) i (id, seed)
where (select u.next_seed from users u where u.id = i.id) is null order by i.id collate "C"
on conflict (id) do update set next_seed = excluded.next_seed where users.next_seed is null`

// queueSeeds creates the users that are missing and draws their first seeds. The users must be sorted and unique.
func queueSeeds(b *pgx.Batch, users []string) {
	b.Queue(firstSeeds, users, newSeeds(len(users)))
}

func newSeeds(n int) [][]byte {
	seeds := make([][]byte, n)
	for i := range seeds {
		seed := redpacket.NewSeed()
		seeds[i] = seed[:]
	}
	return seeds
}

// readAccounts is written so that Postgres looks up each user by the index, whatever its statistics of the tables
// say.
const readAccounts = `select id, coalesce(w.balance, 0), coalesce(w.version, 0), (select u.next_seed from users u where u.id = i.id)
	from unnest($1::text[]) i (id) left join lateral (select balance, version from wallets where user_id = i.id offset 0) w on true`

// queueAccounts makes the batch read the accounts of users that have a seed. The transaction must have locked their
// wallets by changing them. So none of the users can send a packet meanwhile, and seeds and balances belong together.
func queueAccounts(b *pgx.Batch, users []string, all *map[string]redpacket.Account) {
	b.Queue(readAccounts, users).Query(func(rs pgx.Rows) error {
		*all = make(map[string]redpacket.Account, len(users))
		return scanAccounts(rs, *all)
	})
}

// readAccountsInto reads the accounts of users that have a seed, and adds them to the map.
func readAccountsInto(q querier, all map[string]redpacket.Account, users []string) error {
	if len(users) == 0 {
		return nil
	}
	rs, err := q.query(readAccounts, users)
	if err != nil {
		return err
	}
	if err := scanAccounts(rs, all); err != nil {
		return err
	}
	for _, user := range users {
		if all[user].NextCommitment == "" { // no seed, because the database was restored to an older state
			return errRetry
		}
	}
	return nil
}

// scanAccounts reads user, balance, version and seed of each row. The destinations in first take the columns before
// them. An account without a seed gets no commitment.
func scanAccounts(rs pgx.Rows, all map[string]redpacket.Account, first ...any) error {
	defer rs.Close()
	for rs.Next() {
		var (
			user  string
			acc   redpacket.Account
			seed  redpacket.Seed
			drawn bool
		)
		if err := rs.Scan(append(first, &user, &acc.Balance, &acc.Version, storedSeed{&seed, &drawn})...); err != nil {
			return err
		}
		if drawn {
			acc.NextCommitment = redpacket.Commitment(seed)
		}
		all[user] = acc
	}
	return rs.Err()
}

// seeded caches which users have a seed: a user that has one keeps having one. Most users that are paid are in the
// cache, so no query is needed for their seeds. The zero value is ready.
type seeded struct {
	mu    sync.Mutex
	users map[string]struct{}
}

// maxSeeded bounds the cache to a few megabytes.
const maxSeeded = 1 << 16

// unknown returns those of the users that are not in the cache, in the given order.
func (s *seeded) unknown(users []string) (others []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, user := range users {
		if _, ok := s.users[user]; !ok {
			others = append(others, user)
		}
	}
	return others
}

// add adds users whose seeds are committed.
func (s *seeded) add(users []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil || len(s.users)+len(users) > maxSeeded {
		s.users = make(map[string]struct{}, len(users))
	}
	for _, user := range users {
		s.users[user] = struct{}{}
	}
}

// forget clears the cache after a failed transaction, because the database may have lost seeds.
func (s *seeded) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = nil
}

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

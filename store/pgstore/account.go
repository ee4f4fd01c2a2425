package pgstore

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Account implements redpacket.Ledger. It writes only if the user has no seed yet: then it draws the first one, and
// creates an unknown user.
func (s *Store) Account(ctx context.Context, user string) (acc redpacket.Account, err error) {
	drawn := false
	err = s.withReader(ctx, func(r reader) error {
		acc, drawn, err = readAccount(r, user)
		return err
	})
	if err != nil || drawn {
		return acc, tables.Outcome("read account", err)
	}
	err = s.tx(ctx, func(w *writer) error {
		acc, err = w.account(user)
		return err
	})
	return acc, tables.Outcome("open account", err)
}

// readAccount reads the stored account of a user. drawn = false means that no seed has been drawn for the user yet or,
// on Citus, that seed and balance do not belong together (see readAccounts). The account then has no commitment.
func readAccount(q tables.Querier, user string) (acc redpacket.Account, drawn bool, err error) {
	var stored []byte
	if _, err = q.Row(`/*! with w as materialized (select balance, version, sends from wallets where bucket = bucket_of($1) and user_id = $1)
		select coalesce(w.balance, 0), coalesce(w.version, 0), case when u.sends = coalesce(w.sends, 0) then u.next_seed end
		from users u left join w on true where u.id = $1 */
		/*one*/ select coalesce(w.balance, 0), coalesce(w.version, 0), u.next_seed
		from users u left join wallets w on w.user_id = u.id where u.id = $1 /*end*/`,
		[]any{user}, &acc.Balance, &acc.Version, &stored); err != nil {
		return redpacket.Account{}, false, err
	}
	seed, drawn, err := q.Keys().NextSeed(user, stored)
	if drawn {
		acc.NextCommitment = redpacket.Commitment(seed)
	}
	return acc, drawn, err
}

// account reads the user's account. It first creates an unknown user, and draws the first seed if there is none.
func (w *writer) account(user string) (redpacket.Account, error) {
	all, err := w.accounts([]string{user})
	return all[user], err
}

// accounts does the same as account for several users, which must be sorted and unique.
func (w *writer) accounts(users []string) (all map[string]redpacket.Account, err error) {
	var b pgx.Batch
	w.queueSeeds(&b, users)
	w.queueAccounts(&b, users, &all)
	if err := w.SendBatch(&b); err != nil {
		return nil, err
	}
	return all, allSeeded(all, users)
}

// firstSeeds stores the seeds $2 for those of the users $1 that have none, and creates unknown users. If another
// transaction stores one at the same time, that stays.
const firstSeeds = `
insert into users (id, next_seed)
select i.id, i.seed from unnest($1::text[], $2::bytea[]) i (id, seed)
where (select u.next_seed from users u where u.id = i.id) is null order by i.id collate "C"
on conflict (id) do update set next_seed = excluded.next_seed where users.next_seed is null`

// queueSeeds makes the batch create the users that are missing, and store first seeds of the users that have none. The users
// must be sorted and unique. In a transaction that also changes wallets it must come before that change, because rows of users
// are locked before those of wallets.
func (w *writer) queueSeeds(b *pgx.Batch, users []string) {
	b.Queue(firstSeeds, users, newSeeds(w.DataKeys, users))
}

// newSeeds draws a seed for each user, and returns them as they are stored.
func newSeeds(keys *secret.Keys, users []string) [][]byte {
	seeds := make([][]byte, len(users))
	for i, user := range users {
		seeds[i] = keys.EncryptNextSeed(user, redpacket.NewSeed())
	}
	return seeds
}

// readAccounts is written so that Postgres looks up each user by the index, whatever its statistics of the tables
// say. On Citus a seed and a balance belong together only if both count the same sends. Otherwise the seed is null.
const readAccounts = `/*! with w as materialized (
		select user_id, balance, version, sends from wallets where bucket = any(buckets_of($1::text[])) and user_id = any($1::text[]))
	select i.id, coalesce(w.balance, 0), coalesce(w.version, 0), case when coalesce(u.sends, 0) = coalesce(w.sends, 0) then u.next_seed end
	from unnest($1::text[]) i (id) left join w on w.user_id = i.id left join users u on u.id = i.id */
	/*one*/ select id, coalesce(w.balance, 0), coalesce(w.version, 0), (select u.next_seed from users u where u.id = i.id)
	from unnest($1::text[]) i (id) left join lateral (select balance, version from wallets where user_id = i.id offset 0) w on true /*end*/`

// queueAccounts makes the batch read the accounts of users that have a seed. One statement reads the seed and the balance of
// a user, so they belong together; on Citus see readAccounts. A transaction that changes wallets must queue it after the change.
func (w *writer) queueAccounts(b *pgx.Batch, users []string, all *map[string]redpacket.Account) {
	b.Queue(readAccounts, users).Query(func(rs pgx.Rows) error {
		*all = make(map[string]redpacket.Account, len(users))
		return pg.Each(rs, scanAccount(w.DataKeys, *all))
	})
}

// readAccountsInto reads the accounts of users that have a seed, and adds them to the map. If it finds no seed for one
// of them, it returns tables.ErrRetry.
func readAccountsInto(q tables.Querier, all map[string]redpacket.Account, users []string) error {
	if len(users) == 0 {
		return nil
	}
	if err := q.Each(scanAccount(q.Keys(), all), readAccounts, users); err != nil {
		return err
	}
	return allSeeded(all, users)
}

// allSeeded returns tables.ErrRetry if one of the accounts lacks a seed: the database was restored to an older state or, on Citus, the
// seed and the balance that were read do not belong together.
func allSeeded(all map[string]redpacket.Account, users []string) error {
	for _, user := range users {
		if all[user].NextCommitment == "" {
			return tables.ErrRetry
		}
	}
	return nil
}

// scanAccount returns a function that scans user, balance, version and seed of a row into the map. The destinations in first take the columns
// before them. An account without a seed gets no commitment.
func scanAccount(keys *secret.Keys, all map[string]redpacket.Account, first ...any) func(tables.Row) error {
	var (
		user   string
		acc    redpacket.Account
		stored pgtype.DriverBytes // not copied: valid until the next row
	)
	into := slices.Concat(first, []any{&user, &acc.Balance, &acc.Version, &stored})
	return func(row tables.Row) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		seed, drawn, err := keys.NextSeed(user, stored)
		if err != nil {
			return err
		}
		acc.NextCommitment = ""
		if drawn {
			acc.NextCommitment = redpacket.Commitment(seed)
		}
		all[user] = acc
		return nil
	}
}

// seeded caches which users have a seed. A user loses the seed only by a loss of commits or when a new epoch begins: then
// ForgetCached clears the cache. Most users that are paid are in the cache, so no query is needed for their seeds. The zero
// value is ready.
type seeded struct {
	mu    sync.Mutex
	users map[string]struct{}
}

// maxSeeded is the most users in the cache, which then takes a few megabytes.
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

// add adds users whose seeds are committed. If the cache would get larger than maxSeeded, it is emptied first.
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

// forget clears the cache, after a failed payment or with a new epoch, because the database may have lost seeds.
func (s *seeded) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = nil
}

// queueCredit makes the batch add amounts to wallets and create missing wallets. The users must be sorted and unique.
func queueCredit(b *pgx.Batch, users []string, amounts []redpacket.Money) *pgx.QueuedQuery {
	return b.Queue(`insert into wallets (/*! bucket, */ user_id, balance, version)
		select /*! bucket_of(user_id), */ user_id, amount, 1 from unnest($1::text[], $2::bigint[]) i (user_id, amount) order by user_id collate "C"
		on conflict (/*! bucket, */ user_id) do update set balance = wallets.balance + excluded.balance, version = wallets.version + 1`, users, amounts)
}

// queueDebit makes the batch take the amount from a wallet. sends is how many packets it pays for. The query returns
// the new balance and version, or no row if the wallet is frozen, holds less or is missing: see tables.DebitRefusal.
func queueDebit(b *pgx.Batch, user string, amount redpacket.Money, sends int) *pgx.QueuedQuery {
	return b.Queue(`update wallets set balance = balance - $2, version = version + 1, sends = sends + $3
		where user_id = $1 /*! and bucket = bucket_of($1) */ and balance >= $2 and frozen_at = 0 returning balance, version`, user, amount, sends)
}

// affected returns a callback that stores in n how many rows a queued statement has changed.
func affected(n *int64) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		*n = tag.RowsAffected()
		return nil
	}
}

// Adjust implements redpacket.Ledger. An amount of 0 is chat.ErrBadRequest.
func (s *Store) Adjust(ctx context.Context, a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		acc, dup, err = w.adjust(a)
		return err
	})
	if err != nil {
		return redpacket.Account{}, false, tables.Outcome("adjust", err)
	}
	return acc, dup, nil
}

func (w *writer) adjust(a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	var (
		hash []byte
		id   string
	)
	used, err := w.Row(`select hash, id from transfers where key = $1`, []any{a.Key}, &hash, &id)
	switch {
	case err != nil:
		return redpacket.Account{}, false, err
	case used && !bytes.Equal(hash, a.Hash):
		return redpacket.Account{}, false, chat.ErrKeyReused
	case used:
		acc, err = w.account(a.User)
		mine := w.maybeCommitted && id == a.ID // an earlier run of this call, which was committed, has made the adjustment
		return acc, !mine, err
	}
	if err := tables.CheckAmount(a.Amount); err != nil {
		return redpacket.Account{}, false, err
	}
	acc, err = w.applyAdjustment(a)
	return acc, false, err
}

// applyAdjustment records the adjustment, changes the wallet and returns the account after it. It inserts the
// idempotency key first: a second call with the same key then waits for this one, and holds no other lock.
func (w *writer) applyAdjustment(a redpacket.Adjustment) (redpacket.Account, error) {
	m := tables.AdjustmentTransfer(a, nil)
	var (
		b        pgx.Batch
		recorded int64
		all      map[string]redpacket.Account
		err      error
	)
	if m.Link, err = w.Chained(m.Leaf()); err != nil {
		return redpacket.Account{}, err
	}
	unused := w.queueKey(&b, a.Key)
	w.queueTransfer(&b, m).Exec(affected(&recorded))
	w.queueSeeds(&b, []string{a.User})
	if err := w.SendBatch(&b); err != nil {
		return redpacket.Account{}, err
	}
	if recorded == 0 || *unused == 0 { // another transaction has inserted the key meanwhile
		return redpacket.Account{}, tables.ErrRetry
	}
	var (
		changed     int64
		circulating redpacket.Money
	)
	b = pgx.Batch{}
	if a.Amount > 0 {
		queueCredit(&b, []string{a.User}, []redpacket.Money{a.Amount}).Exec(affected(&changed))
	} else {
		queueDebit(&b, a.User, m.Amount, 0).Exec(affected(&changed))
	}
	w.queueAccounts(&b, []string{a.User}, &all)
	queueCirculation(&b, a.Amount, &circulating)
	switch err := w.SendBatch(&b); {
	case err != nil:
		return redpacket.Account{}, err
	case changed == 0:
		return redpacket.Account{}, tables.DebitRefusal(w, a.User)
	}
	return all[a.User], tables.CheckCirculation(a.Amount, circulating)
}

// queueCirculation makes the batch add a credit or debit to the money in circulation, and read the new amount. It
// locks the only row of the table circulation until the commit, so it must come last.
func queueCirculation(b *pgx.Batch, change redpacket.Money, amount *redpacket.Money) {
	b.Queue(`update circulation set amount = amount + $1 returning amount`, int64(change)).QueryRow(func(row pgx.Row) error { return row.Scan(amount) })
}

// queueKey makes the batch take the key of a credit or debit on Citus, where the index of transfers makes it unique in one bucket
// only. queueKey returns the number of rows that the batch will have inserted: 0 if the key was used. On one Postgres the number
// is 1.
func (w *writer) queueKey(b *pgx.Batch, key string) *int64 {
	unused := int64(1)
	if w.Citus {
		b.Queue(`insert into adjustment_keys (key) values ($1) on conflict do nothing`, key).Exec(affected(&unused))
	}
	return &unused
}

// queueTransfer makes the batch insert the transfer, but not change the wallet. It also adds the event of the transfer.
// If the transfer's key has been used before, no row is inserted. On Citus, that covers only uses by users of the same
// bucket: see adjustment_keys.
func (w *writer) queueTransfer(b *pgx.Batch, t tables.Transfer) *pgx.QueuedQuery {
	t.AddTo(&w.refs)
	return b.Queue(tables.InsertTransfer+` on conflict (/*! bucket, */ key) where key is not null do nothing`, t.Args()...)
}

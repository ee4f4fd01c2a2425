package sqlitestore

import (
	"context"

	"hongbao/redpacket"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Account implements redpacket.Ledger. It writes only if the user has no next seed: then it draws one.
func (s *Store) Account(ctx context.Context, user string) (acc redpacket.Account, err error) {
	acc, drawn, err := readAccount(s.reader(ctx), s.keys, user)
	if err != nil || drawn {
		return acc, tables.Outcome("read account", err)
	}
	err = s.do(ctx, func(w *writer) error {
		acc, err = w.account(user)
		return err
	})
	return acc, tables.Outcome("open account", err)
}

// readAccount reads the stored account of a user. drawn = false means that the user has no next seed: none was drawn since
// the user was created, or since the present epoch began.
func readAccount(q tables.Querier, keys *secret.Keys, user string) (acc redpacket.Account, drawn bool, err error) {
	var stored []byte
	if _, err = q.Row(`select coalesce(w.balance, 0), coalesce(w.version, 0), u.next_seed
		from users u left join wallets w on w.user_id = u.id where u.id = ?`,
		[]any{user}, &acc.Balance, &acc.Version, &stored); err != nil {
		return redpacket.Account{}, false, err
	}
	seed, drawn, err := keys.NextSeed(user, stored)
	if drawn {
		acc.NextCommitment = redpacket.Commitment(seed)
	}
	return acc, drawn, err
}

// account reads the user's account. It creates the user and draws the next seed if there is none.
func (w *writer) account(user string) (redpacket.Account, error) {
	acc, drawn, err := readAccount(w, w.keys, user)
	if err != nil || drawn {
		return acc, err
	}
	if _, err := w.drawSeed(user); err != nil {
		return redpacket.Account{}, err
	}
	acc, _, err = readAccount(w, w.keys, user) // again: without a row in users the first read finds no balance
	return acc, err
}

// seed returns the seed of the user's next packet, and draws it if there is none. The seed is secret until the packet
// is closed.
func (w *writer) seed(user string) (seed redpacket.Seed, err error) {
	var stored []byte
	_, err = w.Row(`select next_seed from users where id = ?`, []any{user}, &stored)
	if err != nil {
		return seed, err
	}
	seed, drawn, err := w.keys.NextSeed(user, stored)
	if err != nil || drawn {
		return seed, err
	}
	return w.drawSeed(user)
}

// drawSeed draws the next seed of a user that has none. It creates the user if there is none.
func (w *writer) drawSeed(user string) (seed redpacket.Seed, err error) {
	seed = redpacket.NewSeed()
	_, err = w.Exec(`insert into users (id, next_seed) values (?, ?)
		on conflict (id) do update set next_seed = excluded.next_seed where next_seed is null`, user, w.keys.EncryptNextSeed(user, seed))
	return seed, err
}

func (w *writer) setSeed(user string, seed redpacket.Seed) error {
	_, err := w.Exec(`update users set next_seed = ? where id = ?`, w.keys.EncryptNextSeed(user, seed), user)
	return err
}

// credit adds an amount to a user's wallet. The first credit creates the wallet.
func (w *writer) credit(user string, amount redpacket.Money) error {
	_, err := w.Exec(`insert into wallets (user_id, balance, version) values (?, ?, 1)
		on conflict (user_id) do update set balance = balance + excluded.balance, version = version + 1`, user, amount)
	return err
}

// debit takes an amount from a wallet. It fails with redpacket.ErrWalletFrozen, or with redpacket.ErrInsufficientBalance if the wallet
// holds less.
func (w *writer) debit(user string, amount redpacket.Money) error {
	found, err := w.Row(`update wallets set balance = balance - ?, version = version + 1
		where user_id = ? and balance >= ? and frozen_at = 0 returning 1`,
		[]any{amount, user, amount}, new(int))
	if err != nil || found {
		return err
	}
	return tables.DebitRefusal(w, user)
}

// record inserts the transfer. The caller must change the wallet.
func (w *writer) record(t tables.Transfer) error {
	t.AddTo(w.Events())
	_, err := w.Exec(tables.InsertTransfer, t.Args()...)
	return err
}

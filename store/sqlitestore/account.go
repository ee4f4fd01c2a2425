package sqlitestore

import (
	"context"

	"hongbao/redpacket"
)

// Account implements redpacket.Ledger. Only the first time it has anything to write.
func (s *Store) Account(ctx context.Context, user string) (acc redpacket.Account, err error) {
	acc, drawn, err := readAccount(reader{ctx, s.read}, user)
	if err != nil || drawn {
		return acc, outcome("read account", err)
	}
	err = s.do(ctx, func(w *writer) error {
		acc, err = w.account(user)
		return err
	})
	return acc, outcome("open account", err)
}

// readAccount reads what there is of an account; drawn is false while the user has no seed yet.
func readAccount(q querier, user string) (acc redpacket.Account, drawn bool, err error) {
	var seed redpacket.Seed
	_, err = q.row(`select coalesce(w.balance, 0), u.next_seed
		from users u left join wallets w on w.user_id = u.id where u.id = ?`,
		[]any{user}, &acc.Balance, storedSeed{&seed, &drawn})
	if drawn {
		acc.NextCommitment = redpacket.Commitment(seed)
	}
	return acc, drawn, err
}

// account reads the user's account, and makes him known and draws his first seed if need be.
func (w *writer) account(user string) (redpacket.Account, error) {
	acc, drawn, err := readAccount(w, user)
	if err != nil || drawn {
		return acc, err
	}
	if _, err := w.drawSeed(user); err != nil {
		return redpacket.Account{}, err
	}
	acc, _, err = readAccount(w, user) // again: a wallet is read only with its user
	return acc, err
}

// seed is that of the user's next packet. It leaves this package only inside a packet.
func (w *writer) seed(user string) (seed redpacket.Seed, err error) {
	var drawn bool
	_, err = w.row(`select next_seed from users where id = ?`, []any{user}, storedSeed{&seed, &drawn})
	if err != nil || drawn {
		return seed, err
	}
	return w.drawSeed(user)
}

// drawSeed gives the user, who may be unseen yet, his first seed.
func (w *writer) drawSeed(user string) (seed redpacket.Seed, err error) {
	seed = redpacket.NewSeed()
	_, err = w.exec(`insert into users (id, next_seed) values (?, ?)
		on conflict (id) do update set next_seed = excluded.next_seed where next_seed is null`, user, seed[:])
	return seed, err
}

func (w *writer) setSeed(user string, seed redpacket.Seed) error {
	_, err := w.exec(`update users set next_seed = ? where id = ?`, seed[:], user)
	return err
}

// credit adds to a wallet, and makes it with the first credit.
func (w *writer) credit(user string, amount redpacket.Money) (balance redpacket.Money, err error) {
	_, err = w.row(`insert into wallets (user_id, balance) values (?, ?)
		on conflict (user_id) do update set balance = balance + excluded.balance returning balance`,
		[]any{user, amount}, &balance)
	return balance, err
}

// debit takes from a wallet what is in it, or redpacket.ErrInsufficientBalance.
func (w *writer) debit(user string, amount redpacket.Money) error {
	found, err := w.row(`update wallets set balance = balance - ? where user_id = ? and balance >= ? returning 1`,
		[]any{amount, user, amount}, new(int))
	if err == nil && !found {
		return redpacket.ErrInsufficientBalance
	}
	return err
}

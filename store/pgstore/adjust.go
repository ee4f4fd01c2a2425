package pgstore

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// maxBalance is the largest amount that every JSON reader takes for what it is.
const maxBalance redpacket.Money = 1<<53 - 1

// Adjust implements redpacket.Ledger. An amount of 0 is chat.ErrBadRequest, a balance past 2^53-1
// chat.ErrLimitExceeded.
func (s *Store) Adjust(ctx context.Context, a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		acc, dup, err = w.adjust(a)
		return err
	})
	if err != nil {
		return redpacket.Account{}, false, outcome("adjust", err)
	}
	return acc, dup, nil
}

func (w *writer) adjust(a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	var (
		hash []byte
		id   string
	)
	used, err := w.row(`select hash, id from transfers where key = $1`, []any{a.Key}, &hash, &id)
	switch {
	case err != nil:
		return redpacket.Account{}, false, err
	case used && !bytes.Equal(hash, a.Hash):
		return redpacket.Account{}, false, chat.ErrKeyReused
	case used:
		acc, err = w.account(a.User)
		mine := w.again && id == a.ID // an earlier run of this very call was committed
		return acc, !mine, err
	}
	if err := checkAmount(a.Amount); err != nil {
		return redpacket.Account{}, false, err
	}
	acc, err = w.move(a)
	return acc, false, err
}

func checkAmount(amount redpacket.Money) error {
	switch {
	case amount == 0:
		return chat.BadField("amount", "must not be 0")
	case amount > maxBalance, amount < -maxBalance:
		return tooMuch()
	}
	return nil
}

// move records the adjustment, changes the wallet and gives the account after it. The key comes first: who is second
// with it waits for the first there, holding nothing.
func (w *writer) move(a redpacket.Adjustment) (redpacket.Account, error) {
	m := movement{
		id: a.ID, at: a.At, user: a.User, debit: outside, credit: userParty(a.User), amount: a.Amount,
		kind: redpacket.TransferCredit, key: a.Key, hash: a.Hash, note: a.Note,
	}
	if a.Amount < 0 {
		m.debit, m.credit = m.credit, m.debit
		m.amount, m.kind = -a.Amount, redpacket.TransferDebit
	}
	var (
		b        pgx.Batch
		recorded int64
		all      map[string]redpacket.Account
	)
	queueMovement(&b, m).Exec(affected(&recorded))
	queueSeeds(&b, []string{a.User})
	if err := w.batch(&b); err != nil {
		return redpacket.Account{}, err
	}
	if recorded == 0 { // the key came in meanwhile
		return redpacket.Account{}, errAgain
	}
	var changed int64
	b = pgx.Batch{}
	if a.Amount > 0 {
		queueCredit(&b, []string{a.User}, []redpacket.Money{a.Amount}).Exec(affected(&changed))
	} else {
		queueDebit(&b, a.User, m.amount).Exec(affected(&changed))
	}
	queueAccounts(&b, []string{a.User}, &all)
	switch err := w.batch(&b); {
	case err != nil:
		return redpacket.Account{}, err
	case changed == 0:
		return redpacket.Account{}, redpacket.ErrInsufficientBalance
	case a.Amount > 0 && all[a.User].Balance > maxBalance:
		return redpacket.Account{}, tooMuch()
	}
	return all[a.User], nil
}

func tooMuch() error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "amount", Reason: "would take the balance past 2^53-1"}
}

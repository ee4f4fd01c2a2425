package sqlitestore

import (
	"bytes"
	"context"

	"hongbao/chat"
	"hongbao/redpacket"
)

// maxBalance is the largest amount that every JSON reader takes for what it is.
const maxBalance redpacket.Money = 1<<53 - 1

// Adjust implements redpacket.Ledger. An amount of 0 is chat.ErrBadRequest, a balance past 2^53-1
// chat.ErrLimitExceeded.
func (s *Store) Adjust(ctx context.Context, a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		acc, dup, err = w.adjust(a)
		return err
	})
	if err != nil {
		return redpacket.Account{}, false, outcome("adjust", err)
	}
	return acc, dup, nil
}

func (w *writer) adjust(a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	var hash []byte
	dup, err = w.row(`select hash from transfers where key = ?`, []any{a.Key}, &hash)
	switch {
	case err != nil:
		return redpacket.Account{}, false, err
	case dup && !bytes.Equal(hash, a.Hash):
		return redpacket.Account{}, false, chat.ErrKeyReused
	case dup:
		acc, err = w.account(a.User)
		return acc, true, err
	}
	if err := w.move(a); err != nil {
		return redpacket.Account{}, false, err
	}
	acc, err = w.account(a.User)
	return acc, false, err
}

// move changes the wallet and records it.
func (w *writer) move(a redpacket.Adjustment) error {
	m := movement{
		id: a.ID, at: a.At, user: a.User, debit: outside, credit: userParty(a.User), amount: a.Amount,
		kind: redpacket.TransferCredit, key: a.Key, hash: a.Hash, note: a.Note,
	}
	switch {
	case a.Amount == 0:
		return chat.BadField("amount", "must not be 0")
	case a.Amount > maxBalance || a.Amount < -maxBalance:
		return tooMuch()
	case a.Amount > 0:
		balance, err := w.credit(a.User, a.Amount)
		if err != nil {
			return err
		}
		if balance > maxBalance {
			return tooMuch()
		}
	default:
		m.debit, m.credit = m.credit, m.debit
		m.amount, m.kind = -a.Amount, redpacket.TransferDebit
		if err := w.debit(a.User, m.amount); err != nil {
			return err
		}
	}
	return w.record(m)
}

func tooMuch() error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "amount", Reason: "would take the balance past 2^53-1"}
}

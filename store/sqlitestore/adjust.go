package sqlitestore

import (
	"bytes"
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Adjust implements redpacket.Ledger. An amount of 0 is chat.ErrBadRequest.
func (s *Store) Adjust(ctx context.Context, a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		acc, dup, err = w.adjust(a)
		return err
	})
	if err != nil {
		return redpacket.Account{}, false, tables.Outcome("adjust", err)
	}
	return acc, dup, nil
}

func (w *writer) adjust(a redpacket.Adjustment) (acc redpacket.Account, dup bool, err error) {
	var hash []byte
	dup, err = w.Row(`select hash from transfers where key = ?`, []any{a.Key}, &hash)
	switch {
	case err != nil:
		return redpacket.Account{}, false, err
	case dup && !bytes.Equal(hash, a.Hash):
		return redpacket.Account{}, false, chat.ErrKeyReused
	case dup:
		acc, err = w.account(a.User)
		return acc, true, err
	}
	if err := w.applyAdjustment(a, nil); err != nil {
		return redpacket.Account{}, false, err
	}
	acc, err = w.account(a.User)
	return acc, false, err
}

// applyAdjustment changes the wallet and the money in circulation, and records the transfer. details is for its event; nil: none.
func (w *writer) applyAdjustment(a redpacket.Adjustment, details json.RawMessage) error {
	m := tables.AdjustmentTransfer(a, details)
	err := tables.CheckAmount(a.Amount)
	switch {
	case err != nil:
	case a.Amount > 0:
		err = w.credit(a.User, a.Amount)
	default:
		err = w.debit(a.User, m.Amount)
	}
	if err != nil {
		return err
	}
	if m.Link, err = w.Chained(m.Leaf()); err != nil {
		return err
	}
	if err := w.record(m); err != nil {
		return err
	}
	var circulating redpacket.Money
	if _, err := w.Row(`update circulation set amount = amount + ? returning amount`, []any{a.Amount}, &circulating); err != nil {
		return err
	}
	return tables.CheckCirculation(a.Amount, circulating)
}

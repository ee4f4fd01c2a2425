package pgstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Adjust implements redpacket.Ledger. An amount of 0 is chat.ErrBadRequest.
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
		mine := w.maybeCommitted && id == a.ID // an earlier run of this call, which was committed, has made the adjustment
		return acc, !mine, err
	}
	if err := checkAmount(a.Amount); err != nil {
		return redpacket.Account{}, false, err
	}
	acc, err = w.applyAdjustment(a)
	return acc, false, err
}

func checkAmount(amount redpacket.Money) error {
	switch {
	case amount == 0:
		return chat.BadField("amount", "must not be 0")
	case amount > redpacket.MaxMoney, amount < -redpacket.MaxMoney:
		return amountLimit("must be at most %d", redpacket.MaxMoney)
	}
	return nil
}

// applyAdjustment records the adjustment, changes the wallet and returns the account after it. It inserts the
// idempotency key first: a second call with the same key then waits for this one, and holds no other lock.
func (w *writer) applyAdjustment(a redpacket.Adjustment) (redpacket.Account, error) {
	m := transfer{
		id: a.ID, at: a.At, user: a.User, debit: outside, credit: userParty(a.User), amount: a.Amount,
		kind: redpacket.TransferCredit, key: a.Key, hash: a.Hash, note: a.Note,
		actor: a.Actor, requestID: a.RequestID, reason: a.Reason,
	}
	if a.Amount < 0 {
		m.debit, m.credit = m.credit, m.debit
		m.amount, m.kind = -a.Amount, redpacket.TransferDebit
	}
	var (
		b        pgx.Batch
		recorded int64
		all      map[string]redpacket.Account
		err      error
	)
	if m.link, err = w.chained(m.leaf()); err != nil {
		return redpacket.Account{}, err
	}
	queueTransfer(&b, m).Exec(affected(&recorded))
	queueSeeds(&b, []string{a.User})
	if err := w.sendBatch(&b); err != nil {
		return redpacket.Account{}, err
	}
	if recorded == 0 { // another transaction has inserted the key meanwhile
		return redpacket.Account{}, errRetry
	}
	var (
		changed     int64
		circulating redpacket.Money
	)
	b = pgx.Batch{}
	if a.Amount > 0 {
		queueCredit(&b, []string{a.User}, []redpacket.Money{a.Amount}).Exec(affected(&changed))
	} else {
		queueDebit(&b, a.User, m.amount, 0).Exec(affected(&changed))
	}
	queueAccounts(&b, []string{a.User}, &all)
	queueCirculation(&b, a.Amount, &circulating)
	switch err := w.sendBatch(&b); {
	case err != nil:
		return redpacket.Account{}, err
	case changed == 0:
		return redpacket.Account{}, redpacket.ErrInsufficientBalance
	case a.Amount > 0 && circulating > redpacket.MaxMoney:
		return redpacket.Account{}, amountLimit("is more than the %d that may still be credited", max(0, redpacket.MaxMoney+a.Amount-circulating))
	}
	return all[a.User], nil
}

// queueCirculation makes the batch add a credit or debit to the money in circulation, and read the new amount. It
// locks the only row of the table until the commit, so it must come last.
func queueCirculation(b *pgx.Batch, change redpacket.Money, amount *redpacket.Money) {
	b.Queue(`update circulation set amount = amount + $1 returning amount`, int64(change)).QueryRow(func(row pgx.Row) error { return row.Scan(amount) })
}

// RecountCirculation computes the money in circulation from all transfers. It is needed after instances of an older
// version, which does not count it, have made credits or debits.
func (s *Store) RecountCirculation(ctx context.Context) error {
	return outcome("recount circulation", s.tx(ctx, func(w *writer) error {
		if _, err := w.exec(`select 1 from circulation for update`); err != nil { // waits for credits in progress
			return err
		}
		_, err := w.exec(`update circulation set amount = (select least(coalesce(sum(case kind when 'credit' then amount else -amount end), 0),
			9223372036854775807)::bigint from transfers where key is not null)`)
		return err
	}))
}

func amountLimit(reason string, amount redpacket.Money) error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "amount", Reason: fmt.Sprintf(reason, amount)}
}

package sqlitestore

import (
	"context"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
)

// Settle implements redpacket.Ledger. There is one writer, so nothing can close a packet meanwhile. Where the
// engine refuses a row, each claim is tried alone, so that the poisonous one is found.
func (s *Store) Settle(ctx context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	settled, err := s.settleAll(ctx, claims)
	switch why := refusedRow(err); {
	case err == nil:
		return settled, nil
	case why == "":
		return nil, outcome("settle claims", err)
	case len(claims) == 1:
		return []redpacket.Settlement{unpayable(why)}, nil
	}
	settled = settled[:0]
	for i := range claims {
		one, err := s.Settle(ctx, claims[i:i+1])
		if err != nil {
			return nil, err
		}
		settled = append(settled, one...)
	}
	return settled, nil
}

func (s *Store) settleAll(ctx context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	settled := make([]redpacket.Settlement, len(claims))
	err := s.do(ctx, func(w *writer) (err error) {
		for i, c := range claims {
			if settled[i], err = w.settle(c); err != nil {
				return err
			}
		}
		crashpoint.Here("settle.before-commit")
		return nil
	})
	if err == nil {
		crashpoint.Here("settle.after-commit")
	}
	return settled, err
}

func unpayable(why string) redpacket.Settlement {
	return redpacket.Settlement{Verdict: redpacket.Unpayable, Why: why}
}

// refusedRow is what the engine has against a row, if that is what failed.
func refusedRow(err error) string {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		switch failed.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
			return failed.Error()
		}
	}
	return ""
}

func (w *writer) settle(c redpacket.Claim) (redpacket.Settlement, error) {
	var status redpacket.Status
	found, err := w.row(`select status from packets where id = ?`, []any{c.ID}, &status)
	if err != nil {
		return redpacket.Settlement{}, err
	}
	if !found {
		return unpayable("no such packet"), nil
	}
	shares, err := w.shares(c.ID)
	if err != nil {
		return redpacket.Settlement{}, err
	}
	if status == redpacket.Open {
		paid, err := w.pay(c.ID, shares, redpacket.Grant{User: c.User, Share: c.Share}, c.At)
		if err != nil {
			return redpacket.Settlement{}, err
		}
		if paid {
			return w.paidNow(c, shares[c.Share])
		}
	}
	return w.classify(c, status, len(shares))
}

// pay gives the share to the user if both are free. Wallet and transfer hang on the inserted claim alone.
func (w *writer) pay(packet string, shares []redpacket.Money, g redpacket.Grant, at time.Time) (paid bool, err error) {
	if g.Share < 0 || g.Share >= len(shares) {
		return false, nil
	}
	amount := shares[g.Share]
	transfer := chat.NewID(at)
	res, err := w.exec(`insert into claims (packet_id, share_no, user_id, amount, at, transfer) values (?, ?, ?, ?, ?, ?)
		on conflict do nothing`, packet, g.Share, g.User, amount, at.UnixMilli(), transfer)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	if _, err := w.credit(g.User, amount); err != nil {
		return false, err
	}
	return true, w.record(movement{
		id: transfer, at: at, debit: packetParty(packet), credit: userParty(g.User), amount: amount,
		kind: redpacket.TransferClaim, user: g.User, packet: packet, share: g.Share,
	})
}

func (w *writer) paidNow(c redpacket.Claim, amount redpacket.Money) (redpacket.Settlement, error) {
	acc, err := w.account(c.User)
	return redpacket.Settlement{
		Verdict: redpacket.PaidNow, Share: c.Share, Amount: amount, At: fromMillis(c.At.UnixMilli()), Account: acc,
	}, err
}

// classify says why a claim was not paid now. The user's own claim comes first: it answers for ever.
func (w *writer) classify(c redpacket.Claim, status redpacket.Status, count int) (s redpacket.Settlement, err error) {
	mine, err := w.row(`select share_no, amount, at from claims where packet_id = ? and user_id = ?`,
		[]any{c.ID, c.User}, &s.Share, &s.Amount, storedTime{&s.At})
	if err != nil {
		return redpacket.Settlement{}, err
	}
	if mine {
		s.Verdict = redpacket.Duplicate
		return s, nil
	}
	if c.Share < 0 || c.Share >= count {
		return unpayable("no such share"), nil
	}
	taken, err := w.row(`select 1 from claims where packet_id = ? and share_no = ?`, []any{c.ID, c.Share}, new(int))
	switch {
	case err != nil:
		return redpacket.Settlement{}, err
	case taken:
		return redpacket.Settlement{Verdict: redpacket.Conflict}, nil
	}
	return redpacket.Settlement{Verdict: redpacket.TooLate, Status: status}, nil
}

// Quarantine implements redpacket.Ledger.
func (s *Store) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) error {
	return outcome("quarantine claims", s.do(ctx, func(w *writer) error {
		for _, c := range claims {
			if _, err := w.exec(`insert into quarantine (at, packet_id, share_no, user_id, why) values (?, ?, ?, ?, ?)
				on conflict do nothing`, c.At.UnixMilli(), c.ID, c.Share, c.User, why); err != nil {
				return err
			}
		}
		return nil
	}))
}

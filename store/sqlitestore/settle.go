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
	"hongbao/store/chain"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// Settle implements redpacket.Ledger. Each claim is a job with its own savepoint: if SQLite refuses its row, the
// other claims are still committed. There is one writer, so no packet can be closed meanwhile.
func (s *Store) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled := make([]redpacket.Settlement, len(claims))
	jobs := make([]func(w *writer) error, len(claims))
	for i, c := range claims {
		jobs[i] = func(w *writer) (err error) {
			settled[i], err = w.settle(c)
			crashpoint.Here("settle.before-commit")
			return err
		}
	}
	for i, err := range s.doAll(ctx, jobs) {
		switch reason := refusedRow(err); {
		case err == nil:
		case reason == "":
			settled[i] = redpacket.Settlement{Err: tables.Outcome("settle claim", err)}
		default:
			settled[i] = unpayable(reason)
		}
	}
	crashpoint.Here("settle.after-commit")
	return settled
}

// OutOfReach implements redpacket.Ledger. It returns an error if the files of the database were deleted or replaced.
func (s *Store) OutOfReach() error { return s.files.err() }

func unpayable(reason string) redpacket.Settlement {
	return redpacket.Settlement{Verdict: redpacket.Unpayable, Why: reason}
}

// refusedRow returns SQLite's error text if SQLite refused the row because of its content, else "".
func refusedRow(err error) string {
	var failed *sqlite.Error
	if errors.As(err, &failed) && !errors.Is(err, errWholeCommit) {
		switch failed.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
			return failed.Error()
		}
	}
	return ""
}

func (w *writer) settle(c redpacket.Claim) (redpacket.Settlement, error) {
	var (
		status       redpacket.Status
		onePerPerson bool
	)
	found, err := w.Row(`select status, one_per_person from packets where id = ?`, []any{c.ID}, &status, &onePerPerson)
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
	bound := true
	if onePerPerson {
		if bound, err = w.isBound(c.ID, c.User); err != nil {
			return redpacket.Settlement{}, err
		}
	}
	if status == redpacket.Open && bound {
		paid, err := w.pay(c.ID, shares, redpacket.Grant{User: c.User, Share: c.Share, Wave: c.Wave}, c.At)
		if err != nil {
			return redpacket.Settlement{}, err
		}
		if paid {
			return w.paidNow(c, shares[c.Share])
		}
	}
	s, err := w.classify(c, status, len(shares))
	if s.Verdict == redpacket.TooLate && status == redpacket.Open {
		s = redpacket.NotBound()
	}
	return s, err
}

// isBound reports whether a person is bound to the user.
func (w *writer) isBound(packet, user string) (bool, error) {
	return w.Row(`select 1 from persons where packet_id = ? and user_id = ?`, []any{packet, user}, new(int))
}

// pay pays the share to the user if the packet has the share, nobody has claimed it, and the user has no claim of the packet, or of the wave.
// It writes wallet and transfer only if it inserts the claim.
func (w *writer) pay(packet string, shares []redpacket.Money, g redpacket.Grant, at time.Time) (paid bool, err error) {
	if g.Share < 0 || g.Share >= len(shares) {
		return false, nil
	}
	amount := shares[g.Share]
	id, mark := chat.NewID(at), w.mark()
	link, err := w.Chained(chain.ClaimLeaf(redpacket.Claim{Ref: redpacket.Ref{ID: packet}, Share: g.Share, User: g.User, At: at}, amount, id))
	if err != nil {
		return false, err
	}
	n, err := w.Exec(`insert into claims (packet_id, share_no, user_id, amount, at, transfer, link, wave) values (?, ?, ?, ?, ?, ?, ?, ?)
		on conflict do nothing`, packet, g.Share, g.User, amount, at.UnixMilli(), id, link, g.Wave)
	if err != nil {
		return false, err
	}
	if n == 0 {
		w.dropAfter(mark)
		return false, err
	}
	if err := w.credit(g.User, amount); err != nil {
		return false, err
	}
	w.refs.Claim(packet, g.Share)
	return true, w.record(tables.ClaimTransfer(id, packet, g, amount, at))
}

func (w *writer) paidNow(c redpacket.Claim, amount redpacket.Money) (redpacket.Settlement, error) {
	acc, err := w.account(c.User)
	return redpacket.Settlement{
		Verdict: redpacket.PaidNow, Share: c.Share, Amount: amount, At: c.At.Truncate(time.Millisecond).UTC(), Account: acc,
	}, err
}

// classify returns why a claim was not paid now. It first checks whether the user already has a claim, because that
// answer never changes.
func (w *writer) classify(c redpacket.Claim, status redpacket.Status, count int) (s redpacket.Settlement, err error) {
	mine, err := w.Row(`select share_no, amount, at from claims where packet_id = ? and user_id = ? and wave = ?`,
		[]any{c.ID, c.User, c.Wave}, &s.Share, &s.Amount, tables.Time(&s.At))
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
	taken, err := w.Row(`select 1 from claims where packet_id = ? and share_no = ?`, []any{c.ID, c.Share}, new(int))
	switch {
	case err != nil:
		return redpacket.Settlement{}, err
	case taken:
		return redpacket.Settlement{Verdict: redpacket.Conflict}, nil
	}
	return redpacket.Settlement{Verdict: redpacket.TooLate, Status: status}, nil
}

// Quarantine implements redpacket.Ledger.
func (s *Store) Quarantine(ctx context.Context, claims []redpacket.Claim, reason string) error {
	return tables.Outcome("quarantine claims", s.do(ctx, func(w *writer) error {
		for _, c := range claims {
			if _, err := w.Exec(`insert into quarantine (at, packet_id, share_no, user_id, why) values (?, ?, ?, ?, ?)
				on conflict do nothing`, c.At.UnixMilli(), c.ID, c.Share, c.User, reason); err != nil {
				return err
			}
		}
		return nil
	}))
}

// shares returns the amounts of a packet's shares. The packet must exist.
func (w *writer) shares(packet string) ([]redpacket.Money, error) {
	if pays, ok := w.cache.Get(packet); ok {
		return pays.Shares, nil
	}
	var (
		p       = redpacket.Packet{Ref: redpacket.Ref{ID: packet}}
		columns secret.Columns
	)
	dest := append([]any{&p.From.ID, &p.Key, &p.Mode, &p.Spread, &p.Total, &p.Count, &p.OnePerPerson}, tables.CutInto(dialect{}, &columns)...)
	if _, err := w.Row(`select p.sender, p.key, p.mode, p.spread, p.total, p.count, p.one_per_person, `+tables.CutColumns+` from packets p where p.id = ?`,
		[]any{packet}, dest...); err != nil {
		return nil, err
	}
	_, shares, err := w.keys.Cut(p, columns)
	if err != nil {
		return nil, err
	}
	if !columns.Draw {
		w.cache.Put(packet, tables.Payout{Shares: shares, OnePerPerson: p.OnePerPerson})
	}
	return shares, nil
}

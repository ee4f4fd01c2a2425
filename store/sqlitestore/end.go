package sqlitestore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/tables"
)

// End implements redpacket.Ledger. It fails with chat.ErrNotFound for an unknown packet.
func (s *Store) End(ctx context.Context, c redpacket.Close) (closed redpacket.Closed, err error) {
	err = s.do(ctx, func(w *writer) error {
		closed, err = w.end(c)
		crashpoint.Here("close.before-commit")
		return err
	})
	if err != nil {
		return redpacket.Closed{}, tables.Outcome("end packet", err)
	}
	crashpoint.Here("close.after-commit")
	return closed, nil
}

// end closes a packet if it is open. Otherwise it only returns the packet's book.
func (w *writer) end(c redpacket.Close) (redpacket.Closed, error) {
	b, err := tables.ReadBook(w, c.ID)
	if err != nil || b.Status != redpacket.Open {
		return redpacket.Closed{Book: b}, err
	}
	closed := redpacket.Closed{Done: true, Accounts: map[string]redpacket.Account{}}
	missing, err := w.payMissing(c, &b)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if len(missing) > 0 {
		if b.Claims, err = tables.List(w, tables.ScanPaid, tables.ClaimsQuery, c.ID); err != nil {
			return redpacket.Closed{}, err
		}
	}
	for _, p := range b.Claims {
		if missing[p.Share] {
			closed.Inserted = append(closed.Inserted, p)
		}
	}
	b.Status = b.EndStatus(c.Reason)
	if b.Refunded, err = w.refund(b, c.At); err != nil {
		return redpacket.Closed{}, err
	}
	closed.Book = b
	if closed.Entry, err = w.appendDone(b, c); err != nil {
		return redpacket.Closed{}, err
	}
	if err := w.readAccounts(closed); err != nil {
		return redpacket.Closed{}, err
	}
	return closed, w.markClosed(b, c.At, closed.Entry.Seq)
}

// payMissing pays each of the caller's grants that has no claim in SQL, whose user and share are both free, and whose user is not Unbound. It
// returns the shares that it paid.
func (w *writer) payMissing(c redpacket.Close, b *redpacket.Book) (missing map[int]bool, err error) {
	missing = map[int]bool{}
	for _, g := range c.Grants {
		if b.Packet.OnePerPerson {
			if bound, err := w.isBound(c.ID, g.User); err != nil {
				return nil, err
			} else if !bound {
				continue
			}
		}
		paid, err := w.pay(c.ID, b.Shares, g, c.At)
		if err != nil {
			return nil, err
		}
		if paid {
			missing[g.Share] = true
		}
	}
	return missing, nil
}

// refund credits the unclaimed part of the packet's total to the sender.
func (w *writer) refund(b redpacket.Book, at time.Time) (redpacket.Money, error) {
	left := b.Packet.Total
	for _, p := range b.Claims {
		left -= p.Amount
	}
	switch {
	case left < 0: // only possible after a change by hand: fail rather than make it worse
		return 0, fmt.Errorf("packet %s has paid %d more than its total", b.Packet.ID, -left)
	case left == 0:
		return 0, nil
	}
	from := b.Packet.From.ID
	if err := w.credit(from, left); err != nil {
		return 0, err
	}
	return left, w.record(tables.RefundTransfer(chat.NewID(at), b.Packet.ID, from, left, at))
}

func (w *writer) appendDone(b redpacket.Book, c redpacket.Close) (chat.Entry, error) {
	body, err := redpacket.DoneBody(b)
	if err != nil {
		return chat.Entry{}, err
	}
	return tables.AppendEntry(w, chat.Entry{
		Room: b.Packet.Room, ID: c.EntryID, At: c.At, From: b.Packet.From, Kind: chat.KindPacketDone, Body: body,
	}, nil)
}

func (w *writer) markClosed(b redpacket.Book, at time.Time, doneSeq int64) error {
	if best := redpacket.Luckiest(b.Packet, b.Claims); best != nil {
		if _, err := w.Exec(`update claims set luckiest = 1 where packet_id = ? and share_no = ?`,
			b.Packet.ID, best.Share); err != nil {
			return err
		}
	}
	shares, err := json.Marshal(b.Shares)
	if err != nil {
		return err
	}
	_, err = w.Exec(`update packets set status = ?, closed_at = ?, refunded = ?, claimed = ?, done_seq = ?,
		seed = ?, shares = iif(encrypted_seed = x'' or parts > 0, shares, ?) where id = ?`,
		b.Status, at.UnixMilli(), b.Refunded, len(b.Claims), doneSeq, b.Seed[:], string(shares), b.Packet.ID)
	return err
}

// readAccounts adds the accounts of all users that the close has paid to closed.Accounts.
func (w *writer) readAccounts(closed redpacket.Closed) error {
	paid := make([]string, 0, len(closed.Inserted)+1)
	for _, p := range closed.Inserted {
		paid = append(paid, p.User.ID)
	}
	if closed.Book.Refunded > 0 {
		paid = append(paid, closed.Book.Packet.From.ID)
	}
	for _, user := range paid {
		acc, err := w.account(user)
		if err != nil {
			return err
		}
		closed.Accounts[user] = acc
	}
	return nil
}

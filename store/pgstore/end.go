package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/tables"
)

// End implements redpacket.Ledger. It returns chat.ErrNotFound if there is no such packet.
func (s *Store) End(ctx context.Context, c redpacket.Close) (closed redpacket.Closed, err error) {
	e := newEndCall(c)
	run := func(w *writer) error {
		closed, err = w.end(e)
		crashpoint.Here("close.before-commit")
		return err
	}
	err = s.tx(ctx, run)
	if err != nil && poisonous(err) && len(e.missing) > 0 { // one of the missing grants may have caused the error
		if err = s.settleSeparately(ctx, e); err == nil {
			err = s.tx(ctx, run)
		}
	}
	if err != nil {
		return redpacket.Closed{}, tables.Outcome("end packet", err)
	}
	crashpoint.Here("close.after-commit")
	return closed, nil
}

// end ends an open packet. If the packet is closed already, it returns its book, with Done only if an earlier run of this call has
// closed it.
func (w *writer) end(e *endCall) (redpacket.Closed, error) {
	b, err := w.lockBook(e.ID)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if b.Status != redpacket.Open {
		if w.maybeCommitted {
			return w.endedBefore(e, b)
		}
		return redpacket.Closed{Book: b}, nil
	}
	closed := redpacket.Closed{Done: true}
	e.findMissing(b)
	if b.Refunded, err = e.refundAmount(b); err != nil {
		return redpacket.Closed{}, err
	}
	if closed.Accounts, err = w.payOut(e, &b); err != nil {
		return redpacket.Closed{}, err
	}
	b.Status = endStatus(e.Reason, b)
	closed.Book, closed.Inserted = b, e.inserted(b.Claims)
	if closed.Entry, err = w.appendDone(b, e.Close); err != nil {
		return redpacket.Closed{}, err
	}
	return closed, w.markClosed(b, e.Close, closed.Entry.Seq)
}

// lockBook locks the packet and then reads it with its claims. It waits until all transactions that settle claims of
// the packet have ended.
func (w *writer) lockBook(packet string) (b redpacket.Book, err error) {
	var batch pgx.Batch
	batch.Queue(`select from packets where id = $1 /*! and bucket = bucket_of($1) */ for update`, packet)
	w.queueBook(&batch, packet, &b)
	if err := w.sendBatch(&batch); err != nil {
		return redpacket.Book{}, err
	}
	return b, foundPacket(b.Packet.ID)
}

// endStatus returns the final status. If all shares are claimed it is Drained, whatever reason the caller gave.
func endStatus(reason redpacket.Status, b redpacket.Book) redpacket.Status {
	switch {
	case len(b.Claims) == b.Packet.Count:
		return redpacket.Drained
	case reason == redpacket.Cancelled:
		return redpacket.Cancelled
	}
	return redpacket.Expired
}

func (w *writer) appendDone(b redpacket.Book, c redpacket.Close) (chat.Entry, error) {
	body, err := redpacket.DoneBody(b)
	if err != nil {
		return chat.Entry{}, err
	}
	return w.appendEntry(chat.Entry{
		Room: b.Packet.Room, ID: c.EntryID, At: c.At, From: b.Packet.From, Kind: chat.KindPacketDone, Body: body,
	}, nil)
}

func (w *writer) markClosed(b redpacket.Book, c redpacket.Close, doneSeq int64) error {
	var batch pgx.Batch
	if best := redpacket.Luckiest(b.Packet, b.Claims); best != nil {
		batch.Queue(`update claims set luckiest = true where packet_id = $1 /*! and bucket = bucket_of($1) */ and share_no = $2`, c.ID, best.Share)
	}
	batch.Queue(`update packets set status = $2, closed_at = $3, refunded = $4, claimed = $5, done_seq = $6,
		seed = $7, shares = case when encrypted_seed = '' then shares else $8 end where id = $1 /*! and bucket = bucket_of($1) */`,
		c.ID, b.Status, c.At.UnixMilli(), b.Refunded, len(b.Claims), doneSeq, b.Seed[:], b.Shares)
	return w.sendBatch(&batch)
}

// endedBefore returns the result of an earlier run of this call, if that run has ended the packet. Otherwise it returns
// only the book.
func (w *writer) endedBefore(e *endCall, b redpacket.Book) (redpacket.Closed, error) {
	var seq int64
	if found, err := w.Row(`select done_seq from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{e.ID}, &seq); err != nil || !found {
		return redpacket.Closed{}, err
	}
	done, err := tables.ReadEntry(w, b.Packet.Room, seq)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if done.ID != e.EntryID {
		return redpacket.Closed{Book: b}, nil
	}
	if e.missing, err = tables.List(w, scanGrant, `select user_id, share_no from claims where packet_id = $1 /*! and bucket = bucket_of($1) */ and transfer = any($2)`, e.ID, e.ids()); err != nil {
		return redpacket.Closed{}, err
	}
	closed := redpacket.Closed{Done: true, Book: b, Entry: done, Inserted: e.inserted(b.Claims)}
	closed.Accounts, err = w.accounts(e.paidUsers(b))
	if err != nil {
		return redpacket.Closed{}, fmt.Errorf("read accounts: %w", err)
	}
	return closed, nil
}

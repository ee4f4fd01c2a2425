package tables

import (
	"context"
	"time"

	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

// StreamReader reads the event stream, and the ledger in the order of the links, in one snapshot. Each database has its own queries
// for that, so that it uses its indexes.
type StreamReader interface {
	EventState() (EventState, error)
	// EventRows reads at most limit rows in the order of their ids: of each chain those after its position and after floor. If it returns a row,
	// it returns all of these rows that the order puts before it.
	EventRows(after map[int64]int64, floor int64, limit int) ([]eventlog.Row, error)
	// NewestRows reads the newest row of each chain that has rows after floor. Only chain and id are set.
	NewestRows(floor int64) ([]eventlog.Row, error)
	// RowsAt reads the rows of these positions that exist, each once.
	RowsAt(at []eventlog.Position) ([]eventlog.Row, error)
	// Facts reads what the events of the page refer to.
	Facts(page eventlog.Page) (eventlog.Facts, error)
	// Links reads at most limit links in the order of their ids: of each chain those after its position. If it returns a link, it returns all of
	// these links that the order puts before it.
	Links(after map[int64]int64, limit int) ([]eventlog.LinkKey, error)
	// LinkRows counts the visible rows of links, which are ordered by id. Links without rows may be missing.
	LinkRows(links []eventlog.LinkKey) (map[int64]eventlog.LinkRows, error)
	// LinkTransfers reads the transfers of links, which are ordered by id. Sends and refunds are found by the entries of their transactions.
	LinkTransfers(links []eventlog.LinkKey) ([]eventlog.LedgerRow, error)
}

// EventState is what a reader must know of the stream before it reads rows.
type EventState struct {
	Epoch         string
	Floor, Newest int64 // the ids of the oldest mark and of the newest row; 0: there is none
}

// withState reads the state and runs fn with the same snapshot. In a new database it first draws the epoch.
func (t Tables) withState(ctx context.Context, fn func(StreamReader, EventState) error) error {
	var state EventState
	run := func() error {
		return t.db.Stream(ctx, func(r StreamReader) (err error) {
			if state, err = r.EventState(); err == nil && state.Epoch != "" {
				err = fn(r, state)
			}
			return err
		})
	}
	err := run()
	if err == nil && state.Epoch == "" { // a new database
		if _, err = t.Epoch(ctx); err == nil {
			err = run()
		}
	}
	return err
}

// maxEventRows is the number of rows that one read returns at most.
const maxEventRows = 500

// Events implements eventlog.Store.
func (t Tables) Events(ctx context.Context, q eventlog.Query) (b eventlog.Batch, err error) {
	err = t.withState(ctx, func(r StreamReader, state EventState) error {
		if err := q.After.Check(state.Epoch, state.Floor); err != nil {
			return err
		}
		found, err := r.EventRows(q.After.Read, state.Floor, maxEventRows)
		if err != nil {
			return err
		}
		page := eventlog.Read(q, state.Epoch, state.Floor, found, len(found) == maxEventRows)
		facts, err := r.Facts(page)
		b = page.Batch(facts, time.Now())
		return err
	})
	switch {
	case eventlog.Refused(err):
		return eventlog.Batch{}, err
	case err != nil:
		return eventlog.Batch{}, Outcome("read events", err)
	}
	return b, nil
}

// NewestEvent implements eventlog.Store.
func (t Tables) NewestEvent(ctx context.Context) (c eventlog.Cursor, err error) {
	err = t.withState(ctx, func(r StreamReader, state EventState) error {
		c = eventlog.Begin(state.Epoch, state.Floor)
		found, err := r.NewestRows(state.Floor)
		for _, row := range found {
			c.Read[row.Chain] = row.ID
		}
		return err
	})
	return c, Outcome("read the newest event", err)
}

// OldestEvent implements eventlog.Store.
func (t Tables) OldestEvent(ctx context.Context) (c eventlog.Cursor, err error) {
	err = t.withState(ctx, func(_ StreamReader, state EventState) error {
		c = eventlog.Begin(state.Epoch, state.Floor)
		return nil
	})
	return c, Outcome("read the oldest event", err)
}

// pruneStep is the most rows that one transaction of PruneEvents deletes of a chain.
const pruneStep = 5000

// PruneEvents implements eventlog.Store.
func (t Tables) PruneEvents(ctx context.Context, now, before time.Time, most int64) (deleted int64, err error) {
	var newest int64
	if err := t.withState(ctx, func(_ StreamReader, state EventState) error {
		newest = state.Newest
		return nil
	}); err != nil {
		return 0, Outcome("prune events", err)
	}
	err = t.db.Write(ctx, func(w Tx) error {
		if _, err := w.Exec(`insert into event_marks (id, at) select 0, 0 where not exists (select 1 from event_marks) on conflict do nothing`); err != nil {
			return err
		}
		if _, err := w.Exec(`insert into event_marks (id, at) values ($1, $2) on conflict do nothing`, newest, now.UnixMilli()); err != nil {
			return err
		}
		var floor int64
		if _, err := w.Row(`select max(id) from event_marks where at < $1 or id <= $2`, []any{before.UnixMilli(), newest - most}, &floor); err != nil {
			return err
		}
		if _, err := w.Exec(`delete from event_marks where id < $1`, floor); err != nil {
			return err
		}
		// Parked events whose rows are deleted can never be delivered.
		if _, err := w.Exec(`delete from event_holds where parked and id <= $1`, floor); err != nil {
			return err
		}
		deleted, err = w.DeleteEvents(floor, pruneStep)
		return err
	})
	return deleted, Outcome("prune events", err)
}

// ScanEvent scans the columns chain, id, at and refs of a row.
var ScanEvent = into(func(e *eventlog.Row) []any { return []any{&e.Chain, &e.ID, Time(&e.At), &e.Refs} })

const (
	linksPerRead = 500
	// readsPerPage is the most reads of links for one page. They are bounded because most links may have no transfers.
	readsPerPage = 40
)

// LedgerAfter implements redpacket.Ledger.
func (t Tables) LedgerAfter(ctx context.Context, text string, limit int) (page redpacket.LedgerPage, err error) {
	after, err := eventlog.ParseLedgerCursor(text)
	if err != nil {
		return redpacket.LedgerPage{}, err
	}
	page.More = true
	for range readsPerPage {
		var taken []redpacket.LedgerTransfer
		if taken, after, page.More, err = t.ledgerPart(ctx, after, limit-len(page.Transfers)); err != nil {
			return redpacket.LedgerPage{}, Outcome("read the ledger", err)
		}
		page.Transfers = append(page.Transfers, taken...)
		if !page.More || len(page.Transfers) == limit {
			break
		}
	}
	page.Next = eventlog.LedgerCursor(after)
	return page, nil
}

// ledgerPart reads the transfers of some links, and returns the cursor after them. more says that there may be more now. It ends before a young link
// whose rows are not visible yet. The transaction may run again, so it changes nothing that it reads.
func (t Tables) ledgerPart(ctx context.Context, after eventlog.Cursor, limit int) (taken []redpacket.LedgerTransfer, next eventlog.Cursor, more bool, err error) {
	err = t.withState(ctx, func(r StreamReader, state EventState) error {
		if after.Check(state.Epoch, 0) != nil {
			return redpacket.ErrLedgerEpoch
		}
		taken, next, more = nil, after, false
		links, err := r.Links(after.Read, linksPerRead)
		if err != nil || len(links) == 0 {
			return err
		}
		now := time.Now()
		var rows map[int64]eventlog.LinkRows
		if young := eventlog.YoungLinks(links, now); len(young) > 0 {
			if rows, err = r.LinkRows(young); err != nil {
				return err
			}
		}
		found, err := r.LinkTransfers(links)
		if err != nil {
			return err
		}
		visible := eventlog.VisibleLinks(links, rows, found, now)
		var whole bool
		taken, next, whole = eventlog.ReadLedger(after, state.Epoch, visible, found, limit)
		more = !whole || len(visible) == linksPerRead
		return nil
	})
	return taken, next, more, err
}

// ScanLinkKey scans the columns chain, id, at and leaves of a link.
var ScanLinkKey = into(func(l *eventlog.LinkKey) []any { return []any{&l.Chain, &l.ID, Time(&l.At), &l.Leaves} })

// CountLinkRows runs queries that count chained rows by link: each row has the link, the number of rows, and how many of them have a transfer of a send
// or a refund.
func CountLinkRows(q Querier, args []any, queries ...string) (map[int64]eventlog.LinkRows, error) {
	rows := map[int64]eventlog.LinkRows{}
	for _, query := range queries {
		err := q.Each(func(row Row) error {
			var link, leaves int64
			var moves int
			err := row.Scan(&link, &leaves, &moves)
			rows[link] = eventlog.LinkRows{Leaves: rows[link].Leaves + leaves, Moves: rows[link].Moves + moves}
			return err
		}, query, args...)
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// ScanLedgerRow scans a transfer of a link.
func ScanLedgerRow(row Row) (r eventlog.LedgerRow, err error) {
	t := &r.Transfer
	err = row.Scan(&r.Link, &t.ID, Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.User, &t.Share, &t.Actor, &t.RequestID, &t.Reason)
	return r, err
}

package sqlitestore

import (
	"context"
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// UseEvents implements eventlog.Store.
func (s *Store) UseEvents(kinds eventlog.Kinds) { s.events = kinds.Written() }

// addEvents adds the row of the open transaction to the event stream, if the transaction has written facts of the wanted kinds.
func (w *writer) addEvents() error {
	if w.refs.Empty() {
		return nil
	}
	text, err := w.refs.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Exec(`insert into events (chain, id, at, refs)
		select 0, max(coalesce((select max(id) from events), 0), coalesce((select max(id) from event_marks), 0)) + 1, ?, ?`,
		time.Now().UnixMilli(), text)
	return err
}

// eventState is what a reader must know of the event stream before it reads rows.
type eventState struct {
	epoch         string
	floor, newest int64 // the ids of the oldest mark and of the newest row
}

// withEventState reads the state and runs fn with the same snapshot.
func (s *Store) withEventState(ctx context.Context, state *eventState, fn func(r reader) error) error {
	run := func() error {
		return s.view(ctx, func(r reader) error {
			_, err := r.Row(`select coalesce((select cast(value as text) from settings where name = ?), ''),
				coalesce((select min(id) from event_marks), 0), coalesce((select max(id) from events), 0)`,
				[]any{tables.SettingEpoch}, &state.epoch, &state.floor, &state.newest)
			if err == nil && state.epoch != "" {
				err = fn(r)
			}
			return err
		})
	}
	err := run()
	if err == nil && state.epoch == "" { // a new database
		if _, err = s.Epoch(ctx); err == nil {
			err = run()
		}
	}
	return err
}

// maxEventRows is the number of rows that one read returns at most.
const maxEventRows = 500

// Events implements eventlog.Store.
func (s *Store) Events(ctx context.Context, q eventlog.Query) (b eventlog.Batch, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		if err := q.After.Check(state.epoch, state.floor); err != nil {
			return err
		}
		found, err := tables.List(r, func(rs tables.Row) (e eventlog.Row, err error) {
			err = rs.Scan(&e.Chain, &e.ID, tables.Time(&e.At), &e.Refs)
			return e, err
		}, `select chain, id, at, refs from events where chain = 0 and id > ? order by id limit ?`, max(q.After.Read[0], state.floor), maxEventRows)
		if err != nil {
			return err
		}
		page := eventlog.Read(q, state.epoch, state.floor, found, len(found) == maxEventRows)
		facts, err := readFacts(r, page)
		b = page.Batch(facts, state.newest)
		return err
	})
	switch {
	case eventlog.Refused(err):
		return eventlog.Batch{}, err
	case err != nil:
		return eventlog.Batch{}, tables.Outcome("read events", err)
	}
	return b, nil
}

// NewestEvent implements eventlog.Store.
func (s *Store) NewestEvent(ctx context.Context) (eventlog.Cursor, error) {
	var state eventState
	err := s.withEventState(ctx, &state, func(reader) error { return nil })
	c := eventlog.Begin(state.epoch, state.floor)
	if state.newest > state.floor {
		c.Read[0] = state.newest
	}
	return c, tables.Outcome("read the newest event", err)
}

// OldestEvent implements eventlog.Store.
func (s *Store) OldestEvent(ctx context.Context) (eventlog.Cursor, error) {
	var state eventState
	err := s.withEventState(ctx, &state, func(reader) error { return nil })
	return eventlog.Begin(state.epoch, state.floor), tables.Outcome("read the oldest event", err)
}

// pruneStep is the most rows that one transaction of PruneEvents deletes.
const pruneStep = 5000

// PruneEvents implements eventlog.Store.
func (s *Store) PruneEvents(ctx context.Context, now, before time.Time, most int64) (deleted int64, err error) {
	err = s.do(ctx, func(w *writer) error {
		var newest, floor int64
		if _, err := w.Exec(`insert into event_marks (id, at) select 0, 0 where not exists (select 1 from event_marks)`); err != nil {
			return err
		}
		if _, err := w.Row(`select max(coalesce((select max(id) from events), 0), (select max(id) from event_marks))`, nil, &newest); err != nil {
			return err
		}
		if _, err := w.Exec(`insert into event_marks (id, at) values (?, ?) on conflict do nothing`, newest, now.UnixMilli()); err != nil {
			return err
		}
		if _, err := w.Row(`select max(id) from event_marks where at < ? or id <= ?`, []any{before.UnixMilli(), newest - most}, &floor); err != nil {
			return err
		}
		if _, err := w.Exec(`delete from event_marks where id < ?`, floor); err != nil {
			return err
		}
		// Parked events whose rows are deleted can never be delivered.
		if _, err := w.Exec(`delete from event_holds where parked and id <= ?`, floor); err != nil {
			return err
		}
		deleted, err = w.Exec(`delete from events where chain = 0 and id <= ? and id < (select min(id) from events where chain = 0) + ?`, floor, pruneStep)
		return err
	})
	return deleted, tables.Outcome("prune events", err)
}

// readFacts loads what the events of the page refer to.
func readFacts(r reader, p eventlog.Page) (f eventlog.Facts, err error) {
	entries, claims, transfers := p.Needs()
	f = eventlog.Facts{
		Entries:   make(map[eventlog.EntryKey]chat.Entry, len(entries)),
		Claims:    make(map[eventlog.ClaimKey]eventlog.Claim, len(claims)),
		Transfers: make(map[eventlog.TransferKey]redpacket.Transfer, len(transfers)),
	}
	for _, k := range entries {
		e, err := tables.ReadEntry(r, k.Room, k.Seq)
		if errors.Is(err, tables.ErrNoEntry) {
			continue // the page reports that the fact is missing
		}
		if err != nil {
			return f, err
		}
		f.Entries[k] = e
	}
	for _, k := range claims {
		var c eventlog.Claim
		found, err := r.Row(`select c.packet_id, p.room_id, c.user_id, c.transfer, c.share_no, c.amount, c.at
			from claims c join packets p on p.id = c.packet_id where c.packet_id = ? and c.share_no = ?`, []any{k.Packet, k.Share},
			&c.Packet, &c.Room, &c.User, &c.Transfer, &c.Share, &c.Amount, tables.Time(&c.At))
		if err != nil {
			return f, err
		}
		if found {
			f.Claims[k] = c
		}
	}
	for _, k := range transfers {
		var t redpacket.Transfer
		found, err := r.Row(`select id, at, iif(credit = 'user:' || user_id, amount, -amount), kind, coalesce(packet_id, ''), note
			from transfers where user_id = ? and at = ? and id = ?`, []any{k.User, k.At, k.ID},
			&t.ID, tables.Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note)
		if err != nil {
			return f, err
		}
		if found {
			f.Transfers[k] = t
		}
	}
	return f, nil
}

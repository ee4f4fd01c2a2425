package sqlitestore

import (
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// UseEvents implements eventlog.Store.
func (s *Store) UseEvents(kinds eventlog.Kinds) { s.events = kinds.Written() }

// addEvents adds the row of the open transaction, which has written facts of the wanted kinds, to the event stream.
func (w *writer) addEvents() error {
	text, err := w.refs.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Exec(`insert into events (chain, id, at, refs)
		select 0, max(coalesce((select max(id) from events where chain = 0), 0), coalesce((select max(id) from event_marks), 0)) + 1, ?, ?`,
		time.Now().UnixMilli(), text)
	return err
}

// EventState implements tables.StreamReader.
func (r reader) EventState() (state tables.EventState, err error) {
	_, err = r.Row(`select coalesce((select cast(value as text) from settings where name = ?), ''),
		coalesce((select min(id) from event_marks), 0), coalesce((select max(id) from events where chain = 0), 0)`,
		[]any{tables.SettingEpoch}, &state.Epoch, &state.Floor, &state.Newest)
	return state, err
}

// EventRows implements tables.StreamReader. This database has only chain 0.
func (r reader) EventRows(after map[int64]int64, floor int64, limit int) ([]eventlog.Row, error) {
	return tables.List(r, tables.ScanEvent, `select chain, id, at, refs from events where chain = 0 and id > ? order by id limit ?`, max(after[0], floor), limit)
}

// NewestRows implements tables.StreamReader.
func (r reader) NewestRows(floor int64) ([]eventlog.Row, error) {
	return tables.List(r, tables.ScanEvent, `select chain, id, at, refs from events where chain = 0 and id > ? order by id desc limit 1`, floor)
}

// RowsAt implements tables.StreamReader.
func (r reader) RowsAt(at []eventlog.Position) (rows []eventlog.Row, err error) {
	seen := map[int64]bool{}
	for _, p := range at {
		found, err := tables.List(r, tables.ScanEvent, `select chain, id, at, refs from events where chain = ? and id = ?`, p.Chain, p.ID)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && !seen[p.ID] {
			seen[p.ID] = true
			rows = append(rows, found[0])
		}
	}
	return rows, nil
}

// Facts implements tables.StreamReader.
func (r reader) Facts(p eventlog.Page) (f eventlog.Facts, err error) {
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

// DeleteEvents implements tables.Tx.
func (w *writer) DeleteEvents(through, limit int64) (int64, error) {
	return w.Exec(`delete from events where chain = 0 and id <= ? and id < (select min(id) from events where chain = 0) + ?`, through, limit)
}

package pgstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// UseEvents implements eventlog.Store.
func (s *Store) UseEvents(kinds eventlog.Kinds) { s.events = kinds.Written() }

// insertEvents returns the statement that adds the row of this transaction to the stream. It must be the last statement that writes:
// Postgres draws the id when all rows are locked.
func (l *link) insertEvents(refs *eventlog.Refs) (string, error) {
	text, err := refs.Bytes()
	return fmt.Sprintf(`insert into events (chain, at, refs) values (%d, %d, '\x%s'::bytea)`, l.chain.number, l.at, hex.EncodeToString(text)), err
}

// insertPaidEvents adds the row of a payment some of whose claims may not have been inserted. $1 and $2 are the packets and
// shares of all its claims, and $3 is the chain, the id of the link, and its time.
const insertPaidEvents = `
insert into events (chain, at, refs)
select ($3::bigint[])[1], ($3::bigint[])[3], convert_to(jsonb_agg(jsonb_build_object('p', packet_id, 'n', shares) order by packet_id)::text, 'UTF8')
from (
	select c.packet_id, jsonb_agg(c.share_no order by c.share_no) as shares
	from (select distinct packet_id, share_no from unnest($1::text[], $2::int[]) i (packet_id, share_no)) i
	cross join lateral (select packet_id, share_no from claims where packet_id = i.packet_id and share_no = i.share_no and link = ($3::bigint[])[2] offset 0) c
	group by c.packet_id
) paid having count(*) > 0`

// queueEvents adds to the message, after the payment, the statement that writes its events. If allNew is set, all
// claims are inserted or the payment fails. If no kind of event about claims is wanted, it adds nothing.
func (b *claimBatch) queueEvents(m *message, w *writer, allNew bool) error {
	if !w.refs.WantsClaims() {
		return nil
	}
	if !allNew {
		packets, shares := make([]string, len(b.pay)), make([]int64, len(b.pay))
		for i, r := range b.pay {
			packets[i], shares[i] = r.ID, int64(r.Share)
		}
		m.run(nil, "", insertPaidEvents, packets, shares, []int64{w.link.chain.number, w.link.id, w.link.at})
		return nil
	}
	refs := eventlog.Collect(w.events)
	for _, r := range b.pay {
		refs.Claim(r.ID, r.Share)
	}
	insert, err := w.link.insertEvents(&refs)
	m.add(insert)
	return err
}

// eventState is what a reader must know of the stream before it reads rows.
type eventState struct {
	epoch         string
	floor, newest int64 // the ids of the oldest mark and of the newest row; 0: there is none
}

// streamChains are the chains that may have rows. The embedded database, from which rows may have been copied, has only chain 0.
const streamChains = `(select id from chains union all select 0) c (id)`

const readEventState = `select coalesce((select convert_from(value, 'UTF8') from settings where name = '` + tables.SettingEpoch + `'), ''),
	coalesce((select min(id) from event_marks), 0),
	coalesce((select max(e.id) from ` + streamChains + ` cross join lateral (select id from events where chain = c.id order by id desc limit 1) e), 0)`

// readEventRows reads at most $4 rows in the order of their ids: of each chain those after its position ($1, $2) and
// after $3. It sees one snapshot: if it returns a row, it returns all of these rows that the order puts before it.
const readEventRows = `select e.chain, e.id, e.at, e.refs
	from ` + streamChains + ` left join unnest($1::bigint[], $2::bigint[]) v (chain, id) on v.chain = c.id
	cross join lateral (
		select chain, id, at, refs from events where chain = c.id and id > greatest(v.id, $3::bigint) order by id limit $4) e
	order by e.id limit $4`

// maxEventRows is the number of rows that one read returns at most.
const maxEventRows = 500

// Events implements eventlog.Store.
func (s *Store) Events(ctx context.Context, q eventlog.Query) (b eventlog.Batch, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		if err := q.After.Check(state.epoch, state.floor); err != nil {
			return err
		}
		var read, ids []int64
		for number, id := range q.After.Read {
			read, ids = append(read, number), append(ids, id)
		}
		found, err := tables.List(r, scanEventRow, readEventRows, read, ids, state.floor, maxEventRows)
		if err != nil {
			return err
		}
		page := eventlog.Read(q, state.epoch, state.floor, found, len(found) == maxEventRows)
		facts, err := r.readFacts(page)
		b = page.Batch(facts, state.newest)
		return err
	})
	if err != nil {
		return eventlog.Batch{}, streamOutcome("read events", err)
	}
	return b, nil
}

// withEventState reads the state and runs fn with the same snapshot. In a new database it first draws the epoch.
func (s *Store) withEventState(ctx context.Context, state *eventState, fn func(r reader) error) error {
	run := func() error {
		return s.withSnapshot(ctx, func(r reader) error {
			_, err := r.Row(readEventState, nil, &state.epoch, &state.floor, &state.newest)
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

// streamOutcome is tables.Outcome, but lets the errors of a cursor pass.
func streamOutcome(doing string, err error) error {
	if eventlog.Refused(err) {
		return err
	}
	return tables.Outcome(doing, err)
}

func scanEventRow(rs tables.Row) (r eventlog.Row, err error) {
	err = rs.Scan(&r.Chain, &r.ID, tables.Time(&r.At), &r.Refs)
	return r, err
}

// NewestEvent implements eventlog.Store.
func (s *Store) NewestEvent(ctx context.Context) (c eventlog.Cursor, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(r reader) error {
		c = eventlog.Begin(state.epoch, state.floor)
		found, err := tables.List(r, scanEventRow, `select e.chain, e.id, 0::bigint, ''::bytea
			from `+streamChains+` cross join lateral (select chain, id from events where chain = c.id and id > $1 order by id desc limit 1) e`, state.floor)
		for _, row := range found {
			c.Read[row.Chain] = row.ID
		}
		return err
	})
	return c, tables.Outcome("read the newest event", err)
}

// OldestEvent implements eventlog.Store.
func (s *Store) OldestEvent(ctx context.Context) (c eventlog.Cursor, err error) {
	var state eventState
	err = s.withEventState(ctx, &state, func(reader) error { return nil })
	return eventlog.Begin(state.epoch, state.floor), tables.Outcome("read the oldest event", err)
}

// pruneStep is the most rows that one transaction of PruneEvents deletes of a chain.
const pruneStep = 5000

// PruneEvents implements eventlog.Store.
func (s *Store) PruneEvents(ctx context.Context, now, before time.Time, most int64) (deleted int64, err error) {
	var state eventState
	if err := s.withEventState(ctx, &state, func(reader) error { return nil }); err != nil {
		return 0, tables.Outcome("prune events", err)
	}
	err = s.tx(ctx, func(w *writer) error {
		if _, err := w.Exec(`insert into event_marks (id, at) select 0, 0 where not exists (select 1 from event_marks) on conflict do nothing`); err != nil {
			return err
		}
		if _, err := w.Exec(`insert into event_marks (id, at) values ($1, $2) on conflict do nothing`, state.newest, now.UnixMilli()); err != nil {
			return err
		}
		var floor int64
		if _, err := w.Row(`select max(id) from event_marks where at < $1 or id <= $2`, []any{before.UnixMilli(), state.newest - most}, &floor); err != nil {
			return err
		}
		if _, err := w.Exec(`delete from event_marks where id < $1`, floor); err != nil {
			return err
		}
		// Parked events whose rows are deleted can never be delivered.
		if _, err := w.Exec(`delete from event_holds where parked and id <= $1`, floor); err != nil {
			return err
		}
		deleted, err = w.Exec(`delete from events e using (
			select o.chain, o.id from `+streamChains+` cross join lateral (
				select chain, id from events where chain = c.id and id <= $1 order by id limit $2) o) old
			where e.chain = old.chain and e.id = old.id`, floor, pruneStep)
		return err
	})
	return deleted, tables.Outcome("prune events", err)
}

// readFacts loads what the events of the page refer to.
func (r reader) readFacts(p eventlog.Page) (f eventlog.Facts, err error) {
	entries, claims, transfers := p.Needs()
	if f.Entries, err = r.readEntryFacts(entries); err != nil {
		return f, err
	}
	if f.Claims, err = r.readClaimFacts(claims); err != nil {
		return f, err
	}
	f.Transfers, err = r.readTransferFacts(transfers)
	return f, err
}

func (r reader) readEntryFacts(keys []eventlog.EntryKey) (map[eventlog.EntryKey]chat.Entry, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rooms, seqs := make([]string, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		rooms[i], seqs[i] = k.Room, k.Seq
	}
	found, err := tables.List(r, tables.ScanEntry, tables.FirstOnCitus(
		tables.Of("e", "entries", `bucket = any(buckets_of($1::text[])) and room_id = any($1::text[]) and seq = any($2::bigint[])`))+`select `+tables.EntryColumns+` from unnest($1::text[], $2::bigint[]) i (room, no)
		cross join lateral (select `+tables.EntryColumns+` from `+tables.Named("entries", "e")+` where room_id = i.room and seq = i.no offset 0) e`, rooms, seqs)
	facts := make(map[eventlog.EntryKey]chat.Entry, len(found))
	for _, e := range found {
		facts[eventlog.EntryKey{Room: e.Room, Seq: e.Seq}] = e
	}
	return facts, err
}

func (r reader) readClaimFacts(keys []eventlog.ClaimKey) (map[eventlog.ClaimKey]eventlog.Claim, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	packets, shares := make([]string, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		packets[i], shares[i] = k.Packet, int64(k.Share)
	}
	found, err := tables.List(r, func(rs tables.Row) (c eventlog.Claim, err error) {
		err = rs.Scan(&c.Packet, &c.Room, &c.User, &c.Transfer, &c.Share, &c.Amount, tables.Time(&c.At))
		return c, err
	}, tables.FirstOnCitus(
		tables.Of("cs", "claims", `bucket = any(buckets_of($1::text[])) and packet_id = any($1::text[]) and share_no = any($2::bigint[])`),
		tables.Of("ps", "packets", `bucket = any(buckets_of($1::text[])) and id = any($1::text[])`))+`select c.packet_id, p.room_id, c.user_id, c.transfer, c.share_no, c.amount, c.at
		from unnest($1::text[], $2::bigint[]) i (packet_id, share_no)
		cross join lateral (select packet_id, user_id, transfer, share_no, amount, at from `+tables.Named("claims", "cs")+` where packet_id = i.packet_id and share_no = i.share_no offset 0) c
		cross join lateral (select room_id from `+tables.Named("packets", "ps")+` where id = i.packet_id offset 0) p`, packets, shares)
	facts := make(map[eventlog.ClaimKey]eventlog.Claim, len(found))
	for _, c := range found {
		facts[eventlog.ClaimKey{Packet: c.Packet, Share: c.Share}] = c
	}
	return facts, err
}

func (r reader) readTransferFacts(keys []eventlog.TransferKey) (map[eventlog.TransferKey]redpacket.Transfer, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	users, ats, ids := make([]string, len(keys)), make([]int64, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		users[i], ats[i], ids[i] = k.User, k.At, k.ID
	}
	type owned struct {
		redpacket.Transfer

		user string
	}
	found, err := tables.List(r, func(rs tables.Row) (t owned, err error) {
		err = rs.Scan(&t.ID, tables.Time(&t.At), &t.Amount, &t.Kind, &t.Packet, &t.Note, &t.user)
		return t, err
	}, tables.FirstOnCitus(
		tables.Of("ts", "transfers", `bucket = any(buckets_of($1::text[])) and user_id = any($1::text[]) and at = any($2::bigint[])`))+`select t.id, t.at, case when t.credit = 'user:' || t.user_id then t.amount else -t.amount end, t.kind, coalesce(t.packet_id, ''), t.note, t.user_id
		from unnest($1::text[], $2::bigint[], $3::text[]) i (user_id, at, id)
		cross join lateral (select id, at, credit, amount, kind, packet_id, note, user_id from `+tables.Named("transfers", "ts")+` where user_id = i.user_id and at = i.at and id = i.id offset 0) t`, users, ats, ids)
	facts := make(map[eventlog.TransferKey]redpacket.Transfer, len(found))
	for _, t := range found {
		facts[eventlog.TransferKey{User: t.user, At: t.At.UnixMilli(), ID: t.ID}] = t.Transfer
	}
	return facts, err
}

// addEvents returns the statements that add the row of the transaction to the stream, or "".
func (w *writer) addEvents() (string, error) {
	if w.refs.Empty() {
		return "", nil
	}
	insert, err := w.link.insertEvents(&w.refs)
	return insert + "; ", err
}

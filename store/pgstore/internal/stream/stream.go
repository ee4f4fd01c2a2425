// Package stream reads the event stream, and the ledger in the order of the links, from Postgres. It writes nothing, and reads each
// page in one snapshot, which the caller has begun. Its queries find their rows by indexes, however many rows there are: a subquery ends with
// "offset 0" where Postgres could join in another order.
package stream

import (
	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// Reader implements tables.StreamReader.
type Reader struct{ pg.Reader }

// Delete deletes rows of the event stream with ids up to $1, at most $2 of each chain.
const Delete = `delete from events e using (
	select o.chain, o.id from ` + streamChains + ` cross join lateral (
		select chain, id from events where chain = c.id and id <= $1 order by id limit $2) o) old
	where e.chain = old.chain and e.id = old.id`

// streamChains are the chains that may have rows. The embedded database, from which rows may have been copied, has only chain 0.
const streamChains = `(select id from chains union all select 0) c (id)`

const readEventState = `select coalesce((select convert_from(value, 'UTF8') from settings where name = '` + tables.SettingEpoch + `'), ''),
	coalesce((select min(id) from event_marks), 0),
	coalesce((select max(e.id) from ` + streamChains + ` cross join lateral (select id from events where chain = c.id order by id desc limit 1) e), 0)`

// EventState implements tables.StreamReader.
func (r Reader) EventState() (state tables.EventState, err error) {
	_, err = r.Row(readEventState, nil, &state.Epoch, &state.Floor, &state.Newest)
	return state, err
}

// readEventRows reads at most $4 rows: of each chain those after its position ($1, $2) and after $3.
const readEventRows = `select e.chain, e.id, e.at, e.refs
	from ` + streamChains + ` left join unnest($1::bigint[], $2::bigint[]) v (chain, id) on v.chain = c.id
	cross join lateral (
		select chain, id, at, refs from events where chain = c.id and id > greatest(v.id, $3::bigint) order by id limit $4) e
	order by e.id limit $4`

// EventRows implements tables.StreamReader.
func (r Reader) EventRows(after map[int64]int64, floor int64, limit int) ([]eventlog.Row, error) {
	numbers, ids := positions(after)
	return tables.List(r, tables.ScanEvent, readEventRows, numbers, ids, floor, limit)
}

func positions(after map[int64]int64) (numbers, ids []int64) {
	for number, id := range after {
		numbers, ids = append(numbers, number), append(ids, id)
	}
	return numbers, ids
}

// NewestRows implements tables.StreamReader.
func (r Reader) NewestRows(floor int64) ([]eventlog.Row, error) {
	return tables.List(r, tables.ScanEvent, `select e.chain, e.id, 0::bigint, ''::bytea
		from `+streamChains+` cross join lateral (select chain, id from events where chain = c.id and id > $1 order by id desc limit 1) e`, floor)
}

// RowsAt implements tables.StreamReader.
func (r Reader) RowsAt(at []eventlog.Position) ([]eventlog.Row, error) {
	numbers, ids := make([]int64, len(at)), make([]int64, len(at))
	for i, p := range at {
		numbers[i], ids[i] = p.Chain, p.ID
	}
	return tables.List(r, tables.ScanEvent, `select e.chain, e.id, e.at, e.refs
		from (select distinct chain, id from unnest($1::bigint[], $2::bigint[]) i (chain, id)) i
		cross join lateral (select chain, id, at, refs from events where chain = i.chain and id = i.id offset 0) e`, numbers, ids)
}

// Facts implements tables.StreamReader.
func (r Reader) Facts(p eventlog.Page) (f eventlog.Facts, err error) {
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

func (r Reader) readEntryFacts(keys []eventlog.EntryKey) (map[eventlog.EntryKey]chat.Entry, error) {
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

func (r Reader) readClaimFacts(keys []eventlog.ClaimKey) (map[eventlog.ClaimKey]eventlog.Claim, error) {
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

func (r Reader) readTransferFacts(keys []eventlog.TransferKey) (map[eventlog.TransferKey]redpacket.Transfer, error) {
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

package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// desertedColumn is true for a direct room that at least one of its users has left.
const desertedColumn = `kind = 'direct' and members < 2`

// appendEntry locks the room, assigns its next seq to the entry and inserts the entry. hash is that of the request that made
// the entry, or nil if none did.
//
// If the entry is content, the sender's row in members must be locked already. appendEntry then also advances the
// sender's own read_seq, so that a user's own entries never count as unread, and counts the sender's membership as
// chosen. It returns chat.ErrContactRefused for content in a direct room that the other user has left. In a frozen room
// it refuses content that is not from System. Whether the room is deleted, and whether the key was used before, must be
// checked elsewhere.
func (w *writer) appendEntry(e chat.Entry, hash []byte) (chat.Entry, error) {
	content := 0
	if e.Kind.Content() {
		content = 1
	}
	var contentNo int64
	var deserted, frozen bool
	found, err := w.Row(`update rooms set last_seq = last_seq + 1, content_no = content_no + $1 where id = $2
		returning last_seq, content_no, `+desertedColumn+`, frozen`, []any{content, e.Room}, &e.Seq, &contentNo, &deserted, &frozen)
	if err != nil {
		return chat.Entry{}, err
	}
	if !found {
		return chat.Entry{}, chat.ErrNotFound
	}
	if deserted && e.Kind.Content() {
		return chat.Entry{}, chat.ErrContactRefused
	}
	if err := chat.FrozenRefusal(frozen && e.Kind.Content(), e.From); err != nil {
		return chat.Entry{}, err
	}
	seals := chain.NewSeals()
	link, err := w.chained(chain.EntryLeaf(e, hash, 0, seals))
	if err != nil {
		return chat.Entry{}, err
	}
	b := &pgx.Batch{}
	b.Queue(`insert into entries (/*! bucket, */ `+tables.EntryColumns+`, content_no, link, name_seal, text_seal)
		values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		e.Room, e.Seq, e.ID, e.At.UnixMilli(), e.From.ID, e.From.Name, e.From.Avatar, e.Kind, e.Key, string(e.Body), contentNo,
		link, seals.Name, seals.Text)
	if content == 1 {
		b.Queue(`update members set read_seq = $1, chosen = true where room_id = $2 and user_id = $3`, e.Seq, e.Room, e.From.ID)
	}
	w.refs.Entry(e.Room, e.Seq, e.Kind)
	e.At = tables.Millis(e.At.UnixMilli()) // with the precision that is stored
	return e, w.sendBatch(b)
}

// Notes are entries that are not content, so no read_seq advances with them. The caller must hold the lock of their
// room.

// queueNotes assigns the next seqs of the room to the notes and makes the batch insert them. It sets room.LastSeq,
// which the caller must write. All notes must have the same sender and time. target is the seq of the entry that they
// refer to, or 0.
func (w *writer) queueNotes(b *pgx.Batch, room *chat.Room, notes []chat.Entry, target int64) error {
	if len(notes) == 0 {
		return nil
	}
	var seqs []int64
	var ids, kinds, bodies []string
	var names, texts [][]byte
	var leaves []chain.Hash
	for i := range notes {
		n := &notes[i]
		room.LastSeq++
		n.Room, n.Seq, n.At = room.ID, room.LastSeq, tables.Millis(n.At.UnixMilli()) // as they will be read back
		seqs, ids, kinds, bodies = append(seqs, n.Seq), append(ids, n.ID), append(kinds, string(n.Kind)), append(bodies, string(n.Body))
		seals := chain.NewSeals()
		leaves = append(leaves, chain.EntryLeaf(*n, nil, target, seals))
		names, texts = append(names, seals.Name), append(texts, seals.Text)
		w.refs.Entry(n.Room, n.Seq, n.Kind)
	}
	link, err := w.chained(leaves...)
	if err != nil {
		return err
	}
	first := notes[0]
	b.Queue(`insert into entries (/*! bucket, */ `+tables.EntryColumns+`, content_no, target, link, name_seal, text_seal)
		select /*! bucket_of($1), */ r.id, l.seq, l.id, $2, $3, $4, $5, l.kind, '', l.body, r.content_no, $6, $11, l.name_seal, l.text_seal
		from unnest($7::bigint[], $8::text[], $9::text[], $10::text[], $12::bytea[], $13::bytea[])
			as l (seq, id, kind, body, name_seal, text_seal), rooms r where r.id = $1`,
		first.Room, first.At.UnixMilli(), first.From.ID, first.From.Name, first.From.Avatar, target, seqs, ids, kinds, bodies,
		link, names, texts)
	return nil
}

// committedBefore reports whether an earlier run of this transaction, which made these entries, was committed after
// all. Without entries it returns false.
func (w *writer) committedBefore(made ...chat.Entry) (bool, error) {
	if !w.maybeCommitted || len(made) == 0 {
		return false, nil
	}
	e := made[0]
	return w.Row(`select 1 from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and id = $3`, []any{e.Room, e.Seq, e.ID}, new(int))
}

// Spans implements chat.Store. One statement reads all rooms, each by a range scan of the index. It sees one snapshot,
// except on Citus.
func (s *Store) Spans(ctx context.Context, spans []chat.Span) (found map[string][]chat.Entry, err error) {
	rooms, after, through := make([]string, len(spans)), make([]int64, len(spans)), make([]int64, len(spans))
	for i, sp := range spans {
		rooms[i], after[i], through[i] = sp.Room, sp.After, sp.Through
	}
	var entries []chat.Entry
	err = s.withReader(ctx, func(r reader) error {
		entries, err = tables.List(r, tables.ScanEntry, `/*! with es as materialized (select `+tables.EntryColumns+` from entries
				join unnest($1::text[], $2::bigint[], $3::bigint[]) span (room, after, through) on room_id = room and seq > after and seq <= through
				where bucket = any(buckets_of($1::text[]))) */
			select `+tables.EntryColumns+` from unnest($1::text[], $2::bigint[], $3::bigint[])
			with ordinality as span (room, after, through, no)
			cross join lateral (select `+tables.EntryColumns+` from /*one*/ entries /*end*/ /*! es */
				where room_id = span.room and seq > span.after and seq <= span.through order by seq) e
			order by no, seq`, rooms, after, through)
		return err
	})
	if err != nil {
		return nil, tables.Outcome("read spans", err)
	}
	found = make(map[string][]chat.Entry, len(spans))
	for _, e := range entries {
		found[e.Room] = append(found[e.Room], e)
	}
	return found, nil
}

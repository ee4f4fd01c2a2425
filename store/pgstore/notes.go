package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

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

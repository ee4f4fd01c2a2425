package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// Notes are entries that are no content: nobody's read_seq moves with them. The caller holds their room.

// queueNotes gives the notes, which are by the same one at the same time, the room's next seqs, and has them written. The
// target is the entry that they are about, if there is one.
func queueNotes(b *pgx.Batch, room *chat.Room, notes []chat.Entry, target int64) {
	if len(notes) == 0 {
		return
	}
	var seqs []int64
	var ids, kinds, bodies []string
	for i := range notes {
		n := &notes[i]
		room.LastSeq++
		n.Room, n.Seq, n.At = room.ID, room.LastSeq, fromMillis(n.At.UnixMilli()) // as they will be read back
		seqs, ids, kinds, bodies = append(seqs, n.Seq), append(ids, n.ID), append(kinds, string(n.Kind)), append(bodies, string(n.Body))
	}
	first := notes[0]
	b.Queue(`insert into entries (`+entryColumns+`, content_no, target)
		select r.id, l.seq, l.id, $2, $3, $4, $5, l.kind, '', l.body, r.content_no, $6
		from unnest($7::bigint[], $8::text[], $9::text[], $10::text[]) as l (seq, id, kind, body), rooms r where r.id = $1`,
		first.Room, first.At.UnixMilli(), first.From.ID, first.From.Name, first.From.Avatar, target, seqs, ids, kinds, bodies)
}

// kept tells whether an earlier run of the same transaction, which made these entries, has been committed.
func (w *writer) kept(made ...chat.Entry) (bool, error) {
	if !w.again || len(made) == 0 {
		return false, nil
	}
	e := made[0]
	return w.row(`select 1 from entries where room_id = $1 and seq = $2 and id = $3`, []any{e.Room, e.Seq, e.ID}, new(int))
}

package tables

import (
	"hongbao/chat"
	"hongbao/store/chain"
)

// Deserted is a column of a room. It is true for a direct room that at least one of its users has left.
const Deserted = `kind = 'direct' and members < 2`

// AppendEntry locks the room, assigns its next seq to the entry and inserts the entry. hash is that of the request that made
// the entry, or nil if none did.
//
// If the entry is content, the sender's row in members must be locked already. AppendEntry then also advances the
// sender's own read_seq, so that a user's own entries never count as unread, and counts the sender's membership as
// chosen. It returns chat.ErrContactRefused for content in a direct room that the other user has left. In a frozen room
// it refuses content that is not from System, and in a room without packets it refuses packets. In a deleted room it
// refuses all content with chat.ErrNotFound. Whether the key was used before must be checked elsewhere.
func AppendEntry(w Tx, e chat.Entry, hash []byte) (chat.Entry, error) {
	content := 0
	if e.Kind.Content() {
		content = 1
	}
	var contentNo int64
	var deserted, noPackets, frozen, deleted bool
	found, err := w.Row(`update rooms set last_seq = last_seq + 1, content_no = content_no + $1 where id = $2
		returning last_seq, content_no, `+Deserted+`, not packets, frozen, deleted_at <> 0`, []any{content, e.Room}, &e.Seq, &contentNo, &deserted, &noPackets, &frozen, &deleted)
	if err != nil {
		return chat.Entry{}, err
	}
	if !found || deleted && e.Kind.Content() {
		return chat.Entry{}, chat.ErrNotFound
	}
	if deserted && e.Kind.Content() {
		return chat.Entry{}, chat.ErrContactRefused
	}
	if err := chat.FrozenRefusal(frozen && e.Kind.Content(), e.From); err != nil {
		return chat.Entry{}, err
	}
	if err := chat.PacketsRefusal(noPackets, e.Kind); err != nil {
		return chat.Entry{}, err
	}
	seals := chain.NewSeals()
	link, err := w.Chained(chain.EntryLeaf(e, hash, 0, seals))
	if err != nil {
		return chat.Entry{}, err
	}
	var b Batch
	b.Exec(`insert into entries (/*! bucket, */ `+EntryColumns+`, content_no, link, name_seal, text_seal)
		values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		e.Room, e.Seq, e.ID, e.At.UnixMilli(), e.From.ID, e.From.Name, e.From.Avatar, e.Kind, e.Key, string(e.Body), contentNo,
		link, seals.Name, seals.Text)
	if content == 1 {
		b.Exec(`update members set read_seq = $1, chosen = true where room_id = $2 and user_id = $3`, e.Seq, e.Room, e.From.ID)
	}
	w.Events().Entry(e.Room, e.Seq, e.Kind)
	e.At = Millis(e.At.UnixMilli()) // with the precision that is stored
	return e, w.Send(&b)
}

// queueNotes assigns the next seqs of the room to the notes and makes the batch insert them. Notes are entries that are not
// content, so no read_seq advances with them. The caller must hold the lock of the room. queueNotes sets room.LastSeq, which
// the caller must write. target is the seq of the entry that the notes refer to, or 0.
func queueNotes(w Tx, b *Batch, room *chat.Room, notes []chat.Entry, target int64) error {
	for i := range notes {
		n := &notes[i]
		room.LastSeq++
		n.Room, n.Seq, n.At = room.ID, room.LastSeq, Millis(n.At.UnixMilli()) // as they will be read back
		seals := chain.NewSeals()
		link, err := w.Chained(chain.EntryLeaf(*n, nil, target, seals))
		if err != nil {
			return err
		}
		b.Exec(`insert into entries (/*! bucket, */ `+EntryColumns+`, content_no, target, link, name_seal, text_seal)
			select /*! bucket_of($1), */ id, $2, $3, $4, $5, $6, $7, $8, '', $9, content_no, $10, $11, $12, $13 from rooms where id = $1`,
			n.Room, n.Seq, n.ID, n.At.UnixMilli(), n.From.ID, n.From.Name, n.From.Avatar, n.Kind, string(n.Body), target, link, seals.Name, seals.Text)
		w.Events().Entry(n.Room, n.Seq, n.Kind)
	}
	return nil
}

// committedBefore reports whether an earlier run of this transaction, which made these entries, was committed after
// all. Without entries it returns false.
func committedBefore(w Tx, made ...chat.Entry) (bool, error) {
	if !w.Again() || len(made) == 0 {
		return false, nil
	}
	e := made[0]
	return w.Row(`select 1 from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and id = $3`, []any{e.Room, e.Seq, e.ID}, new(int))
}

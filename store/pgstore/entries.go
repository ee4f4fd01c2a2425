package pgstore

import (
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

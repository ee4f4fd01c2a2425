package sqlitestore

import (
	"cmp"
	"context"

	"hongbao/chat"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

// desertedColumn is the SQL that says whether a room is a direct room that at least one of its two users has left.
const desertedColumn = `kind = 'direct' and members < 2`

// Append implements chat.Store.
func (s *Store) Append(ctx context.Context, d chat.Draft) (e chat.Entry, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		e, dup, err = w.appendDraft(d)
		return err
	})
	if err != nil {
		return chat.Entry{}, false, tables.Outcome("append entry", err)
	}
	return e, dup, nil
}

func (w *writer) appendDraft(d chat.Draft) (e chat.Entry, dup bool, err error) {
	req, dup, err := tables.LookupRequest(w, d.From.ID, d.Key, d.Hash)
	if err != nil {
		return chat.Entry{}, false, err
	}
	if dup {
		e, err := tables.ReadEntry(w, req.Room, req.Seq)
		return e, true, err
	}
	if d.From.IsSystem() {
		if room, err := tables.ReadRoom(w, d.Room); err != nil || room.Deleted {
			return chat.Entry{}, false, cmp.Or(err, chat.ErrNotFound)
		}
	}
	st, err := tables.ReadStanding(w, d.Room, d.From.ID)
	if err != nil {
		return chat.Entry{}, false, err
	}
	if err := d.Refusal(st); err != nil {
		return chat.Entry{}, false, err
	}
	e, err = w.insertEntry(chat.Entry{
		Room: d.Room, ID: d.ID, At: d.At, From: d.From, Kind: d.Kind, Key: d.Key, Body: d.Body,
	}, d.Hash, 0)
	if err != nil {
		return chat.Entry{}, false, err
	}
	if d.ReplyTo < 0 || d.ReplyTo >= e.Seq {
		return chat.Entry{}, false, chat.BadField("reply_to", "must be an entry of the room")
	}
	if err := w.mention(e, d.Mentions); err != nil {
		return chat.Entry{}, false, err
	}
	return e, false, tables.PutRequest(w, d.From.ID, d.Key, d.Hash, tables.Request{Room: d.Room, Seq: e.Seq})
}

// appendEntry appends an entry without an idempotency key and without a target.
func (w *writer) appendEntry(e chat.Entry) (chat.Entry, error) { return w.insertEntry(e, nil, 0) }

// insertEntry assigns the room's next seq to the entry and inserts it. hash is that of the request that made the entry,
// or nil if none did. target is the seq of the entry that the new entry refers to, or 0. If the new entry is content,
// insertEntry also marks the sender's membership as chosen, and advances the sender's read_seq, so that own entries never
// count as unread. A direct room that a user has left refuses content. A frozen room refuses content that is not from
// the system.
func (w *writer) insertEntry(e chat.Entry, hash []byte, target int64) (chat.Entry, error) {
	content := 0
	if e.Kind.Content() {
		content = 1
	}
	var contentNo int64
	var deserted, frozen bool
	found, err := w.Row(`update rooms set last_seq = last_seq + 1, content_no = content_no + ? where id = ?
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
	link, err := w.chained(chain.EntryLeaf(e, hash, target, seals))
	if err != nil {
		return chat.Entry{}, err
	}
	if _, err := w.Exec(`insert into entries (`+tables.EntryColumns+`, content_no, target, link, name_seal, text_seal)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Room, e.Seq, e.ID, e.At.UnixMilli(), e.From.ID, e.From.Name, e.From.Avatar, e.Kind, e.Key, string(e.Body),
		contentNo, target, link, seals.Name, seals.Text); err != nil {
		return chat.Entry{}, err
	}
	if content == 1 {
		if _, err := w.Exec(`update members set read_seq = ?, chosen = 1 where room_id = ? and user_id = ?`,
			e.Seq, e.Room, e.From.ID); err != nil {
			return chat.Entry{}, err
		}
	}
	w.refs.Entry(e.Room, e.Seq, e.Kind)
	e.At = tables.Millis(e.At.UnixMilli()) // with the precision that is stored
	return e, nil
}

// Spans implements chat.Store.
func (s *Store) Spans(ctx context.Context, spans []chat.Span) (map[string][]chat.Entry, error) {
	found := make(map[string][]chat.Entry, len(spans))
	err := s.view(ctx, func(r reader) error {
		for _, sp := range spans {
			entries, err := tables.List(r, tables.ScanEntry, `select `+tables.EntryColumns+` from entries
				where room_id = ? and seq > ? and seq <= ? order by seq`, sp.Room, sp.After, sp.Through)
			if err != nil {
				return err
			}
			if len(entries) > 0 {
				found[sp.Room] = append(found[sp.Room], entries...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, tables.Outcome("read spans", err)
	}
	return found, nil
}

// mention stores that the entry mentions the users. It skips users that are no members: they cannot see the entry.
func (w *writer) mention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.Exec(`insert into mentions (user_id, at, room_id, seq)
			select user_id, ?, room_id, ? from members where room_id = ? and user_id = ? and state = 'in'`, e.At.UnixMilli(), e.Seq, e.Room, user); err != nil {
			return err
		}
	}
	return nil
}

// unmention removes what mention has stored.
func (w *writer) unmention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.Exec(`delete from mentions where user_id = ? and at = ? and room_id = ? and seq = ?`, user, e.At.UnixMilli(), e.Room, e.Seq); err != nil {
			return err
		}
	}
	return nil
}

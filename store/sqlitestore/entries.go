package sqlitestore

import (
	"cmp"
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

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
	e, err = tables.AppendEntry(w, chat.Entry{
		Room: d.Room, ID: d.ID, At: d.At, From: d.From, Kind: d.Kind, Key: d.Key, Body: d.Body,
	}, d.Hash)
	if err != nil {
		return chat.Entry{}, false, err
	}
	if d.ReplyTo < 0 || d.ReplyTo >= e.Seq {
		return chat.Entry{}, false, chat.BadField("reply_to", "must be an entry of the room")
	}
	if err := w.mention(e, d.Mentions); err != nil {
		return chat.Entry{}, false, err
	}
	if d.MentionAll {
		if _, err := w.Exec(tables.PutMentionOfAll, e.Room, e.At.UnixMilli(), e.Seq); err != nil {
			return chat.Entry{}, false, err
		}
	}
	if err := tables.TakeFiles(w, d.Room, d.From.ID, e.Seq, d.Files); err != nil {
		return chat.Entry{}, false, err
	}
	return e, false, tables.PutRequest(w, d.From.ID, d.Key, d.Hash, tables.Request{Room: d.Room, Seq: e.Seq})
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

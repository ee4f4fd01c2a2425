package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// mention stores that the entry mentions the users. It skips users that are no members: they cannot see the entry.
func (w *writer) mention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.exec(`insert into mentions (user_id, at, room_id, seq)
			select user_id, ?, room_id, ? from members where room_id = ? and user_id = ? and state = 'in'`, e.At.UnixMilli(), e.Seq, e.Room, user); err != nil {
			return err
		}
	}
	return nil
}

// unmention removes what mention has stored.
func (w *writer) unmention(e chat.Entry, users []string) error {
	for _, user := range users {
		if _, err := w.exec(`delete from mentions where user_id = ? and at = ? and room_id = ? and seq = ?`, user, e.At.UnixMilli(), e.Room, e.Seq); err != nil {
			return err
		}
	}
	return nil
}

// Mentions implements chat.Store. It reads limit mentions, and one more to know whether there are more. Those in rooms that the user has
// left count, too, so that the cost of a page is bounded.
func (s *Store) Mentions(ctx context.Context, user, next string, limit, maxBytes int) (entries []chat.Entry, more string, err error) {
	where, args := `user_id = ?`, []any{user}
	if next != "" {
		var at, seq int64
		var room string
		if err := cursor.Parse("mentions", next, &at, &room, &seq); err != nil {
			return nil, "", err
		}
		where, args = where+` and (at, room_id, seq) < (?, ?, ?)`, append(args, at, room, seq)
	}
	found, err := rows(reader{ctx, s.read}, scanMention, `select m.user_id is not null, e.room_id, e.seq, e.id, e.at, e.sender, e.sender_name, e.sender_avatar, e.kind,
			e.key, e.body, e.fold
		from (select user_id, at, room_id, seq from mentions where `+where+` order by at desc, room_id desc, seq desc limit ?) n
		join entries e on e.room_id = n.room_id and e.seq = n.seq
		left join members m on m.room_id = n.room_id and m.user_id = n.user_id and m.state = 'in'
		order by n.at desc, n.room_id desc, n.seq desc`, append(args, limit+1)...)
	if err != nil {
		return nil, "", outcome("list mentions", err)
	}
	entries, more = mentionPage(found, limit, maxBytes)
	return entries, more, nil
}

// mention is an entry that mentions a user.
type mention struct {
	entry chat.Entry
	seen  bool // the user is in the room, and the text was not recalled
}

// scanMention also leaves out texts that an older version has recalled: it keeps their mentions.
func scanMention(rs *sql.Rows) (m mention, err error) {
	var fold []byte
	var f chat.Fold
	if err := rs.Scan(append(append([]any{&m.seen}, entryInto(&m.entry)...), &fold)...); err != nil {
		return m, err
	}
	if len(fold) > 0 {
		if err := json.Unmarshal(fold, &f); err != nil {
			return m, err
		}
	}
	m.seen = m.seen && f.RecallSeq == 0
	m.entry, err = m.entry.Folded(f)
	return m, err
}

// mentionPage returns the entries of a page that the user may see. If there are more mentions, it also returns the cursor of the next page.
func mentionPage(found []mention, limit, maxBytes int) (entries []chat.Entry, more string) {
	size := 0
	for i, m := range found {
		if m.seen {
			size += len(m.entry.Body)
		}
		if i == limit || len(entries) > 0 && maxBytes > 0 && size > maxBytes {
			last := found[i-1].entry
			return entries, cursor.Make("mentions", last.At.UnixMilli(), last.Room, last.Seq)
		}
		if m.seen {
			entries = append(entries, m.entry)
		}
	}
	return entries, ""
}

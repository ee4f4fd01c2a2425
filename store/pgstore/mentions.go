package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// Mentions implements chat.Store. It reads limit mentions, and one more to know whether there are more. Those in rooms that the user has
// left count, too, so that the cost of a page is bounded.
func (s *Store) Mentions(ctx context.Context, user, next string, limit, maxBytes int) (entries []chat.Entry, more string, err error) {
	where, args := `user_id = $1`, []any{user, limit + 1}
	if next != "" {
		var at, seq int64
		var room string
		if err := cursor.Parse("mentions", next, &at, &room, &seq); err != nil {
			return nil, "", err
		}
		where, args = where+` and (at, room_id, seq) < ($3, $4, $5)`, append(args, at, room, seq)
	}
	var found []mention
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanMention, `select m.user_id is not null, e.room_id, e.seq, e.id, e.at, e.sender, e.sender_name, e.sender_avatar, e.kind, e.key,
				e.body, e.fold
			from (select user_id, at, room_id, seq from mentions where `+where+` order by at desc, room_id desc, seq desc limit $2) n
			join entries e on e.room_id = n.room_id and e.seq = n.seq
			left join members m on m.room_id = n.room_id and m.user_id = n.user_id and m.state = 'in'
			order by n.at desc, n.room_id desc, n.seq desc`, args...)
		return err
	})
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
func scanMention(rs pgx.Rows) (m mention, err error) {
	var fold storedFold
	if err := rs.Scan(append(append([]any{&m.seen}, entryInto(&m.entry)...), &fold)...); err != nil {
		return m, err
	}
	f, err := fold.fold()
	if err != nil {
		return m, err
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

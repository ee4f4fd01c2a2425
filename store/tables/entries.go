package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// EntryColumns are the columns of an entry that EntryInto scans.
const EntryColumns = `room_id, seq, id, at, sender, sender_name, sender_avatar, kind, key, body`

// EntryInto returns the destinations of EntryColumns.
func EntryInto(e *chat.Entry) []any {
	return []any{&e.Room, &e.Seq, &e.ID, Time(&e.At), &e.From.ID, &e.From.Name, &e.From.Avatar, &e.Kind, &e.Key, (*[]byte)(&e.Body)}
}

// ScanEntry scans EntryColumns.
var ScanEntry = into(EntryInto)

// ErrNoEntry means that an entry is missing to which a request, a packet or an event refers.
var ErrNoEntry = errors.New("an entry that must exist is missing")

// ReadEntry reads an entry that must exist, because a request, a packet or an event refers to it. If the entry is missing,
// ReadEntry returns ErrNoEntry. It does not apply amendments.
func ReadEntry(q Querier, room string, seq int64) (chat.Entry, error) {
	e, err := one(q, ScanEntry, `select `+EntryColumns+` from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq)
	if errors.Is(err, chat.ErrNotFound) {
		err = fmt.Errorf("%w: %d of room %s", ErrNoEntry, seq, room)
	}
	return e, err
}

// storedFold is the column fold: the state of an amended text or packet in JSON, or "" for an entry that was never
// amended.
type storedFold string

// Fold parses the column. For "" it returns the zero chat.Fold.
func (s storedFold) Fold() (f chat.Fold, err error) {
	if s == "" {
		return chat.Fold{}, nil
	}
	if err := json.Unmarshal([]byte(s), &f); err != nil {
		return chat.Fold{}, fmt.Errorf("parse stored fold: %w", err)
	}
	return f, nil
}

// History implements chat.Store.
func (t Tables) History(ctx context.Context, room string, p chat.Page) (entries []chat.Entry, more bool, err error) {
	query, args := `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */`, []any{room, p.Limit + 1}
	switch {
	case p.After != nil:
		query, args = query+` and seq > $3 order by seq limit $2`, append(args, *p.After)
	case p.Before != nil:
		query, args = query+` and seq < $3 order by seq desc limit $2`, append(args, *p.Before)
	default:
		query += ` order by seq desc limit $2`
	}
	entries, err = list(ctx, t.db, "read history", scanFolded, query, args...)
	if err != nil {
		return nil, false, err
	}
	fit := fitting(entries, p.Limit, p.MaxBytes)
	more = fit < len(entries)
	entries = entries[:fit]
	if p.After == nil {
		slices.Reverse(entries)
	}
	return entries, more, nil
}

// scanFolded scans EntryColumns and the column fold, and returns the entry in its present state.
func scanFolded(row Row) (e chat.Entry, err error) {
	var fold storedFold
	if err := row.Scan(append(EntryInto(&e), &fold)...); err != nil || fold == "" {
		return e, err
	}
	f, err := fold.Fold()
	if err != nil {
		return chat.Entry{}, err
	}
	return e.Folded(f)
}

// fitting returns how many of the entries fit into a page: at most limit, and at most maxBytes of bodies. If maxBytes
// is 0, only limit counts. The first entry fits even if its body is larger than maxBytes. The entries are ordered by their
// distance from the cursor.
func fitting(entries []chat.Entry, limit, maxBytes int) int {
	size := 0
	for i, e := range entries {
		size += len(e.Body)
		if i == limit || i > 0 && maxBytes > 0 && size > maxBytes {
			return i
		}
	}
	return len(entries)
}

// Mentions implements chat.Store. It reads limit mentions, and one more to know whether there are more. Mentions that
// it leaves out, such as those in rooms that the user has left, count towards limit, so that the cost of a page is
// bounded.
func (t Tables) Mentions(ctx context.Context, user, next string, limit, maxBytes int) (entries []chat.Entry, more string, err error) {
	where, args := `user_id = $1`, []any{user, limit + 1}
	if next != "" {
		var at, seq int64
		var room string
		if err := cursor.Parse("mentions", next, &at, &room, &seq); err != nil {
			return nil, "", err
		}
		where, args = where+` and (at, room_id, seq) < ($3, $4, $5)`, append(args, at, room, seq)
	}
	found, err := list(ctx, t.db, "list mentions", scanMention, FirstOnCitus(
		Of("n", "mentions", `bucket = bucket_of($1) and `+where+` order by at desc, room_id desc, seq desc limit $2`),
		Of("e", "entries", `(room_id, seq) in (select room_id, seq from n)`))+
		`select m.user_id is not null, e.room_id, e.seq, e.id, e.at, e.sender, e.sender_name, e.sender_avatar, e.kind, e.key,
				e.body, e.fold
			from /*one*/ (select user_id, at, room_id, seq from mentions where `+where+` order by at desc, room_id desc, seq desc limit $2) /*end*/ n
			join /*one*/ entries /*end*/ e on e.room_id = n.room_id and e.seq = n.seq
			left join members m on m.room_id = n.room_id and m.user_id = n.user_id and m.state = 'in'
				and exists (select 1 from rooms r where r.id = n.room_id and r.deleted_at = 0)
			order by n.at desc, n.room_id desc, n.seq desc`, args...)
	if err != nil {
		return nil, "", err
	}
	entries, more = mentionPage(found, limit, maxBytes)
	return entries, more, nil
}

// mention is an entry that mentions a user.
type mention struct {
	entry chat.Entry
	seen  bool // the user is in the room
}

// scanMention scans a mention, with the entry in its present state.
func scanMention(row Row) (m mention, err error) {
	var fold storedFold
	if err := row.Scan(append(append([]any{&m.seen}, EntryInto(&m.entry)...), &fold)...); err != nil {
		return m, err
	}
	f, err := fold.Fold()
	if err != nil {
		return m, err
	}
	m.entry, err = m.entry.Folded(f)
	return m, err
}

// mentionPage returns the entries of a page that the user may see: none if the user may see none of the mentions. If
// there are more mentions, it also returns the cursor of the next page, otherwise "".
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

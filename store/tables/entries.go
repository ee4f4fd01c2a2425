package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	if p.Files != "" {
		entries, err = t.textsWithFiles(ctx, room, p)
	} else {
		end, args := endOf(p, room, p.Limit+1)
		entries, err = list(ctx, t.db, "read history", scanFolded, `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */`+end, args...)
	}
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

// endOf returns the end of a query of a page: the cursor, the order and the limit. Arguments are appended to args, the room and the limit.
func endOf(p chat.Page, args ...any) (end string, all []any) {
	switch {
	case p.After != nil:
		return ` and seq > $3 order by seq limit $2`, append(args, *p.After)
	case p.Before != nil:
		return ` and seq < $3 order by seq desc limit $2`, append(args, *p.Before)
	default:
		return ` order by seq desc limit $2`, args
	}
}

// textsWithFiles returns the texts of a page with Files, and one more if there is one. On Citus, files and entries lie on different nodes.
func (t Tables) textsWithFiles(ctx context.Context, room string, p chat.Page) ([]chat.Entry, error) {
	query, args := SeqsWithFiles(p, room)
	seqs, err := list(ctx, t.db, "list the files of a room", into(func(seq *int64) []any { return []any{seq} }), query, args...)
	if err != nil {
		return nil, err
	}
	places := make([]place, len(seqs))
	for n, seq := range seqs {
		places[n] = place{room: room, seq: seq}
	}
	entries, err := entriesAt(ctx, t.db, places)
	return entries, Outcome("read entries with files", err)
}

// SeqsWithFiles returns the query for the seqs of textsWithFiles.
func SeqsWithFiles(p chat.Page, room string) (query string, args []any) {
	end, args := endOf(p, room, p.Limit+1)
	args = append(args, p.Files)
	return fmt.Sprintf(`select distinct seq from files where room_id = $1 and kind = $%d and seq > 0 and state = 'ready'`, len(args)) + end, args
}

// entriesAt reads entries in their present state.
func entriesAt(ctx context.Context, db DB, places []place) (entries []chat.Entry, err error) {
	entries = make([]chat.Entry, len(places))
	err = db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		for i, p := range places {
			b.Each(func(row Row) (err error) {
				entries[i], err = scanFolded(row)
				return err
			}, `select `+EntryColumns+`, fold from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, p.room, p.seq)
		}
	})
	return entries, err
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

// PutMentionOfAll is the statement that stores that an entry mentions all members of its room: room, time and seq of the entry.
const PutMentionOfAll = `insert into mentions_of_all (room_id, at, seq) values ($1, $2, $3)`

// Mentions implements chat.Store. It reads limit mentions of the user and as many of all members of the user's rooms, and one more of each to know
// whether there are more. Mentions that it leaves out, such as those in rooms that the user has left, count towards limit, so that the cost of
// a page is bounded.
func (t Tables) Mentions(ctx context.Context, user, next string, limit, maxBytes int) (entries []chat.Entry, more string, err error) {
	before := place{at: math.MaxInt64}
	if next != "" {
		if err := cursor.Parse("mentions", next, &before.at, &before.room, &before.seq); err != nil {
			return nil, "", err
		}
	}
	var found []mention
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		found = nil
		add := func(row Row) error {
			m, err := scanMention(row)
			found = append(found, m)
			return err
		}
		b.Each(add, mentionsOfUser, user, limit+1, before.at, before.room, before.seq)
		b.Each(add, mentionsOfAll, user, limit+1, before.at, before.room, before.seq)
	})
	if err != nil {
		return nil, "", Outcome("list mentions", err)
	}
	slices.SortFunc(found, func(a, b mention) int { return placeOf(b.entry).compare(placeOf(a.entry)) })
	entries, more = mentionPage(found, limit, maxBytes)
	return entries, more, nil
}

const (
	mentionColumns = `e.room_id, e.seq, e.id, e.at, e.sender, e.sender_name, e.sender_avatar, e.kind, e.key, e.body, e.fold`
	newestMentions = ` order by n.at desc, n.room_id desc, n.seq desc limit $2`
)

// mentionsOfUser reads entries that mention a user by name.
var mentionsOfUser = func() string {
	const where = `user_id = $1 and (at, room_id, seq) < ($3, $4, $5)`
	return FirstOnCitus(
		Of("n", "mentions n", `bucket = bucket_of($1) and `+where+newestMentions),
		Of("e", "entries", `(room_id, seq) in (select room_id, seq from n)`)) +
		`select m.user_id is not null, ` + mentionColumns + `
		from /*one*/ (select user_id, at, room_id, seq from mentions n where ` + where + newestMentions + `) /*end*/ n
		join /*one*/ entries /*end*/ e on e.room_id = n.room_id and e.seq = n.seq
		left join members m on m.room_id = n.room_id and m.user_id = n.user_id and m.state = 'in'
			and exists (select 1 from rooms r where r.id = n.room_id and r.deleted_at = 0)`
}()

// mentionsOfAll reads entries that mention all members of a room, since the user came into it. Of each room it reads the newest ones only, those
// from the time since on. Own entries and those of users that the user has blocked are not seen.
var mentionsOfAll = func() string {
	const (
		of    = ` from mentions_of_all n where n.room_id = m.room_id and n.at <= $3`
		named = `(select n.room_id, n.at, n.seq from (select m.room_id, m.joined_seq, coalesce((select n.at` + of + ` order by n.at desc limit 1 offset $2), 0) as since
			from members m join rooms r on r.id = m.room_id where m.user_id = $1 and m.state = 'in' and r.deleted_at = 0) m
			join mentions_of_all n on n.room_id = m.room_id and n.at >= m.since and n.seq > m.joined_seq and (n.at, n.room_id, n.seq) < ($3, $4, $5)` + newestMentions + `)`
	)
	return `/*! with n as materialized ` + named + `, ` + Of("e", "entries", `(room_id, seq) in (select room_id, seq from n)`) + ` */ ` +
		`select e.sender <> $1 and not exists (select 1 from blocks b where b.user_id = $1 and b.blocked = e.sender), ` + mentionColumns + `
		from /*one*/ ` + named + ` /*end*/ n
		join /*one*/ entries /*end*/ e on e.room_id = n.room_id and e.seq = n.seq`
}()

// mention is an entry that mentions a user.
type mention struct {
	entry chat.Entry
	seen  bool // the user is in the room, and of a mention of all members: is not the sender and has not blocked the sender
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

package pgstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// History implements chat.Store.
func (s *Store) History(ctx context.Context, room string, p chat.Page) (entries []chat.Entry, more bool, err error) {
	q, args := `select `+entryColumns+`, fold from entries where room_id = $1`, []any{room, p.Limit + 1}
	switch {
	case p.After != nil:
		q, args = q+` and seq > $3 order by seq limit $2`, append(args, *p.After)
	case p.Before != nil:
		q, args = q+` and seq < $3 order by seq desc limit $2`, append(args, *p.Before)
	default:
		q += ` order by seq desc limit $2`
	}
	err = s.withReader(ctx, func(r reader) error {
		entries, err = rows(r, scanFolded, q, args...)
		return err
	})
	if err != nil {
		return nil, false, outcome("read history", err)
	}
	fit := fitting(entries, p.Limit, p.MaxBytes)
	more = fit < len(entries)
	entries = entries[:fit]
	if p.After == nil {
		slices.Reverse(entries)
	}
	return entries, more, nil
}

// scanFolded scans entryColumns and the column fold, and returns the entry in its present state.
func scanFolded(rs pgx.Rows) (e chat.Entry, err error) {
	var fold storedFold
	if err := rs.Scan(append(entryInto(&e), &fold)...); err != nil || fold == "" {
		return e, err
	}
	f, err := fold.fold()
	if err != nil {
		return chat.Entry{}, err
	}
	return e.Folded(f)
}

// fitting returns how many of the entries fit into a page. They are ordered by their distance from the cursor.
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

// Spans implements chat.Store. One statement reads all rooms as of the same time, each by a range scan of the index.
func (s *Store) Spans(ctx context.Context, spans []chat.Span) (found map[string][]chat.Entry, err error) {
	rooms, after, through := make([]string, len(spans)), make([]int64, len(spans)), make([]int64, len(spans))
	for i, sp := range spans {
		rooms[i], after[i], through[i] = sp.Room, sp.After, sp.Through
	}
	var entries []chat.Entry
	err = s.withReader(ctx, func(r reader) error {
		entries, err = rows(r, scanEntry, `select `+entryColumns+` from unnest($1::text[], $2::bigint[], $3::bigint[])
			with ordinality as span (room, after, through, no)
			cross join lateral (select `+entryColumns+` from entries
				where room_id = span.room and seq > span.after and seq <= span.through order by seq) e
			order by no, seq`, rooms, after, through)
		return err
	})
	if err != nil {
		return nil, outcome("read spans", err)
	}
	found = make(map[string][]chat.Entry, len(spans))
	for _, e := range entries {
		found[e.Room] = append(found[e.Room], e)
	}
	return found, nil
}

package sqlitestore

import (
	"context"
	"database/sql"
	"slices"

	"hongbao/chat"
)

// History implements chat.Store.
func (s *Store) History(ctx context.Context, room string, p chat.Page) (entries []chat.Entry, more bool, err error) {
	q, r := `select `+entryColumns+`, fold from entries where room_id = ?`, reader{ctx, s.read}
	switch {
	case p.After != nil:
		entries, err = rows(r, scanFolded, q+` and seq > ? order by seq limit ?`, room, *p.After, p.Limit+1)
	case p.Before != nil:
		entries, err = rows(r, scanFolded, q+` and seq < ? order by seq desc limit ?`, room, *p.Before, p.Limit+1)
	default:
		entries, err = rows(r, scanFolded, q+` order by seq desc limit ?`, room, p.Limit+1)
	}
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

// scanFolded scans an entry and its column fold, and returns the entry in its present state.
func scanFolded(rs *sql.Rows) (chat.Entry, error) {
	s, err := scanSubject(rs)
	if err != nil || !s.Entry.Kind.Content() {
		return s.Entry, err
	}
	return s.Entry.Folded(s.Fold)
}

// fitting returns how many of the entries fit on one page. They are ordered by their distance from the cursor.
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

// Spans implements chat.Store.
func (s *Store) Spans(ctx context.Context, spans []chat.Span) (map[string][]chat.Entry, error) {
	found := make(map[string][]chat.Entry, len(spans))
	err := s.view(ctx, func(r reader) error {
		for _, sp := range spans {
			entries, err := rows(r, scanEntry, `select `+entryColumns+` from entries
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
		return nil, outcome("read spans", err)
	}
	return found, nil
}

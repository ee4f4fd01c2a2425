package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

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

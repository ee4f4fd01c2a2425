package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Spans implements chat.Store. One statement reads all rooms, each by a range scan of the index. It sees one snapshot,
// except on Citus.
func (s *Store) Spans(ctx context.Context, spans []chat.Span) (found map[string][]chat.Entry, err error) {
	rooms, after, through := make([]string, len(spans)), make([]int64, len(spans)), make([]int64, len(spans))
	for i, sp := range spans {
		rooms[i], after[i], through[i] = sp.Room, sp.After, sp.Through
	}
	var entries []chat.Entry
	err = s.withReader(ctx, func(r reader) error {
		entries, err = tables.List(r, tables.ScanEntry, `/*! with es as materialized (select `+tables.EntryColumns+` from entries
				join unnest($1::text[], $2::bigint[], $3::bigint[]) span (room, after, through) on room_id = room and seq > after and seq <= through
				where bucket = any(buckets_of($1::text[]))) */
			select `+tables.EntryColumns+` from unnest($1::text[], $2::bigint[], $3::bigint[])
			with ordinality as span (room, after, through, no)
			cross join lateral (select `+tables.EntryColumns+` from /*one*/ entries /*end*/ /*! es */
				where room_id = span.room and seq > span.after and seq <= span.through order by seq) e
			order by no, seq`, rooms, after, through)
		return err
	})
	if err != nil {
		return nil, tables.Outcome("read spans", err)
	}
	found = make(map[string][]chat.Entry, len(spans))
	for _, e := range entries {
		found[e.Room] = append(found[e.Room], e)
	}
	return found, nil
}

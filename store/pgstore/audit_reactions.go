package pgstore

import (
	"encoding/json"
	"maps"

	"github.com/jackc/pgx/v5"
)

// reactionsQuery returns a row for each text or packet that was amended or has reactions: its fold, and its reactions counted by
// emoji, in JSON.
const reactionsQuery = `select coalesce(e.room_id, r.room_id), coalesce(e.seq, r.seq), coalesce(e.fold, ''), coalesce(r.counts, '{}')
	from (select room_id, seq, fold from entries where fold <> '' and {amended}) e
	full join (
		select room_id, seq, json_object_agg(emoji, n)::text as counts
		from (select room_id, seq, emoji, count(*) as n from reactions where {amended} group by room_id, seq, emoji) c
		group by room_id, seq) r on r.room_id = e.room_id and r.seq = e.seq`

// reactions compares the counts in the folds with the stored reactions.
func (a *auditor) reactions() error {
	return a.each(a.scope.Replace(reactionsQuery), func(rs pgx.Rows) error {
		var (
			room, counts string
			seq          int64
			stored       storedFold
			there        map[string]int
		)
		if err := rs.Scan(&room, &seq, &stored, &counts); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(counts), &there); err != nil {
			return err
		}
		if fold, err := stored.fold(); err != nil {
			a.report("room", room, "what has become of entry %d cannot be read", seq)
		} else if !maps.Equal(fold.Reactions, there) {
			a.report("room", room, "entry %d counts the reactions %v, and has %v", seq, fold.Reactions, there)
		}
		return nil
	})
}

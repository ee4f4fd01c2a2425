package audit

import (
	"encoding/json"
	"maps"

	"hongbao/chat"
	"hongbao/store/tables"
)

// reactions compares the counts in the folds with the stored reactions.
func (a *auditor) reactions() error {
	// A row for each text or packet that was amended or has reactions: its fold, and its reactions counted by emoji, in JSON.
	query := `select coalesce(e.room_id, r.room_id), coalesce(e.seq, r.seq), coalesce(e.fold, ''), coalesce(r.counts, '{}')
		from (select room_id, seq, fold from entries where fold <> '' and {amended}) e
		full join (
			select room_id, seq, ` + a.Counts + ` as counts
			from (select room_id, seq, emoji, count(*) as n from reactions where {amended} group by room_id, seq, emoji) c
			group by room_id, seq) r on r.room_id = e.room_id and r.seq = e.seq`
	return a.Each(func(row tables.Row) error {
		var (
			room, text, counts string
			seq                int64
			fold               chat.Fold
			there              map[string]int
		)
		if err := row.Scan(&room, &seq, &text, &counts); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(counts), &there); err != nil {
			return err
		}
		if text != "" && json.Unmarshal([]byte(text), &fold) != nil {
			a.report("room", room, "what has become of entry %d cannot be read", seq)
		} else if !maps.Equal(fold.Reactions, there) {
			a.report("room", room, "entry %d counts the reactions %v, and has %v", seq, fold.Reactions, there)
		}
		return nil
	}, a.scope.Replace(query))
}

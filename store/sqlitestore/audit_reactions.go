package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"maps"

	"hongbao/chat"
)

// reactionsQuery returns a row for each text or packet with a fold or with reactions: its fold, and the number of users for each
// emoji, in JSON.
const reactionsQuery = `select coalesce(e.room_id, r.room_id), coalesce(e.seq, r.seq), coalesce(e.fold, '{}'), coalesce(r.counts, '{}')
	from (select room_id, seq, fold from entries where fold <> '' and {amended}) e
	full join (
		select room_id, seq, json_group_object(emoji, n) as counts
		from (select room_id, seq, emoji, count(*) as n from reactions where {amended} group by room_id, seq, emoji)
		group by room_id, seq) r on r.room_id = e.room_id and r.seq = e.seq`

// reactions compares the counts in the column fold with the stored reactions.
func (a *auditor) reactions() error {
	return a.each(a.scope.Replace(reactionsQuery), func(rs *sql.Rows) error {
		var (
			room         string
			seq          int64
			text, counts []byte
			fold         chat.Fold
			there        map[string]int
		)
		if err := rs.Scan(&room, &seq, &text, &counts); err != nil {
			return err
		}
		if err := json.Unmarshal(counts, &there); err != nil {
			return err
		}
		if json.Unmarshal(text, &fold) != nil {
			a.report("room", room, "what has become of entry %d cannot be read", seq)
		} else if !maps.Equal(fold.Reactions, there) {
			a.report("room", room, "entry %d counts the reactions %v, and has %v", seq, fold.Reactions, there)
		}
		return nil
	})
}

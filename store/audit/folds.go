package audit

import (
	"database/sql"
	"encoding/json"
	"maps"

	"hongbao/chat"
	"hongbao/store/tables"
)

// folds compares the fold of each text or packet with the entries that amend it and with the stored reactions.
func (a *auditor) folds() error {
	// A row for each entry that has a fold or reactions, or that an edit or a recall names: its fold, its reactions counted by
	// emoji in JSON, its last edit, and its recall.
	query := `select t.room_id, t.seq, coalesce(e.fold, ''), coalesce(r.counts, '{}'), t.edit, l.at, l.body, t.recall, coalesce(x.seq, 0)
		from (
			select room_id, seq, max(edit) as edit, max(recall) as recall from (
				select room_id, seq, 0 as edit, 0 as recall from entries where fold <> '' and {amended}
				union all select room_id, seq, 0, 0 from reactions where {amended}
				union all select room_id, target, seq, 0 from entries where kind = 'edit' and {amends}
				union all select room_id, target, 0, seq from entries where kind = 'recall' and {newer}) named
			group by room_id, seq) t
		left join entries e on e.room_id = t.room_id and e.seq = t.seq
		left join entries l on l.room_id = t.room_id and l.seq = t.edit
		left join {retention} x on x.room_id = t.room_id
		left join (
			select room_id, seq, ` + a.Counts + ` as counts
			from (select room_id, seq, emoji, count(*) as n from reactions where {amended} group by room_id, seq, emoji) c
			group by room_id, seq) r on r.room_id = t.room_id and r.seq = t.seq`
	return a.Each(func(row tables.Row) error {
		var (
			room, text, counts string
			seq, edit, recall  int64
			retired            int64 // the last seq that the retention has come to
			editedAt           sql.NullInt64
			edited             sql.NullString
			fold               chat.Fold
			reactions          map[string]int
		)
		if err := row.Scan(&room, &seq, &text, &counts, &edit, &editedAt, &edited, &recall, &retired); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(counts), &reactions); err != nil {
			return err
		}
		unreadable := text != "" && json.Unmarshal([]byte(text), &fold) != nil
		if recall == 0 && fold.RecallSeq == seq && seq <= retired {
			recall = seq
		}
		if recall != 0 {
			edit, editedAt.Int64, edited.String = 0, 0, "" // the recall, or the retention, has removed what the edits said
		}
		switch {
		case unreadable:
			a.report("room", room, "what has become of entry %d cannot be read", seq)
		case !maps.Equal(fold.Reactions, reactions):
			a.report("room", room, "entry %d counts the reactions %v, and has %v", seq, fold.Reactions, reactions)
		case fold.RecallSeq != recall:
			a.report("room", room, "entry %d names entry %d as its recall, which is entry %d (0: none)", seq, fold.RecallSeq, recall)
		case !showsEdit(fold, edit, editedAt.Int64, edited.String):
			a.report("room", room, "entry %d names entry %d as its last edit, and does not show entry %d (0: none)", seq, fold.EditSeq, edit)
		}
		return nil
	}, a.scope.Replace(query))
}

// showsEdit reports whether the fold has what the edit says. The last edit has this seq, 0 if there was none, and this time and
// body.
func showsEdit(f chat.Fold, seq, at int64, body string) bool {
	if f.EditSeq != seq || f.EditedAt != at || (f.Text != nil) != (seq != 0) {
		return false
	}
	text, _ := parseObject(body)["text"].(string)
	return f.Text == nil || *f.Text == text
}

package tables

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"hongbao/chat"
	"hongbao/chat/archive"
	"hongbao/store/chain"
)

// Imported implements archive.Store.
func (t Tables) Imported(ctx context.Context, room string, ids []string) (map[string]int64, error) {
	return read(ctx, t.db, "look up imported texts", func(q Querier) (map[string]int64, error) { return imported(q, room, ids) })
}

func imported(q Querier, room string, ids []string) (map[string]int64, error) {
	seqs := make(map[string]int64, len(ids))
	return seqs, q.Each(func(row Row) error {
		var (
			id  string
			seq int64
		)
		err := row.Scan(&id, &seq)
		seqs[id] = seq
		return err
	}, `select id, seq from imported_texts where room_id = $1 /*! and bucket = bucket_of($1) */ and id `+q.In(2), room, q.List(ids))
}

// Import implements archive.Store.
func (t Tables) Import(ctx context.Context, room string, texts []archive.Draft) (int, error) {
	return write(ctx, t.db, "import texts", func(w Tx, _ int) (int, error) { return importTexts(w, room, texts) })
}

// importTexts locks the room before it looks which texts are there, so two imports do not append one text twice.
func importTexts(w Tx, room string, texts []archive.Draft) (int, error) {
	var last, contentNo int64
	found, err := w.Row(`select last_seq, content_no from rooms where id = $1 and deleted_at = 0`+w.Lock(), []any{room}, &last, &contentNo)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, chat.ErrNotFound
	}
	var ids []string
	for _, d := range texts {
		ids = append(ids, d.ID)
		if d.ReplyTo != "" {
			ids = append(ids, d.ReplyTo)
		}
	}
	seqs, err := imported(w, room, ids)
	if err != nil {
		return 0, err
	}
	var rows []importedRow
	for _, d := range texts {
		if seqs[d.ID] != 0 {
			continue
		}
		row, err := newImportedRow(room, d, last+1, seqs[d.ReplyTo])
		if err != nil {
			return 0, err
		}
		last++
		seqs[d.ID] = last
		rows = append(rows, row)
	}
	return len(rows), insertImported(w, room, rows, last, contentNo)
}

// importedRow is a text that is about to be inserted.
type importedRow struct {
	chat.Entry
	archive.Draft
	seals chain.Seals
}

func newImportedRow(room string, d archive.Draft, seq, replyTo int64) (r importedRow, err error) {
	d.Body.ReplyTo = replyTo
	r.Draft, r.seals = d, chain.NewSeals()
	r.Entry = chat.Entry{Room: room, Seq: seq, ID: chat.NewID(d.At), At: Millis(d.At.UnixMilli()), From: d.From, Kind: chat.KindText}
	r.Entry.Body, err = chat.Body(d.Body)
	return r, err
}

// insertImported adds the rows, the last of which has the seq last. contentNo is that of the room before.
func insertImported(w Tx, room string, rows []importedRow, last, contentNo int64) error {
	if len(rows) == 0 {
		return nil
	}
	leaves := make([]chain.Hash, len(rows))
	for i := range rows {
		leaves[i] = chain.EntryLeaf(rows[i].Entry, nil, 0, rows[i].seals)
	}
	link, err := w.Chained(leaves...)
	if err != nil {
		return err
	}
	var b Batch
	for i := range rows {
		r := &rows[i]
		contentNo++
		fold, err := r.fold()
		if err != nil {
			return err
		}
		b.Exec(`insert into entries (/*! bucket, */ `+EntryColumns+`, content_no, fold, link, name_seal, text_seal)
			values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6, $7, $8, '', $9, $10, $11, $12, $13, $14)`,
			room, r.Seq, r.Entry.ID, r.Entry.At.UnixMilli(), r.Entry.From.ID, r.Entry.From.Name, r.Entry.From.Avatar, r.Kind, string(r.Entry.Body), contentNo,
			fold, link, r.seals.Name, r.seals.Text)
		b.Exec(`insert into imported_texts (/*! bucket, */ room_id, id, seq) values (/*! bucket_of($1), */ $1, $2, $3)`, room, r.Draft.ID, r.Seq)
		r.queueReactions(&b)
	}
	// An erasure finds the rooms of a user by these rows. Users that have 'left' may join a private room again; these must not.
	b.Exec(`insert into members (room_id, user_id, state, joined_at) select $1, v.value, 'kicked', $3 from `+w.Values(2)+` v where true on conflict do nothing`,
		room, w.List(peopleOf(rows)), rows[0].Entry.At.UnixMilli())
	b.Exec(`update rooms set last_seq = $2, content_no = $3 where id = $1`, room, last, contentNo)
	if err := w.Send(&b); err != nil {
		return err
	}
	for i := range rows {
		if err := TakeFiles(w, room, rows[i].Draft.From.ID, rows[i].Seq, rows[i].Files); err != nil {
			return err
		}
	}
	return nil
}

// peopleOf returns the users that have written the texts or reacted to them, each once.
func peopleOf(rows []importedRow) []string {
	people := map[string]bool{}
	for i := range rows {
		people[rows[i].Entry.From.ID] = true
		for _, users := range rows[i].Reactions {
			for _, user := range users {
				people[user] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(people))
}

// fold returns the column fold of the text: its reactions.
func (r *importedRow) fold() (string, error) {
	counts := map[string]int{}
	for emoji, users := range r.Reactions {
		if len(users) > 0 {
			counts[emoji] = len(users)
		}
	}
	if len(counts) == 0 {
		return "", nil
	}
	text, err := json.Marshal(chat.Fold{Reactions: counts})
	return string(text), err
}

func (r *importedRow) queueReactions(b *Batch) {
	for _, emoji := range slices.Sorted(maps.Keys(r.Reactions)) {
		for _, user := range r.Reactions[emoji] {
			b.Exec(`insert into reactions (/*! bucket, */ room_id, seq, emoji, user_id) values (/*! bucket_of($1), */ $1, $2, $3, $4)`, r.Room, r.Seq, emoji, user)
		}
	}
}

// Reactions implements archive.Store.
func (t Tables) Reactions(ctx context.Context, room string, seqs []int64) (map[int64]map[string][]string, error) {
	return read(ctx, t.db, "list reactions", func(q Querier) (map[int64]map[string][]string, error) {
		texts := make([]string, len(seqs))
		for i, seq := range seqs {
			texts[i] = strconv.FormatInt(seq, 10)
		}
		all := map[int64]map[string][]string{}
		return all, q.Each(func(row Row) error {
			var (
				seq         int64
				emoji, user string
			)
			err := row.Scan(&seq, &emoji, &user)
			if all[seq] == nil {
				all[seq] = map[string][]string{}
			}
			all[seq][emoji] = append(all[seq][emoji], user)
			return err
		}, `select seq, emoji, user_id from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq in (select cast(v.value as bigint) from `+q.Values(2)+` v)
			order by seq, emoji, user_id`, room, q.List(texts))
	})
}

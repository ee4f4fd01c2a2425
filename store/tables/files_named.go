package tables

import (
	"context"
	"encoding/json"

	"hongbao/chat"
	"hongbao/chat/files"
)

// roomsAtOnce is how many rooms one call of NamingEntries looks into at most.
const roomsAtOnce = 100

// NamingEntries implements files.EntryNamer. Each statement looks at a bounded number of entries of one room, so on Citus it reads one shard.
func (t Tables) NamingEntries(ctx context.Context, from files.Place, most int) (found []files.Place, next files.Place, err error) {
	type room struct {
		id   string
		last int64
	}
	rooms, err := list(ctx, t.db, "list rooms", into(func(r *room) []any { return []any{&r.id, &r.last} }),
		`select id, last_seq from rooms where id >= $1 and deleted_at = 0 order by id limit $2`, from.Room, roomsAtOnce+1)
	if err != nil {
		return nil, files.Place{}, err
	}
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		found, next = nil, files.Place{}
		left := int64(most)
		for n, r := range rooms {
			after := int64(0)
			if r.id == from.Room {
				after = from.Seq
			}
			if left <= 0 || n == roomsAtOnce {
				next = files.Place{Room: r.id, Seq: after}
				return
			}
			through := min(r.last, after+left)
			b.Each(func(row Row) error {
				p := files.Place{Room: r.id}
				err := row.Scan(&p.Seq)
				found = append(found, p)
				return err
			}, `select seq from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 and seq <= $3
				and kind = 'text' and body like '%"files":[%' order by seq`, r.id, after, through)
			if left -= max(1, through-after); through < r.last {
				next = files.Place{Room: r.id, Seq: through}
				return
			}
		}
	})
	return found, next, Outcome("list entries with files", err)
}

// FilesOfEntries implements files.EntryNamer.
func (t Tables) FilesOfEntries(ctx context.Context, places []files.Place) (all []files.Named, err error) {
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		all = make([]files.Named, len(places))
		for i, p := range places {
			all[i].Place = p
			b.Each(func(row Row) error {
				var kind chat.EntryKind
				var body string
				if err := row.Scan(&all[i].Sender, &kind, &body); err != nil || kind != chat.KindText {
					return err
				}
				var text chat.Text
				_ = json.Unmarshal([]byte(body), &text) // a body that cannot be read names no files; the audit of the entries reports it
				all[i].Files = text.Files
				return nil
			}, `select sender, kind, body from entries where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, p.Room, p.Seq)
		}
	})
	return all, Outcome("read entries with files", err)
}

// FilesByID implements files.EntryNamer.
func (t Tables) FilesByID(ctx context.Context, ids []string) (map[string]files.Stored, error) {
	found := map[string]files.Stored{}
	if len(ids) == 0 {
		return found, nil
	}
	return read(ctx, t.db, "read files", func(q Querier) (map[string]files.Stored, error) {
		rows, err := List(q, scanFile, `select `+fileColumns+` from files where id `+q.In(1), q.List(ids))
		clear(found)
		for _, f := range rows {
			found[f.ID] = f
		}
		return found, err
	})
}

package tables

import (
	"context"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/store/cursor"
)

const fileColumns = `room_id, id, user_id, at, state, upload, received, seq, folder, hash, made, body`

// scanFile scans a row of fileColumns.
func scanFile(row Row) (f files.Stored, err error) {
	var room, id, made, body string
	if err := row.Scan(&room, &id, &f.User, Time(&f.At), &f.State, &f.Upload, &f.Received, &f.Seq, &f.Folder, &f.Hash, &made, &body); err != nil {
		return files.Stored{}, err
	}
	if err := json.Unmarshal([]byte(body), &f.File); err != nil {
		return files.Stored{}, err
	}
	f.Room, f.ID = room, id
	return f, json.Unmarshal([]byte(made), &f.Made)
}

// fileRow returns a file. end is the end of the query.
func fileRow(q Querier, room, id, end string) (files.Stored, error) {
	return one(q, scanFile, `select `+fileColumns+` from files where room_id = $1 and id = $2`+end, room, id)
}

// AddFile implements files.Rows.
func (t Tables) AddFile(ctx context.Context, f files.Stored, most int64) error {
	body, err := chat.Body(f.File)
	if err != nil {
		return err
	}
	return Outcome("add file", t.db.Write(ctx, func(w Tx) error {
		if w.Again() {
			if _, err := fileRow(w, f.Room, f.ID, ``); err == nil {
				return nil
			}
		}
		fits, err := w.Exec(`insert into file_usage (id, bytes) values (1, $1) on conflict (id) do update set bytes = file_usage.bytes + excluded.bytes
			where $2 = 0 or file_usage.bytes + excluded.bytes <= $2`, f.Upload, most)
		if err != nil {
			return err
		}
		if fits == 0 || most > 0 && f.Upload > most {
			return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "size", Reason: "is more than this server has left for files"}
		}
		var coming int
		if _, err := w.Row(`select count(*) from (select 1 from files where user_id = $1 and state = 'coming' limit $2) f`, []any{f.User, files.ComingAtOnce}, &coming); err != nil {
			return err
		}
		if coming == files.ComingAtOnce {
			return files.TooManyComing()
		}
		_, err = w.Exec(`insert into files (room_id, id, user_id, kind, at, state, upload, counted, body, touched_at) values ($1, $2, $3, $8, $4, $5, $6, $6, $7, $4)`,
			f.Room, f.ID, f.User, f.At.UnixMilli(), f.State, f.Upload, string(body), f.Kind)
		return err
	}))
}

// StoredFile implements files.Rows.
func (t Tables) StoredFile(ctx context.Context, room, id string) (files.Stored, error) {
	return read(ctx, t.db, "read file", func(q Querier) (files.Stored, error) { return fileRow(q, room, id, ``) })
}

// AdvanceFile implements files.Rows.
func (t Tables) AdvanceFile(ctx context.Context, f files.Stored, to int64, now time.Time) error {
	return Outcome("advance file", t.db.Write(ctx, func(w Tx) error {
		changed, err := w.Exec(`update files set received = $4, touched_at = $5 where room_id = $1 and id = $2 and received in ($3, $4) and state = 'coming'`,
			f.Room, f.ID, f.Received, to, now.UnixMilli())
		if err == nil && changed == 0 {
			err = chat.ErrConflict
		}
		return err
	}))
}

// FolderOf implements files.Rows.
func (t Tables) FolderOf(ctx context.Context, f files.Stored) (folder string, err error) {
	return read(ctx, t.db, "find the content of a file", func(q Querier) (folder string, err error) {
		_, err = q.Row(`select folder from files where room_id = $1 and hash = $2 and made = $3 and state in ('held', 'ready') limit 1`,
			[]any{f.Room, f.Hash, JSON(f.Made)}, &folder)
		return folder, err
	})
}

// FinishFile implements files.Rows. It locks the other file that has the content: so until the commit, that file is not dropped, and after the
// commit, ForgetFile sees that this file needs the folder.
func (t Tables) FinishFile(ctx context.Context, f files.Stored, now time.Time) (files.Stored, error) {
	return write(ctx, t.db, "finish file", func(w Tx, _ files.Stored) (files.Stored, error) { return finishFile(w, f, now) })
}

func finishFile(w Tx, f files.Stored, now time.Time) (files.Stored, error) {
	if f.Folder != f.ID {
		found, err := w.Row(`select 1 from files where room_id = $1 and hash = $2 and folder = $3 and made = $4 and state in ('held', 'ready') order by id limit 1`+w.Lock(),
			[]any{f.Room, f.Hash, f.Folder, JSON(f.Made)}, new(int))
		if err == nil && !found {
			err = chat.ErrConflict
		}
		if err != nil {
			return files.Stored{}, err
		}
	}
	before, err := fileRow(w, f.Room, f.ID, w.Lock())
	switch {
	case err != nil:
		return files.Stored{}, err
	case before.State == files.Dropped:
		return files.Stored{}, chat.ErrNotFound
	case before.State != files.Coming:
		return before, nil
	}
	body, err := chat.Body(f.File)
	if err != nil {
		return files.Stored{}, err
	}
	_, err = w.Exec(`update files set state = $3, folder = $4, hash = $5, made = $6, body = $7, touched_at = $8, counted = $9 where room_id = $1 and id = $2`,
		f.Room, f.ID, f.State, f.Folder, f.Hash, JSON(f.Made), string(body), now.UnixMilli(), f.Counted())
	if err == nil {
		err = count(w, f.Counted()-before.Counted())
	}
	return f, err
}

// count adds bytes to those of all files.
func count(w Tx, bytes int64) error {
	_, err := w.Exec(`update file_usage set bytes = bytes + $1`, bytes)
	return err
}

// CleanFile implements files.Rows.
func (t Tables) CleanFile(ctx context.Context, room, id string) error {
	return exec(ctx, t.db, "note that a file is clean", `update files set unclean = false where room_id = $1 and id = $2`, room, id)
}

// ReleaseFile implements files.Rows.
func (t Tables) ReleaseFile(ctx context.Context, room, id string) (files.Stored, error) {
	return write(ctx, t.db, "release file", func(w Tx, _ files.Stored) (files.Stored, error) {
		f, err := fileRow(w, room, id, w.Lock())
		switch {
		case err != nil:
			return files.Stored{}, err
		case f.State == files.Ready:
			return f, nil
		case f.State == files.Dropped, f.State == files.Removed:
			return files.Stored{}, chat.ErrNotFound
		case f.State == files.Coming:
			return files.Stored{}, &chat.FieldError{Err: chat.ErrConflict, Field: "file", Reason: "is not uploaded whole"}
		}
		f.State = files.Ready
		_, err = w.Exec(`update files set state = 'ready' where room_id = $1 and id = $2`, room, id)
		return f, err
	})
}

// DropFile implements files.Rows.
func (t Tables) DropFile(ctx context.Context, room, id string, notBefore time.Time, which files.Dropping) error {
	return Outcome("drop file", t.db.Write(ctx, func(w Tx) error {
		f, err := fileRow(w, room, id, w.Lock())
		switch {
		case err != nil, f.State == files.Dropped, f.State == files.Removed:
			return err
		case f.State != files.Coming && which == files.DropComing:
			return &chat.FieldError{Err: chat.ErrConflict, Field: "file", Reason: "is uploaded whole"}
		case f.Seq > 0 && which != files.DropAny:
			return &chat.FieldError{Err: chat.ErrConflict, Field: "file", Reason: "is sent: recall the message"}
		}
		_, err = w.Exec(dropFiles+`where room_id = $1 and id = $2`, room, id, notBefore.UnixMilli())
		return err
	}))
}

// dropFiles begins a statement that drops files. Argument 3 is the time before which the sweep leaves them alone.
const dropFiles = `update files set state = 'dropped', touched_at = $3 `

// takeAndDrop is dropFiles for files that their entries name no more.
const takeAndDrop = `update files set state = 'dropped', seq = 0, touched_at = $3 `

// queueDropOfEntry makes the batch drop the files of an entry that is recalled. A second request of the upload may still be processing one of them.
func queueDropOfEntry(b *Batch, room string, seq int64, now time.Time) {
	b.Exec(takeAndDrop+`where room_id = $1 and seq = $2`, room, seq, now.Add(files.DropGrace).UnixMilli())
}

// queueDropOfRoom makes the batch take the next step: files of a deleted room are dropped. It skips files that another transaction has locked. The sweep
// leaves them alone for a while: one of them may be coming.
func queueDropOfRoom(d Dialect, b *Batch, room string) {
	b.Exec(takeAndDrop+`where room_id = $1 and id in (select id from files where room_id = $1 and state <> 'dropped' limit $2`+d.LockFree()+`)`,
		room, GoneAtOnce, time.Now().Add(files.DropGrace).UnixMilli())
}

// DropUnused implements files.Rows. It skips files that another transaction has locked.
func (t Tables) DropUnused(ctx context.Context, before, stalled, notBefore time.Time, limit int) (int, error) {
	n, err := write(ctx, t.db, "drop unused files", func(w Tx, _ int64) (all int64, err error) {
		for _, c := range []struct {
			which, order string
			since        time.Time
		}{{`seq = 0 and state <> 'dropped' and at < $1`, `at`, before}, {`state = 'coming' and touched_at < $1`, `touched_at`, stalled}} {
			n, err := w.Exec(dropFiles+`where (room_id, id) in (select room_id, id from files where `+c.which+` order by `+c.order+` limit $2`+w.LockFree()+`)`,
				c.since.UnixMilli(), limit, notBefore.UnixMilli())
			if err != nil {
				return 0, err
			}
			all += n
		}
		return all, nil
	})
	return int(n), err
}

// needed is a condition on files f: another file needs the objects of f, which are in the folder with its id.
const needed = `exists (select 1 from files o where o.room_id = f.room_id and o.hash = f.hash and o.folder = f.id and o.id <> f.id)`

// SweptFiles implements files.Rows.
func (t Tables) SweptFiles(ctx context.Context, now, finished time.Time, limit int) ([]files.Stored, error) {
	return read(ctx, t.db, "list files to remove", func(q Querier) ([]files.Stored, error) {
		dropped, err := List(q, scanFile, `select `+fileColumns+` from files f where state = 'dropped' and touched_at <= $1 and not `+needed+`
			order by touched_at limit $2`, now.UnixMilli(), limit)
		if err != nil {
			return nil, err
		}
		unclean, err := List(q, scanFile, `select `+fileColumns+` from files where `+q.Is(`unclean`, true)+` and state in ('held', 'ready') and touched_at <= $1
			order by touched_at limit $2`, finished.UnixMilli(), limit)
		return append(dropped, unclean...), err
	})
}

// PutOffSweep implements files.Rows.
func (t Tables) PutOffSweep(ctx context.Context, room, id string, notBefore time.Time) error {
	return exec(ctx, t.db, "put off the removal of a file", `update files set touched_at = $3 where room_id = $1 and id = $2`, room, id, notBefore.UnixMilli())
}

// ForgetFile implements files.Rows.
func (t Tables) ForgetFile(ctx context.Context, room, id string) (bool, error) {
	return write(ctx, t.db, "forget file", func(w Tx, _ bool) (bool, error) {
		var counted, seq int64
		found, err := w.Row(`select counted, seq from files f where room_id = $1 and id = $2 and state = 'dropped' and not `+needed+w.Lock(), []any{room, id}, &counted, &seq)
		if err != nil || !found {
			return false, err
		}
		if seq > 0 {
			_, err = w.Exec(`update files set state = 'removed', upload = 0, counted = 0, folder = '', hash = null, made = '[]', unclean = false where room_id = $1 and id = $2`, room, id)
		} else {
			_, err = w.Exec(`delete from files where room_id = $1 and id = $2`, room, id)
		}
		if err != nil {
			return false, err
		}
		return true, count(w, -counted)
	})
}

// ListFiles implements files.Rows.
func (t Tables) ListFiles(ctx context.Context, query files.Query) (page []files.Stored, next string, err error) {
	before := "g" // greater than every id
	if query.Next != "" {
		if err := cursor.Parse("files", query.Next, &before); err != nil {
			return nil, "", err
		}
	}
	where, args := `room_id = $1`, []any{query.Room, before, query.Limit + 1}
	switch {
	case query.Room == "":
		where, args[0] = `user_id = $1`, query.User
	case query.User != "":
		where, args = where+` and user_id = $4`, append(args, query.User)
	}
	found, err := list(ctx, t.db, "list files", scanFile, `select `+fileColumns+` from files where `+where+` and id < $2 and state not in ('dropped', 'removed')
		order by id desc limit $3`, args...)
	if err != nil {
		return nil, "", err
	}
	page, next = pageOf(found, query.Limit, func(last files.Stored) string { return cursor.Make("files", last.ID) })
	return page, next, nil
}

// AllFiles implements files.Rows.
func (t Tables) AllFiles(ctx context.Context, after string, limit int) ([]files.Stored, error) {
	return list(ctx, t.db, "list all files", scanFile, `select `+fileColumns+` from files where id > $1 order by id limit $2`, after, limit)
}

// FileBytes implements files.Rows.
func (t Tables) FileBytes(ctx context.Context) (counted, ofFiles int64, err error) {
	both, err := read(ctx, t.db, "read the bytes of all files", func(q Querier) (both [2]int64, err error) {
		_, err = q.Row(`select coalesce((select bytes from file_usage), 0), cast((select coalesce(sum(counted), 0) from files) as bigint)`, nil, &both[0], &both[1])
		return both, err
	})
	return both[0], both[1], err
}

// SampleFiles implements files.Rows. Of the dropped files it looks at the oldest ones only.
func (t Tables) SampleFiles(ctx context.Context, most int) (s files.Sample, err error) {
	err = t.db.ReadBatch(ctx, func(_ Querier, b *Batch) {
		s = files.Sample{}
		b.Each(func(row Row) error { return row.Scan(&s.Bytes) }, `select bytes from file_usage`)
		b.Each(func(row Row) error { return row.Scan(&s.Held) }, `select count(*) from (select 1 from files where state = 'held' limit $1) f`, most)
		b.Each(func(row Row) error { return row.Scan(&s.Dropped) }, `select count(*) from
			(select room_id, id, hash from files where state = 'dropped' order by touched_at limit $1) f where not `+needed, most)
	})
	return s, Outcome("count files", err)
}

// Files implements chat.Store.
func (t Tables) Files(ctx context.Context, room, user string, ids []string) ([]chat.File, error) {
	return read(ctx, t.db, "read the files of a message", func(q Querier) ([]chat.File, error) {
		found, err := List(q, scanFile, unsentFiles(q), room, user, q.List(ids))
		byID := map[string]chat.File{}
		for _, f := range found {
			byID[f.ID] = f.File
		}
		var inOrder []chat.File
		for _, id := range ids {
			if f, ok := byID[id]; ok {
				inOrder = append(inOrder, f)
			}
		}
		return inOrder, err
	})
}

// unsentFiles selects those of the files in argument 3 that the user may send.
func unsentFiles(d Dialect) string {
	return `select ` + fileColumns + ` from files where room_id = $1 and user_id = $2 and id ` + d.In(3) + ` and seq = 0 and state = 'ready' order by id`
}

// TakeFiles gives the files to the entry with this seq. The room must be locked. It returns chat.FilesGone() if one of them cannot be sent.
func TakeFiles(w Tx, room, user string, seq int64, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	taken, err := w.Exec(`update files set seq = $4 where room_id = $1 and user_id = $2 and id `+w.In(3)+` and seq = 0 and state = 'ready'`,
		room, user, w.List(ids), seq)
	if err == nil && taken < int64(len(ids)) {
		err = chat.FilesGone()
	}
	return err
}

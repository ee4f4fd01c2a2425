package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/store/cursor"
	"hongbao/store/eventlog"
)

const recordColumns = `u.id, u.name, u.avatar, u.ref, u.custom, u.suspended_at`

// scanRecord scans recordColumns.
func scanRecord(rs *sql.Rows) (u chat.UserRecord, err error) {
	var custom string
	var suspended int64
	err = rs.Scan(&u.ID, &u.Name, &u.Avatar, &u.Ref, &custom, &suspended)
	if custom != "" {
		u.Custom = json.RawMessage(custom)
	}
	if suspended > 0 {
		u.SuspendedAt = fromMillis(suspended)
	}
	return u, err
}

// readRecord returns the record of a user, or chat.ErrNotFound.
func readRecord(q querier, user string) (chat.UserRecord, error) {
	found, err := rows(q, scanRecord, `select `+recordColumns+` from users u where u.id = ?`, user)
	if err == nil && len(found) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return chat.UserRecord{}, err
	}
	return found[0], nil
}

// UserRecord implements chat.Store.
func (s *Store) UserRecord(ctx context.Context, user string) (chat.UserRecord, error) {
	u, err := readRecord(reader{ctx, s.read}, user)
	return u, outcome("read user", err)
}

// UserRecordsOf implements chat.Store.
func (s *Store) UserRecordsOf(ctx context.Context, users, refs []string) ([]chat.UserRecord, error) {
	found, err := rows(reader{ctx, s.read}, scanRecord, `select `+recordColumns+` from users u where u.id in (
			select value from json_each(?) union select id from refs where kind = 'user' and ref in (select value from json_each(?)))`,
		jsonList(users), jsonList(refs))
	return found, outcome("read users", err)
}

// jsonList returns the texts as a JSON list, for json_each.
func jsonList(texts []string) string {
	list, err := json.Marshal(texts)
	if err != nil || texts == nil {
		return "[]"
	}
	return string(list)
}

// UserRecords implements chat.Store.
func (s *Store) UserRecords(ctx context.Context, q chat.UserQuery) (found []chat.UserRecord, more string, err error) {
	list, from := "users", ""
	if q.RefPrefix != "" {
		list = "users by ref"
	}
	if q.Next != "" {
		if err := cursor.Parse(list, q.Next, &from); err != nil {
			return nil, "", err
		}
	}
	query, args := `select `+recordColumns+` from users u where u.id > ?`+onlySuspended(q)+` order by u.id limit ?`, []any{from, q.Limit + 1}
	if q.RefPrefix != "" {
		query = `select ` + recordColumns + ` from refs f join users u on u.id = f.id
			where f.kind = 'user' and f.ref > ? and f.ref >= ? and f.ref < ?` + onlySuspended(q) + ` order by f.ref limit ?`
		args = []any{from, q.RefPrefix, q.RefPrefix + "\x7f", q.Limit + 1} // no ref has a character above ~
	}
	found, err = rows(reader{ctx, s.read}, scanRecord, query, args...)
	if err != nil {
		return nil, "", outcome("list users", err)
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		last := found[q.Limit-1]
		if more = cursor.Make(list, last.ID); q.RefPrefix != "" {
			more = cursor.Make(list, last.Ref)
		}
	}
	return found, more, nil
}

func onlySuspended(q chat.UserQuery) string {
	if q.Suspended {
		return ` and u.suspended_at > 0`
	}
	return ``
}

// PutUserRecord implements chat.Store.
func (s *Store) PutUserRecord(ctx context.Context, p chat.UserPut) (u chat.UserRecord, err error) {
	err = s.do(ctx, func(w *writer) error {
		u, err = w.putRecord(p)
		return err
	})
	if err != nil {
		return chat.UserRecord{}, outcome("put user", err)
	}
	return u, nil
}

func (w *writer) putRecord(p chat.UserPut) (chat.UserRecord, error) {
	var custom *string
	if p.Custom != nil {
		custom = new(string)
		if string(p.Custom) != "{}" {
			*custom = string(p.Custom)
		}
	}
	res, err := w.exec(`insert into users (id, name, avatar, custom) values (?1, coalesce(?2, ''), coalesce(?3, ''), coalesce(?4, ''))
		on conflict (id) do update set name = coalesce(?2, name), avatar = coalesce(?3, avatar), custom = coalesce(?4, custom)
		where name <> coalesce(?2, name) or avatar <> coalesce(?3, avatar) or custom <> coalesce(?4, custom)`, p.User, p.Name, p.Avatar, custom)
	if err != nil {
		return chat.UserRecord{}, err
	}
	changed, err := res.RowsAffected()
	if err != nil {
		return chat.UserRecord{}, err
	}
	moved := false
	if p.Ref != nil {
		if moved, err = w.setUserRef(p.User, *p.Ref); err != nil {
			return chat.UserRecord{}, err
		}
	}
	if changed > 0 || moved {
		w.refs.User(eventlog.UserUpdated, p.User, nil)
	}
	return readRecord(w, p.User)
}

// setUserRef gives the user the host's own id, in place of an earlier one; "": none. The user exists.
func (w *writer) setUserRef(user, ref string) (moved bool, err error) {
	var old string
	if _, err := w.row(`select ref from users where id = ?`, []any{user}, &old); err != nil || old == ref {
		return false, err
	}
	if ref != "" {
		if taken, err := w.takeRef("user", ref, user); err != nil || taken != user {
			return false, refTaken(err)
		}
	}
	if _, err := w.exec(`delete from refs where kind = 'user' and ref = ? and id = ?`, old, user); err != nil {
		return false, err
	}
	_, err = w.exec(`update users set ref = ? where id = ?`, ref, user)
	return true, err
}

// takeRef gives the ref to id, unless another one has it. It returns which has it then.
func (w *writer) takeRef(kind, ref, id string) (owner string, err error) {
	if _, err := w.exec(`insert into refs (kind, ref, id) values (?, ?, ?) on conflict (kind, ref) do nothing`, kind, ref, id); err != nil {
		return "", err
	}
	_, err = w.row(`select id from refs where kind = ? and ref = ?`, []any{kind, ref}, &owner)
	return owner, err
}

// refTaken returns err, or the error that the ref belongs to another one.
func refTaken(err error) error {
	if err == nil {
		err = &chat.FieldError{Err: chat.ErrConflict, Field: "ref", Reason: "belongs to another one"}
	}
	return err
}

// EnsureUsers implements chat.Store.
func (s *Store) EnsureUsers(ctx context.Context, users []string) error {
	return outcome("create users", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id) select value from json_each(?) where true on conflict (id) do nothing`, jsonList(users))
		return err
	}))
}

// Suspend implements chat.Store.
func (s *Store) Suspend(ctx context.Context, user string, at time.Time) (chat.UserRecord, error) {
	return s.changeSuspension(ctx, user, eventlog.UserSuspended, `insert into users (id, suspended_at) values (?, ?)
		on conflict (id) do update set suspended_at = excluded.suspended_at, code_hash = null where suspended_at = 0`, user, at.UnixMilli())
}

// Reinstate implements chat.Store.
func (s *Store) Reinstate(ctx context.Context, user string) (chat.UserRecord, error) {
	return s.changeSuspension(ctx, user, eventlog.UserReinstated, `update users set suspended_at = 0 where id = ? and suspended_at > 0`, user)
}

func (s *Store) changeSuspension(ctx context.Context, user, kind, statement string, args ...any) (u chat.UserRecord, err error) {
	err = s.do(ctx, func(w *writer) error {
		res, err := w.exec(statement, args...)
		if err != nil {
			return err
		}
		changed, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if changed > 0 {
			w.refs.User(kind, user, nil)
		}
		if kind == eventlog.UserSuspended {
			if _, err := w.exec(`delete from push_subscriptions where user_id = ?`, user); err != nil {
				return err
			}
		}
		u, err = readRecord(w, user)
		return err
	})
	if err != nil {
		return chat.UserRecord{}, outcome("suspend or reinstate user", err)
	}
	return u, nil
}

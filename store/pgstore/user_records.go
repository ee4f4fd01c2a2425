package pgstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/cursor"
	"hongbao/store/eventlog"
)

const recordColumns = `u.id, u.name, u.avatar, u.ref, u.custom, u.suspended_at`

// scanRecord scans recordColumns.
func scanRecord(rs pgx.Rows) (u chat.UserRecord, err error) {
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
	found, err := rows(q, scanRecord, `select `+recordColumns+` from users u where u.id = $1`, user)
	if err == nil && len(found) == 0 {
		err = chat.ErrNotFound
	}
	if err != nil {
		return chat.UserRecord{}, err
	}
	return found[0], nil
}

// UserRecord implements chat.Store.
func (s *Store) UserRecord(ctx context.Context, user string) (u chat.UserRecord, err error) {
	err = s.withReader(ctx, func(r reader) error {
		u, err = readRecord(r, user)
		return err
	})
	return u, outcome("read user", err)
}

// UserRecordsOf implements chat.Store.
func (s *Store) UserRecordsOf(ctx context.Context, users, refs []string) (found []chat.UserRecord, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanRecord, `select `+recordColumns+` from users u
			where u.id = any($1) or u.id in (select id from refs where kind = 'user' and ref = any($2))`, users, refs)
		return err
	})
	return found, outcome("read users", err)
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
	query, args := `select `+recordColumns+` from users u where u.id > $1`+onlySuspended(q)+` order by u.id limit $2`, []any{from, q.Limit + 1}
	if q.RefPrefix != "" {
		query = `select ` + recordColumns + ` from refs f join users u on u.id = f.id
			where f.kind = 'user' and f.ref > $1 and f.ref >= $2 and f.ref < $3` + onlySuspended(q) + ` order by f.ref limit $4`
		args = []any{from, q.RefPrefix, q.RefPrefix + "\x7f", q.Limit + 1} // no ref has a character above ~
	}
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanRecord, query, args...)
		return err
	})
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
	err = s.tx(ctx, func(w *writer) error {
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
	created, err := w.exec(`insert into users (id, name, avatar, custom) values ($1, coalesce($2, ''), coalesce($3, ''), coalesce($4, '')) on conflict (id) do nothing`,
		p.User, p.Name, p.Avatar, custom)
	if err != nil {
		return chat.UserRecord{}, err
	}
	changed := int64(0)
	if created == 0 {
		if changed, err = w.exec(`update users set name = coalesce($2, name), avatar = coalesce($3, avatar), custom = coalesce($4, custom)
			where id = $1 and (name <> coalesce($2, name) or avatar <> coalesce($3, avatar) or custom <> coalesce($4, custom))`,
			p.User, p.Name, p.Avatar, custom); err != nil {
			return chat.UserRecord{}, err
		}
	}
	moved := false
	if p.Ref != nil {
		if moved, err = w.setUserRef(p.User, *p.Ref); err != nil {
			return chat.UserRecord{}, err
		}
	}
	if created+changed > 0 || moved {
		w.refs.User(eventlog.UserUpdated, p.User, nil)
	}
	return readRecord(w, p.User)
}

// setUserRef gives the user the host's own id, in place of an earlier one; "": none. The user exists.
func (w *writer) setUserRef(user, ref string) (moved bool, err error) {
	var old string
	if _, err := w.row(`select ref from users where id = $1 for update`, []any{user}, &old); err != nil || old == ref {
		return false, err
	}
	if ref != "" {
		if taken, err := w.takeRef("user", ref, user); err != nil || taken != user {
			return false, refTaken(err)
		}
	}
	if _, err := w.exec(`delete from refs where kind = 'user' and ref = $1 and id = $2`, old, user); err != nil {
		return false, err
	}
	_, err = w.exec(`update users set ref = $2 where id = $1`, user, ref)
	return true, err
}

// takeRef gives the ref to id, unless another one has it. It returns which has it then.
func (w *writer) takeRef(kind, ref, id string) (owner string, err error) {
	if _, err := w.exec(`insert into refs (kind, ref, id) values ($1, $2, $3) on conflict (kind, ref) do nothing`, kind, ref, id); err != nil {
		return "", err
	}
	found, err := w.row(`select id from refs where kind = $1 and ref = $2`, []any{kind, ref}, &owner)
	if err == nil && !found { // the one that had it has lost it since
		err = errRetry
	}
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
	users = slices.Sorted(slices.Values(users))
	return outcome("create users", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id) select id from unnest($1::text[]) as l (id)
			where not exists (select from users u where u.id = l.id) order by id on conflict (id) do nothing`, users)
		return err
	}))
}

// Suspend implements chat.Store.
func (s *Store) Suspend(ctx context.Context, user string, at time.Time) (chat.UserRecord, error) {
	return s.changeSuspension(ctx, user, eventlog.UserSuspended, `insert into users as u (id, suspended_at) values ($1, $2)
		on conflict (id) do update set suspended_at = excluded.suspended_at, code_hash = null where u.suspended_at = 0`, user, at.UnixMilli())
}

// Reinstate implements chat.Store.
func (s *Store) Reinstate(ctx context.Context, user string) (chat.UserRecord, error) {
	return s.changeSuspension(ctx, user, eventlog.UserReinstated, `update users set suspended_at = 0 where id = $1 and suspended_at > 0`, user)
}

func (s *Store) changeSuspension(ctx context.Context, user, kind, statement string, args ...any) (u chat.UserRecord, err error) {
	err = s.tx(ctx, func(w *writer) error {
		changed, err := w.exec(statement, args...)
		if err != nil {
			return err
		}
		if changed > 0 {
			w.refs.User(kind, user, nil)
		}
		if kind == eventlog.UserSuspended {
			if _, err := w.exec(`delete from push_subscriptions where user_id = $1`, user); err != nil {
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

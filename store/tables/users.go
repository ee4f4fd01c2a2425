package tables

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/store/cursor"
	"hongbao/store/eventlog"
)

// refusedUntil selects the Unix second up to which the tokens of a user are refused; 0: none are; chat.SuspendedSecond:
// all are.
const refusedUntil = `case when suspended_at > 0 then 9223372036854775807 else not_before end`

// PutUser implements chat.Store.
func (t Tables) PutUser(ctx context.Context, p chat.Profile, issued int64) (stored chat.User, notBefore int64, err error) {
	err = t.db.Write(ctx, func(w Tx) error {
		changed, err := w.Exec(`insert into users as u (id, name, avatar) values ($1, $2, $3)
			on conflict (id) do update set
				name = case when $5 and u.name <> '' then u.name else excluded.name end,
				avatar = case when $6 then u.avatar else excluded.avatar end
			where (u.name <> excluded.name and not ($5 and u.name <> '') or u.avatar <> excluded.avatar and not $6)
				and (u.not_before = 0 or u.not_before < $4) and u.suspended_at = 0`,
			p.ID, p.Name, p.Avatar, issued, p.KeepName, p.KeepAvatar)
		if err != nil {
			return err
		}
		if changed > 0 {
			w.Events().User(eventlog.UserUpdated, p.ID, nil)
		}
		stored.ID = p.ID
		_, err = w.Row(`select name, avatar, `+refusedUntil+` from users where id = $1`, []any{p.ID}, &stored.Name, &stored.Avatar, &notBefore)
		return err
	})
	return stored, notBefore, Outcome("put user", err)
}

// Revoke implements chat.Store.
func (t Tables) Revoke(ctx context.Context, user string, second int64) error {
	return Outcome("revoke tokens", t.db.Write(ctx, func(w Tx) error {
		changed, err := w.Exec(`insert into users as u (id, not_before) values ($1, $2)
			on conflict (id) do update set code_hash = null,
				not_before = case when u.not_before > excluded.not_before then u.not_before else excluded.not_before end
			where u.not_before < excluded.not_before or u.code_hash is not null`, user, second)
		if changed > 0 {
			w.Events().User(eventlog.UserRevoked, user, nil)
		}
		if err == nil {
			_, err = w.Exec(`delete from push_subscriptions where user_id = $1`, user)
		}
		return err
	}))
}

// Revoked implements chat.Store.
func (t Tables) Revoked(ctx context.Context, users []string) (map[string]int64, error) {
	return read(ctx, t.db, "read revocations", func(q Querier) (map[string]int64, error) {
		revoked := map[string]int64{}
		return revoked, q.Each(func(row Row) error {
			var user string
			var second int64
			err := row.Scan(&user, &second)
			revoked[user] = second
			return err
		}, `select id, `+refusedUntil+` from users where id `+q.In(1)+` and (not_before > 0 or suspended_at > 0)`, q.List(users))
	})
}

// EnsureUser creates the user if missing. The name stays empty until a token of the user or the host provides it.
func EnsureUser(w Tx, id string) error {
	_, err := w.Exec(`insert into users (id) values ($1) on conflict (id) do nothing`, id)
	return err
}

const recordColumns = `u.id, u.name, u.avatar, u.ref, u.custom, u.suspended_at, u.erased_at`

// scanRecord scans recordColumns.
func scanRecord(row Row) (u chat.UserRecord, err error) {
	var custom string
	err = row.Scan(&u.ID, &u.Name, &u.Avatar, &u.Ref, &custom, timeOrZero(&u.SuspendedAt), timeOrZero(&u.ErasedAt))
	if custom != "" {
		u.Custom = json.RawMessage(custom)
	}
	return u, err
}

// readRecord returns the record of a user, or chat.ErrNotFound.
func readRecord(q Querier, user string) (chat.UserRecord, error) {
	return one(q, scanRecord, `select `+recordColumns+` from users u where u.id = $1`, user)
}

// UserRecord implements chat.Store.
func (t Tables) UserRecord(ctx context.Context, user string) (chat.UserRecord, error) {
	return read(ctx, t.db, "read user", func(q Querier) (chat.UserRecord, error) { return readRecord(q, user) })
}

// UserRecordsOf implements chat.Store.
func (t Tables) UserRecordsOf(ctx context.Context, users, refs []string) ([]chat.UserRecord, error) {
	return list(ctx, t.db, "read users", scanRecord, `select `+recordColumns+` from users u
			where u.id in (select id from users where id `+t.db.In(1)+` union select id from refs where kind = 'user' and ref `+t.db.In(2)+`)`, t.db.List(users), t.db.List(refs))
}

// UserRecords implements chat.Store.
func (t Tables) UserRecords(ctx context.Context, q chat.UserQuery) (found []chat.UserRecord, more string, err error) {
	name, from := "users", ""
	if q.RefPrefix != "" {
		name = "users by ref"
	}
	if q.Next != "" {
		if err := cursor.Parse(name, q.Next, &from); err != nil {
			return nil, "", err
		}
	}
	query, args := `select `+recordColumns+` from users u where u.id > $1`+onlySuspended(q)+` order by u.id limit $2`, []any{from, q.Limit + 1}
	if q.RefPrefix != "" {
		query = `select ` + recordColumns + ` from refs f join users u on u.id = f.id
			where f.kind = 'user' and f.ref > $1 and f.ref >= $2 and f.ref < $3` + onlySuspended(q) + ` order by f.ref limit $4`
		args = []any{from, q.RefPrefix, q.RefPrefix + "\x7f", q.Limit + 1} // no ref has a character above ~
	}
	last := ""
	if q.Name != "" {
		if last, err = t.userAfter(ctx, from, q.Among); err != nil {
			return nil, "", err
		}
		query = `select ` + recordColumns + ` from users u where u.id > $1 and (u.id <= $3 or $3 = '')` + onlySuspended(q) +
			` and ` + t.db.Like(`u.name`, 4) + ` order by u.id limit $2`
		args = append(args, last, "%"+likeEscape.Replace(q.Name)+"%")
	}
	found, err = list(ctx, t.db, "list users", scanRecord, query, args...)
	if err != nil {
		return nil, "", err
	}
	if last != "" {
		more = cursor.Make(name, last)
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		last := found[q.Limit-1]
		if more = cursor.Make(name, last.ID); q.RefPrefix != "" {
			more = cursor.Make(name, last.Ref)
		}
	}
	return found, more, nil
}

// likeEscape escapes a text so that LIKE matches only the text itself.
var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// userAfter returns the id of the n-th user after the given one, or "" if there are not so many.
func (t Tables) userAfter(ctx context.Context, after string, n int) (string, error) {
	return read(ctx, t.db, "list users", func(q Querier) (user string, err error) {
		_, err = q.Row(`select id from users where id > $1 order by id limit 1 offset $2`, []any{after, n - 1}, &user)
		return user, err
	})
}

func onlySuspended(q chat.UserQuery) string {
	if q.Suspended {
		return ` and u.suspended_at > 0`
	}
	return ``
}

// PutUserRecord implements chat.Store.
func (t Tables) PutUserRecord(ctx context.Context, p chat.UserPut) (chat.UserRecord, error) {
	return write(ctx, t.db, "put user", func(w Tx, _ chat.UserRecord) (chat.UserRecord, error) { return putRecord(w, p) })
}

func putRecord(w Tx, p chat.UserPut) (chat.UserRecord, error) {
	var custom *string
	if p.Custom != nil {
		custom = new(string)
		if string(p.Custom) != "{}" {
			*custom = string(p.Custom)
		}
	}
	created, err := w.Exec(`insert into users (id, name, avatar, custom) values ($1, coalesce($2, ''), coalesce($3, ''), coalesce($4, '')) on conflict (id) do nothing`,
		p.User, p.Name, p.Avatar, custom)
	if err != nil {
		return chat.UserRecord{}, err
	}
	changed := int64(0)
	if created == 0 {
		if changed, err = w.Exec(`update users set name = coalesce($2, name), avatar = coalesce($3, avatar), custom = coalesce($4, custom)
			where id = $1 and erased_at = 0 and (name <> coalesce($2, name) or avatar <> coalesce($3, avatar) or custom <> coalesce($4, custom))`,
			p.User, p.Name, p.Avatar, custom); err != nil {
			return chat.UserRecord{}, err
		}
	}
	if now, err := readRecord(w, p.User); err != nil || now.Erased() {
		return chat.UserRecord{}, erased(err, "user")
	}
	moved := false
	if p.Ref != nil {
		if moved, err = setUserRef(w, p.User, *p.Ref); err != nil {
			return chat.UserRecord{}, err
		}
	}
	if created+changed > 0 || moved {
		w.Events().User(eventlog.UserUpdated, p.User, nil)
	}
	return readRecord(w, p.User)
}

// erased returns err if it is not nil, else the error of a request that would change an erased user.
func erased(err error, field string) error {
	if err == nil {
		err = chat.ErrErased(field)
	}
	return err
}

// setUserRef gives the user the ref in place of an earlier one. If ref is "", it only removes the earlier one. It reports whether
// the ref has changed. If another user has the ref, it returns the error of refTaken. The user must exist.
func setUserRef(w Tx, user, ref string) (moved bool, err error) {
	var old string
	if _, err := w.Row(`select ref from users where id = $1`+w.Lock(), []any{user}, &old); err != nil || old == ref {
		return false, err
	}
	if ref != "" {
		if taken, err := takeRef(w, "user", ref, user); err != nil || taken != user {
			return false, refTaken(err)
		}
	}
	if _, err := w.Exec(`delete from refs where kind = 'user' and ref = $1 and id = $2`, old, user); err != nil {
		return false, err
	}
	_, err = w.Exec(`update users set ref = $2 where id = $1`, user, ref)
	return true, err
}

// takeRef gives the ref to id, unless another id has it. It returns the id that has the ref now. kind is "user" or
// "room". It returns ErrRetry if the other id has lost the ref meanwhile.
func takeRef(w Tx, kind, ref, id string) (owner string, err error) {
	if _, err := w.Exec(`insert into refs (kind, ref, id) values ($1, $2, $3) on conflict (kind, ref) do nothing`, kind, ref, id); err != nil {
		return "", err
	}
	found, err := w.Row(`select id from refs where kind = $1 and ref = $2`, []any{kind, ref}, &owner)
	if err == nil && !found { // the id that had the ref has lost it since
		err = ErrRetry
	}
	return owner, err
}

// refTaken returns err if it is not nil. Otherwise it returns the FieldError that says that the ref belongs to another
// user.
func refTaken(err error) error {
	if err == nil {
		err = &chat.FieldError{Err: chat.ErrConflict, Field: "ref", Reason: "belongs to another one"}
	}
	return err
}

// EnsureUsers implements chat.Store.
func (t Tables) EnsureUsers(ctx context.Context, users []string) error {
	users = slices.Sorted(slices.Values(users))
	return exec(ctx, t.db, "create users", `insert into users (id) select l.value from `+t.db.Values(1)+` l
		where not exists (select 1 from users u where u.id = l.value) order by l.value on conflict (id) do nothing`, t.db.List(users))
}

// Suspend implements chat.Store.
func (t Tables) Suspend(ctx context.Context, user string, at time.Time) (chat.UserRecord, error) {
	return t.changeSuspension(ctx, user, eventlog.UserSuspended, `insert into users as u (id, suspended_at) values ($1, $2)
		on conflict (id) do update set suspended_at = excluded.suspended_at, code_hash = null where u.suspended_at = 0`, user, at.UnixMilli())
}

// Reinstate implements chat.Store.
func (t Tables) Reinstate(ctx context.Context, user string) (chat.UserRecord, error) {
	return t.changeSuspension(ctx, user, eventlog.UserReinstated, `update users set suspended_at = 0 where id = $1 and suspended_at > 0 and erased_at = 0`, user)
}

func (t Tables) changeSuspension(ctx context.Context, user, kind, statement string, args ...any) (chat.UserRecord, error) {
	return write(ctx, t.db, "suspend or reinstate user", func(w Tx, _ chat.UserRecord) (chat.UserRecord, error) {
		changed, err := w.Exec(statement, args...)
		if err != nil {
			return chat.UserRecord{}, err
		}
		if changed > 0 {
			w.Events().User(kind, user, nil)
		}
		if kind == eventlog.UserSuspended {
			if _, err := w.Exec(`delete from push_subscriptions where user_id = $1`, user); err != nil {
				return chat.UserRecord{}, err
			}
		}
		now, err := readRecord(w, user)
		if err == nil && now.Erased() && kind == eventlog.UserReinstated {
			err = chat.ErrErased("user")
		}
		return now, err
	})
}

// PutDeviceCode implements chat.Store.
func (t Tables) PutDeviceCode(ctx context.Context, user string, issued int64, hash []byte, until time.Time) error {
	return Outcome("put device code", t.db.Write(ctx, func(w Tx) error {
		updated, err := w.Exec(`update users set code_hash = $1, code_until = $2 where id = $3 and (not_before = 0 or not_before < $4) and suspended_at = 0`,
			hash, until.UnixMilli(), user, issued)
		if err == nil && updated == 0 {
			err = chat.ErrNotFound
		}
		return err
	}))
}

// TakeDeviceCode implements chat.Store.
func (t Tables) TakeDeviceCode(ctx context.Context, user string, hash []byte, now time.Time) (chat.User, error) {
	return write(ctx, t.db, "take device code", func(w Tx, _ chat.User) (chat.User, error) {
		taken := chat.User{ID: user}
		found, err := w.Row(`update users set code_hash = null where id = $1 and code_hash = $2 and code_until > $3 and suspended_at = 0 returning name, avatar`,
			[]any{user, hash, now.UnixMilli()}, &taken.Name, &taken.Avatar)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return taken, err
	})
}

// PutPicture implements chat.Store.
func (t Tables) PutPicture(ctx context.Context, user string, issued int64, p chat.Picture, at time.Time) error {
	return Outcome("put picture", t.db.Write(ctx, func(w Tx) error {
		stored, err := w.Exec(`insert into pictures (user_id, hash, data, at)
			select id, $2, $3, $4 from users where id = $1 and (not_before = 0 or not_before < $5) and suspended_at = 0
			on conflict (user_id, hash) do update set at = excluded.at`,
			user, p.Hash, p.Data, at.UnixMilli(), issued)
		if err != nil {
			return err
		}
		if stored == 0 {
			return chat.ErrNotFound
		}
		_, err = w.Exec(`delete from pictures where user_id = $1 and hash not in
			(select hash from pictures where user_id = $1 order by at desc, hash limit $2)`, user, chat.PicturesKept)
		return err
	}))
}

// Picture implements chat.Store.
func (t Tables) Picture(ctx context.Context, hash []byte) (data []byte, _ error) {
	return read(ctx, t.db, "read picture", func(q Querier) ([]byte, error) {
		return one(q, into(func(data *[]byte) []any { return []any{data} }), `select data from pictures where hash = $1 limit 1`, hash)
	})
}

// DeletePictures implements chat.Store.
func (t Tables) DeletePictures(ctx context.Context, user string, until time.Time) error {
	return exec(ctx, t.db, "delete pictures", `delete from pictures where user_id = $1 and at <= $2`, user, until.UnixMilli())
}

// PutSubscription implements chat.Store. It locks the user, so that two calls at once do not leave too many subscriptions.
func (t Tables) PutSubscription(ctx context.Context, sub chat.Subscription, most int) error {
	return Outcome("put push subscription", t.db.Write(ctx, func(w Tx) error {
		if err := EnsureUser(w, sub.User); err != nil {
			return err
		}
		var refused int64
		if _, err := w.Row(`select `+refusedUntil+` from users where id = $1`+w.Lock(), []any{sub.User}, &refused); err != nil {
			return err
		}
		if sub.At.Unix() <= refused {
			return chat.ErrUnavailable
		}
		if _, err := w.Exec(`insert into push_subscriptions (user_id, id, endpoint, p256dh, auth, at) values ($1, $2, $3, $4, $5, $6)
			on conflict (user_id, id) do update set p256dh = excluded.p256dh, auth = excluded.auth, at = excluded.at`,
			sub.User, sub.ID(), sub.Endpoint, sub.P256dh, sub.Auth, sub.At.UnixMilli()); err != nil {
			return err
		}
		_, err := w.Exec(`delete from push_subscriptions where user_id = $1 and id in (
			select id from push_subscriptions where user_id = $1 and id <> $2 order by at desc, id limit 1000000 offset $3)`, sub.User, sub.ID(), most-1)
		return err
	}))
}

// DeleteSubscription implements chat.Store.
func (t Tables) DeleteSubscription(ctx context.Context, sub chat.Subscription) error {
	where, args := `user_id = $1 and id = $2`, []any{sub.User, sub.ID()}
	if sub.Auth != nil {
		where, args = where+` and p256dh = $3 and auth = $4`, append(args, sub.P256dh, sub.Auth)
	}
	return exec(ctx, t.db, "delete push subscription", `delete from push_subscriptions where `+where, args...)
}

// Subscriptions implements chat.Store. The condition m.user_id >= $3 is there because Postgres uses no index to compare
// a pair of columns of two tables with the cursor. The cross join makes SQLite begin with the members: they are in
// order, and in most cases a room has fewer members than the database has subscriptions.
func (t Tables) Subscriptions(ctx context.Context, a chat.Audience) ([]chat.Subscription, error) {
	where, args := ``, []any{a.Room, a.Seq, a.After.User, a.After.ID(), a.Limit, a.Now.UnixMilli()}
	if len(a.Of) > 0 {
		where, args = ` and m.user_id `+t.db.In(7), append(args, t.db.List(a.Of))
	}
	return list(ctx, t.db, "list push subscriptions", scanSubscription, `select s.user_id, s.endpoint, s.p256dh, s.auth, s.at
			from members m cross join push_subscriptions s
			where s.user_id = m.user_id and m.room_id = $1 and m.state = 'in' and `+isThere+` and (not m.silent or m.silent_until between 1 and $6) and m.read_seq < $2 and m.user_id >= $3 and (s.user_id > $3 or s.id > $4)`+where+`
			order by m.user_id, s.id limit $5`, args...)
}

var scanSubscription = into(func(sub *chat.Subscription) []any {
	return []any{&sub.User, &sub.Endpoint, &sub.P256dh, &sub.Auth, Time(&sub.At)}
})

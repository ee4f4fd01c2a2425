package tables

import (
	"context"
	"slices"

	"hongbao/chat"
)

// refusing returns the end of a query, from "from" on. It selects those of the users $2 (from List) that the user $1
// may not put into a room: one of the two has blocked the other, or the contact setting of the user in $2 forbids it.
// The user $1 itself is never selected. The users $2 must be locked: then no other transaction changes their settings or
// their blocks. A block by the user $1 may be added meanwhile, unless that user is locked, too.
func refusing(d Dialect) string {
	return `from users u where u.id ` + d.In(2) + ` and u.id <> $1 and (
	u.contact = 'nobody'
	or u.contact = 'shared' and (select 1 from members mine join members theirs on theirs.room_id = mine.room_id
		where mine.user_id = $1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in' limit 1) is null
	or exists (select 1 from blocks b where b.user_id = u.id and b.blocked = $1 or b.user_id = $1 and b.blocked = u.id))`
}

// refuseContact returns chat.ErrContactRefused if by may not put one of the users into a room. The error is in a
// chat.FieldError that names the first such user. A user that is not in known is refused in the same way, so that the answer does not
// tell which users exist. The users must be locked: see refusing.
func refuseContact(w Tx, by, field string, known map[string]bool, users ...string) error {
	refusing, err := List(w, ScanText, `select u.id `+refusing(w), by, w.List(users))
	if err != nil {
		return err
	}
	for _, user := range users {
		if !known[user] || slices.Contains(refusing, user) {
			return &chat.FieldError{Err: chat.ErrContactRefused, Field: field, Reason: user}
		}
	}
	return nil
}

// Block implements chat.Store. In pgstore it locks the row of b.User, as every transaction does that puts this user into a
// room. So no such transaction overlooks the block.
func (t Tables) Block(ctx context.Context, b chat.Blocking) (room string, _ error) {
	return write(ctx, t.db, "block user", func(w Tx, _ string) (room string, err error) {
		if err := EnsureUser(w, b.User); err != nil {
			return "", err
		}
		if _, err := w.Row(`select 1 from users where id = $1`+w.Lock(), []any{b.User}, new(int)); err != nil {
			return "", err
		}
		var others int
		if _, err := w.Row(`select count(*) from blocks where user_id = $1 and blocked <> $2`, []any{b.User, b.Blocked}, &others); err != nil {
			return "", err
		}
		if others >= b.Most {
			return "", chat.ErrLimitExceeded
		}
		known, err := List(w, scanUser, knownQuery(w), b.User, w.List([]string{b.Blocked}))
		if err != nil {
			return "", err
		}
		if _, err := w.Exec(`insert into blocks (user_id, blocked, at, known) values ($1, $2, $3, $4) on conflict do nothing`,
			b.User, b.Blocked, b.At.UnixMilli(), len(known) > 0); err != nil {
			return "", err
		}
		pair := chat.Pairing{User: chat.User{ID: b.User}, Other: b.Blocked}.Pair()
		_, err = w.Row(`select r.id from rooms r join members m on m.room_id = r.id
			where r.pair = $1 and m.user_id = $2 and m.state = 'in'`, []any{pair, b.User}, &room)
		return room, err
	})
}

// Unblock implements chat.Store.
func (t Tables) Unblock(ctx context.Context, user, blocked string) error {
	return exec(ctx, t.db, "unblock user", `delete from blocks where user_id = $1 and blocked = $2`, user, blocked)
}

// Blockers implements chat.Store.
func (t Tables) Blockers(ctx context.Context, user string, of []string) ([]string, error) {
	return list(ctx, t.db, "read blockers", ScanText, `select user_id from blocks where user_id `+t.db.In(1)+` and blocked = $2`, t.db.List(of), user)
}

// Contacts implements chat.Store. It names a blocked user only if the user that asks knows that one now, or did when the block began.
func (t Tables) Contacts(ctx context.Context, user string) (c chat.Contacts, err error) {
	c.Contact = chat.Everyone
	err = t.db.Snapshot(ctx, func(q Querier) error {
		if _, err := q.Row(`select contact from users where id = $1`, []any{user}, &c.Contact); err != nil {
			return err
		}
		var strangers []string
		c.Blocked, err = List(q, func(row Row) (u chat.User, err error) {
			var known bool
			if err = row.Scan(&u.ID, &u.Name, &u.Avatar, &known); !known {
				strangers = append(strangers, u.ID)
			}
			return u, err
		}, `select b.blocked, coalesce(u.name, ''), coalesce(u.avatar, ''), b.known
			from blocks b left join users u on u.id = b.blocked where b.user_id = $1 order by b.blocked`, user)
		if err != nil || len(strangers) == 0 {
			return err
		}
		met, err := List(q, scanUser, knownQuery(t.db), user, t.db.List(strangers))
		if err != nil {
			return err
		}
		for n, u := range c.Blocked {
			if slices.Contains(strangers, u.ID) && !slices.ContainsFunc(met, func(m chat.User) bool { return m.ID == u.ID }) {
				c.Blocked[n] = chat.User{ID: u.ID}
			}
		}
		return nil
	})
	return c, Outcome("read contacts", err)
}

// scanUser scans the id, name and avatar of a user.
var scanUser = into(func(u *chat.User) []any { return []any{&u.ID, &u.Name, &u.Avatar} })

// SetContact implements chat.Store.
func (t Tables) SetContact(ctx context.Context, user string, c chat.Contact) error {
	return exec(ctx, t.db, "set contact", `insert into users (id, contact) values ($1, $2)
		on conflict (id) do update set contact = excluded.contact`, user, c)
}

const strangersQuery = `select m.user_id from members m join rooms r on r.id = m.room_id
	where m.room_id = $1 and r.kind = 'direct' and m.state = 'in' and not m.chosen and m.user_id <> $2 and not exists (
		select 1 from members a join members b on b.room_id = a.room_id
		where a.user_id = m.user_id and a.state = 'in' and b.user_id = $2 and b.state = 'in' and a.room_id <> m.room_id)`

const unchosenQuery = `select m.room_id from members m join rooms r on r.id = m.room_id
	where m.user_id = $1 and m.state = 'in' and not m.chosen and r.kind = 'direct'`

// knownQuery selects those of the users $2 (from List) that the user $1 knows (see chat.Store.Known). For each user, it stops at the first
// common room that counts. It and refusing do not ask whether such a room exists: for that, Postgres may read all members of all rooms of $1.
func knownQuery(d Dialect) string {
	return `select u.id, u.name, u.avatar from users u where u.id ` + d.In(2) + ` and (u.id = $1 or (
			select 1 from members mine join members theirs on theirs.room_id = mine.room_id join rooms r on r.id = mine.room_id
			where mine.user_id = $1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in' and (r.kind <> 'direct' or theirs.chosen)
			limit 1) = 1)
		order by u.id`
}

// Known implements chat.Store.
func (t Tables) Known(ctx context.Context, viewer string, users []string) ([]chat.User, error) {
	return list(ctx, t.db, "read users", scanUser, knownQuery(t.db), viewer, t.db.List(users))
}

// Strangers implements chat.Store.
func (t Tables) Strangers(ctx context.Context, room, viewer string) ([]string, error) {
	return list(ctx, t.db, "read strangers", ScanText, strangersQuery, room, viewer)
}

// UnchosenDirect implements chat.Store.
func (t Tables) UnchosenDirect(ctx context.Context, user string) ([]string, error) {
	return list(ctx, t.db, "read unchosen rooms", ScanText, unchosenQuery, user)
}

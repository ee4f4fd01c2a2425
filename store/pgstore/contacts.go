package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// refusing selects those of the users $2 that the user $1 may not put into a room: one of the two has blocked the other,
// or the user's contact setting forbids it. The users must be locked: then no other transaction changes their settings or
// their blocks.
const refusing = `from users u where u.id = any($2) and u.id <> $1 and (
	u.contact = 'nobody'
	or u.contact = 'shared' and not exists (select from members mine join members theirs on theirs.room_id = mine.room_id
		where mine.user_id = $1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in')
	or exists (select from blocks b where b.user_id = u.id and b.blocked = $1 or b.user_id = $1 and b.blocked = u.id))`

// refuseContact returns chat.ErrContactRefused if by may not put one of the users into a room.
func (w *writer) refuseContact(by, field string, users ...string) error {
	var user string
	found, err := w.row(`select u.id `+refusing+` limit 1`, []any{by, users}, &user)
	if err == nil && found {
		err = &chat.FieldError{Err: chat.ErrContactRefused, Field: field, Reason: user}
	}
	return err
}

// Block implements chat.Store. It locks the user, as every transaction does that puts the user into a room: so none of
// them overlooks the block.
func (s *Store) Block(ctx context.Context, b chat.Blocking) (room string, err error) {
	err = s.tx(ctx, func(w *writer) error {
		if err := w.ensureUser(b.User); err != nil {
			return err
		}
		if _, err := w.lockUsers([]string{b.User}); err != nil {
			return err
		}
		var others int
		if _, err := w.row(`select count(*) from blocks where user_id = $1 and blocked <> $2`, []any{b.User, b.Blocked}, &others); err != nil {
			return err
		}
		if others >= b.Most {
			return chat.ErrLimitExceeded
		}
		if _, err := w.exec(`insert into blocks (user_id, blocked, at) values ($1, $2, $3) on conflict do nothing`,
			b.User, b.Blocked, b.At.UnixMilli()); err != nil {
			return err
		}
		pair := chat.Pairing{User: chat.User{ID: b.User}, Other: b.Blocked}.Pair()
		room = ""
		_, err := w.row(`select r.id from rooms r join members m on m.room_id = r.id
			where r.pair = $1 and m.user_id = $2 and m.state = 'in'`, []any{pair, b.User}, &room)
		return err
	})
	if err != nil {
		return "", outcome("block user", err)
	}
	return room, nil
}

// Unblock implements chat.Store.
func (s *Store) Unblock(ctx context.Context, user, blocked string) error {
	return outcome("unblock user", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from blocks where user_id = $1 and blocked = $2`, user, blocked)
		return err
	}))
}

// Blockers implements chat.Store.
func (s *Store) Blockers(ctx context.Context, user string, of []string) (users []string, err error) {
	err = s.withReader(ctx, func(r reader) error {
		users, err = rows(r, scanText, `select user_id from blocks where user_id = any($1) and blocked = $2`, of, user)
		return err
	})
	return users, outcome("read blockers", err)
}

// Contacts implements chat.Store.
func (s *Store) Contacts(ctx context.Context, user string) (c chat.Contacts, err error) {
	c.Contact = chat.Everyone
	err = s.withSnapshot(ctx, func(r reader) error {
		if _, err := r.row(`select contact from users where id = $1`, []any{user}, &c.Contact); err != nil {
			return err
		}
		c.Blocked, err = rows(r, scanUser, `select b.blocked, coalesce(u.name, ''), coalesce(u.avatar, '')
			from blocks b left join users u on u.id = b.blocked where b.user_id = $1 order by b.blocked`, user)
		return err
	})
	return c, outcome("read contacts", err)
}

func scanUser(rs pgx.Rows) (u chat.User, err error) {
	err = rs.Scan(&u.ID, &u.Name, &u.Avatar)
	return u, err
}

// SetContact implements chat.Store.
func (s *Store) SetContact(ctx context.Context, user string, c chat.Contact) error {
	return outcome("set contact", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id, contact) values ($1, $2)
			on conflict (id) do update set contact = excluded.contact`, user, c)
		return err
	}))
}

const strangersQuery = `select m.user_id from members m join rooms r on r.id = m.room_id
	where m.room_id = $1 and r.kind = 'direct' and m.state = 'in' and not m.chosen and m.user_id <> $2 and not exists (
		select 1 from members a join members b on b.room_id = a.room_id
		where a.user_id = m.user_id and a.state = 'in' and b.user_id = $2 and b.state = 'in' and a.room_id <> m.room_id)`

const unchosenQuery = `select m.room_id from members m join rooms r on r.id = m.room_id
	where m.user_id = $1 and m.state = 'in' and not m.chosen and r.kind = 'direct'`

// knownQuery selects those of the users $2 that the user $1 may know. Of each user it looks for one common room only.
const knownQuery = `select u.id, u.name, u.avatar from users u where u.id = any($2) and (u.id = $1 or exists (
	select from members mine join members theirs on theirs.room_id = mine.room_id join rooms r on r.id = mine.room_id
	where mine.user_id = $1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in' and (r.kind <> 'direct' or theirs.chosen)))
	order by u.id`

// Known implements chat.Store.
func (s *Store) Known(ctx context.Context, viewer string, users []string) (known []chat.User, err error) {
	err = s.withReader(ctx, func(r reader) error {
		known, err = rows(r, scanUser, knownQuery, viewer, users)
		return err
	})
	return known, outcome("read users", err)
}

// Strangers implements chat.Store.
func (s *Store) Strangers(ctx context.Context, room, viewer string) (users []string, err error) {
	err = s.withReader(ctx, func(r reader) error {
		users, err = rows(r, scanText, strangersQuery, room, viewer)
		return err
	})
	return users, outcome("read strangers", err)
}

// UnchosenDirect implements chat.Store.
func (s *Store) UnchosenDirect(ctx context.Context, user string) (found []string, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanText, unchosenQuery, user)
		return err
	})
	return found, outcome("read unchosen rooms", err)
}

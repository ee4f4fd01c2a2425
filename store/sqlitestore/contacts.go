package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"hongbao/chat"
)

// refusing selects those of the users (?2, a JSON list) that the user ?1 may not put into a room: one of the two has
// blocked the other, or the user's contact setting forbids it.
const refusing = `from users u where u.id in (select value from json_each(?2)) and u.id <> ?1 and (
	u.contact = 'nobody'
	or u.contact = 'shared' and not exists (select 1 from members mine join members theirs on theirs.room_id = mine.room_id
		where mine.user_id = ?1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in')
	or exists (select 1 from blocks b where b.user_id = u.id and b.blocked = ?1 or b.user_id = ?1 and b.blocked = u.id))`

// refuseContact returns chat.ErrContactRefused if by may not put one of the users into a room.
func (w *writer) refuseContact(by, field string, users ...string) error {
	list, err := json.Marshal(users)
	if err != nil {
		return err
	}
	var user string
	found, err := w.row(`select u.id `+refusing+` limit 1`, []any{by, string(list)}, &user)
	if err == nil && found {
		err = &chat.FieldError{Err: chat.ErrContactRefused, Field: field, Reason: user}
	}
	return err
}

// Block implements chat.Store.
func (s *Store) Block(ctx context.Context, b chat.Blocking) (room string, err error) {
	err = s.do(ctx, func(w *writer) error {
		var others int
		if _, err := w.row(`select count(*) from blocks where user_id = ? and blocked <> ?`, []any{b.User, b.Blocked}, &others); err != nil {
			return err
		}
		if others >= b.Most {
			return chat.ErrLimitExceeded
		}
		if _, err := w.exec(`insert into blocks (user_id, blocked, at) values (?, ?, ?) on conflict do nothing`,
			b.User, b.Blocked, b.At.UnixMilli()); err != nil {
			return err
		}
		pair := chat.Pairing{User: chat.User{ID: b.User}, Other: b.Blocked}.Pair()
		_, err := w.row(`select r.id from rooms r join members m on m.room_id = r.id
			where r.pair = ? and m.user_id = ? and m.state = 'in'`, []any{pair, b.User}, &room)
		return err
	})
	if err != nil {
		return "", outcome("block user", err)
	}
	return room, nil
}

// Unblock implements chat.Store.
func (s *Store) Unblock(ctx context.Context, user, blocked string) error {
	return outcome("unblock user", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`delete from blocks where user_id = ? and blocked = ?`, user, blocked)
		return err
	}))
}

// Blockers implements chat.Store.
func (s *Store) Blockers(ctx context.Context, user string, of []string) ([]string, error) {
	list, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	users, err := rows(reader{ctx, s.read}, scanID, `select user_id from blocks
		where user_id in (select value from json_each(?)) and blocked = ?`, string(list), user)
	return users, outcome("read blockers", err)
}

// Contacts implements chat.Store.
func (s *Store) Contacts(ctx context.Context, user string) (c chat.Contacts, err error) {
	c.Contact = chat.Everyone
	err = s.view(ctx, func(r reader) error {
		if _, err := r.row(`select contact from users where id = ?`, []any{user}, &c.Contact); err != nil {
			return err
		}
		c.Blocked, err = rows(r, scanUser, `select b.blocked, coalesce(u.name, ''), coalesce(u.avatar, '')
			from blocks b left join users u on u.id = b.blocked where b.user_id = ? order by b.blocked`, user)
		return err
	})
	return c, outcome("read contacts", err)
}

func scanUser(rs *sql.Rows) (u chat.User, err error) {
	err = rs.Scan(&u.ID, &u.Name, &u.Avatar)
	return u, err
}

// SetContact implements chat.Store.
func (s *Store) SetContact(ctx context.Context, user string, c chat.Contact) error {
	return outcome("set contact", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id, contact) values (?, ?)
			on conflict (id) do update set contact = excluded.contact`, user, c)
		return err
	}))
}

const strangersQuery = `select m.user_id from members m join rooms r on r.id = m.room_id
	where m.room_id = ?1 and r.kind = 'direct' and m.state = 'in' and not m.chosen and m.user_id <> ?2 and not exists (
		select 1 from members a join members b on b.room_id = a.room_id
		where a.user_id = m.user_id and a.state = 'in' and b.user_id = ?2 and b.state = 'in' and a.room_id <> m.room_id)`

const unchosenQuery = `select m.room_id from members m join rooms r on r.id = m.room_id
	where m.user_id = ?1 and m.state = 'in' and not m.chosen and r.kind = 'direct'`

// knownQuery selects those of the users (?2, a JSON list) that the user ?1 may know.
const knownQuery = `select u.id, u.name, u.avatar from users u where u.id in (select value from json_each(?2)) and (u.id = ?1 or exists (
	select 1 from members mine join members theirs on theirs.room_id = mine.room_id join rooms r on r.id = mine.room_id
	where mine.user_id = ?1 and mine.state = 'in' and theirs.user_id = u.id and theirs.state = 'in' and (r.kind <> 'direct' or theirs.chosen)))
	order by u.id`

// Known implements chat.Store.
func (s *Store) Known(ctx context.Context, viewer string, users []string) ([]chat.User, error) {
	list, err := json.Marshal(users)
	if err != nil {
		return nil, err
	}
	known, err := rows(reader{ctx, s.read}, scanUser, knownQuery, viewer, string(list))
	return known, outcome("read users", err)
}

// Strangers implements chat.Store.
func (s *Store) Strangers(ctx context.Context, room, viewer string) ([]string, error) {
	users, err := rows(reader{ctx, s.read}, scanID, strangersQuery, room, viewer)
	return users, outcome("read strangers", err)
}

// UnchosenDirect implements chat.Store.
func (s *Store) UnchosenDirect(ctx context.Context, user string) ([]string, error) {
	found, err := rows(reader{ctx, s.read}, scanID, unchosenQuery, user)
	return found, outcome("read unchosen rooms", err)
}

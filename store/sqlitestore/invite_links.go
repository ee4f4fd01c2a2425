package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/chat"
)

// CreateLink implements chat.Store.
func (s *Store) CreateLink(ctx context.Context, l chat.NewLink) (stored chat.NewLink, err error) {
	err = s.do(ctx, func(w *writer) error {
		stored, err = w.createLink(l)
		return err
	})
	if err != nil {
		return chat.NewLink{}, outcome("create link", err)
	}
	return stored, nil
}

func (w *writer) createLink(l chat.NewLink) (chat.NewLink, error) {
	room, err := readRoom(w, l.Room)
	if err != nil {
		return chat.NewLink{}, err
	}
	st, err := w.standing(l.Room, l.Creator.ID)
	if err != nil {
		return chat.NewLink{}, err
	}
	if first, found, err := w.repeatedLink(l); err != nil || found {
		return first, err
	}
	if _, err := w.exec(`delete from invite_links where room_id = ? and (expires_at <= ? or max_uses > 0 and uses >= max_uses)`,
		l.Room, l.CreatedAt.UnixMilli()); err != nil {
		return chat.NewLink{}, err
	}
	var others int
	if _, err := w.row(`select count(*) from invite_links where room_id = ?`, []any{l.Room}, &others); err != nil {
		return chat.NewLink{}, err
	}
	if err := l.Refusal(room, st, others); err != nil {
		return chat.NewLink{}, err
	}
	_, err = w.exec(`insert into invite_links (room_id, id, creator, created_at, expires_at, max_uses, approval, request, sealed_code)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		l.Room, l.ID, l.Creator.ID, l.CreatedAt.UnixMilli(), l.ExpiresAt.UnixMilli(), l.MaxUses, l.Approval, l.Request, l.SealedCode)
	return l, err
}

// repeatedLink returns the link that an earlier request with the same key has created, if there was one.
func (w *writer) repeatedLink(l chat.NewLink) (first chat.NewLink, found bool, err error) {
	if l.Request == nil {
		return chat.NewLink{}, false, nil
	}
	found, err = w.row(`select room_id, id, created_at, expires_at, max_uses, uses, approval, sealed_code from invite_links
		where room_id = ? and request = ?`, []any{l.Room, l.Request},
		&first.Room, &first.ID, storedTime{&first.CreatedAt}, storedTime{&first.ExpiresAt}, &first.MaxUses, &first.Uses, &first.Approval, &first.SealedCode)
	if err != nil || !found {
		return chat.NewLink{}, false, err
	}
	first.Creator, first.Request = l.Creator, l.Request
	return first, true, l.Repeats(first.Link)
}

const selectInviteLinks = `select l.room_id, l.id, l.creator, coalesce(u.name, ''), coalesce(u.avatar, ''), l.created_at, l.expires_at, l.max_uses, l.uses, l.approval
	from invite_links l left join users u on u.id = l.creator`

func scanInviteLink(rs *sql.Rows) (l chat.Link, err error) {
	err = rs.Scan(&l.Room, &l.ID, &l.Creator.ID, &l.Creator.Name, &l.Creator.Avatar, storedTime{&l.CreatedAt}, storedTime{&l.ExpiresAt}, &l.MaxUses, &l.Uses, &l.Approval)
	return l, err
}

// readInviteLink returns a link with the standing of its creator; nil: there is no such link.
func readInviteLink(q querier, room, id string) (*chat.LinkState, error) {
	links, err := rows(q, scanInviteLink, selectInviteLinks+` where l.room_id = ? and l.id = ?`, room, id)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	by, err := readStanding(q, room, links[0].Creator.ID)
	return &chat.LinkState{Link: links[0], By: by}, err
}

// Link implements chat.Store.
func (s *Store) Link(ctx context.Context, room, id string) (l chat.LinkState, err error) {
	err = s.view(ctx, func(r reader) error {
		found, err := readInviteLink(r, room, id)
		if err != nil {
			return err
		}
		if found == nil {
			return chat.ErrNotFound
		}
		l = *found
		return nil
	})
	return l, outcome("read link", err)
}

// Links implements chat.Store.
func (s *Store) Links(ctx context.Context, room, creator string, now time.Time) ([]chat.Link, error) {
	links, err := rows(reader{ctx, s.read}, scanInviteLink, selectInviteLinks+` where l.room_id = ?1 and l.expires_at > ?2 and ?3 in ('', l.creator)
		order by l.created_at desc, l.id`, room, now.UnixMilli(), creator)
	return links, outcome("read links", err)
}

// DeleteLink implements chat.Store.
func (s *Store) DeleteLink(ctx context.Context, room, id, creator string) error {
	return outcome("delete link", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`delete from invite_links where room_id = ?1 and id = ?2 and ?3 in ('', creator)`, room, id, creator)
		return err
	}))
}

// unanswered selects, of the join_requests r, those of users that ask to enter now: users that are banned, or have become members since, do not.
const unanswered = `not exists (select 1 from members m where m.room_id = r.room_id and m.user_id = r.user_id
	and (m.state = 'in' or m.banned or m.joined_at >= r.at))`

// JoinRequests implements chat.Store.
func (s *Store) JoinRequests(ctx context.Context, room string, limit int) ([]chat.JoinRequest, error) {
	asking, err := rows(reader{ctx, s.read}, func(rs *sql.Rows) (r chat.JoinRequest, err error) {
		err = rs.Scan(&r.User.ID, &r.User.Name, &r.User.Avatar, storedTime{&r.At})
		return r, err
	}, `select r.user_id, coalesce(u.name, ''), coalesce(u.avatar, ''), r.at from join_requests r left join users u on u.id = r.user_id
		where r.room_id = ? and `+unanswered+` order by r.at, r.user_id limit ?`, room, limit)
	return asking, outcome("read join requests", err)
}

// useInviteLink writes what the ruling decides about the link and the request to enter of the change's user.
func (w *writer) useInviteLink(c chat.Change, r chat.Ruling) error {
	if r.UsesLink {
		if _, err := w.exec(`update invite_links set uses = uses + 1 where room_id = ? and id = ?`, c.Room, c.Link); err != nil {
			return err
		}
	}
	if r.Asks {
		if _, err := w.exec(`insert into join_requests (room_id, user_id, at) values (?, ?, ?)
			on conflict (room_id, user_id) do update set at = excluded.at`, c.Room, c.Users[0], c.At.UnixMilli()); err != nil {
			return err
		}
	}
	if r.Answered {
		if _, err := w.exec(`delete from join_requests where room_id = ? and user_id = ?`, c.Room, c.Users[0]); err != nil {
			return err
		}
	}
	return nil
}

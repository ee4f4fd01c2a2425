package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// CreateLink implements chat.Store. It locks the creator's membership and the room, so that neither the creator's standing nor the number
// of links changes meanwhile.
func (s *Store) CreateLink(ctx context.Context, l chat.NewLink) (stored chat.NewLink, err error) {
	err = s.tx(ctx, func(w *writer) error {
		stored, err = w.createLink(l)
		return err
	})
	if err != nil {
		return chat.NewLink{}, outcome("create link", err)
	}
	return stored, nil
}

func (w *writer) createLink(l chat.NewLink) (chat.NewLink, error) {
	st, err := w.lockStanding(l.Room, l.Creator.ID)
	if err != nil {
		return chat.NewLink{}, err
	}
	room, err := w.lockRoom(l.Room)
	if err != nil {
		return chat.NewLink{}, err
	}
	if first, found, err := w.repeatedLink(l); err != nil || found {
		return first, err
	}
	if _, err := w.exec(`delete from invite_links where room_id = $1 and (expires_at <= $2 or max_uses > 0 and uses >= max_uses)`,
		l.Room, l.CreatedAt.UnixMilli()); err != nil {
		return chat.NewLink{}, err
	}
	var others int
	if _, err := w.row(`select count(*) from invite_links where room_id = $1 and id <> $2`, []any{l.Room, l.ID}, &others); err != nil {
		return chat.NewLink{}, err
	}
	if err := l.Refusal(room, st, others); err != nil {
		return chat.NewLink{}, err
	}
	_, err = w.exec(`insert into invite_links (room_id, id, creator, created_at, expires_at, max_uses, approval, request, sealed_code)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
		l.Room, l.ID, l.Creator.ID, l.CreatedAt.UnixMilli(), l.ExpiresAt.UnixMilli(), l.MaxUses, l.Approval, l.Request, l.SealedCode)
	return l, err
}

// repeatedLink returns the link that an earlier request with the same key has created, if there was one. The room must be locked.
func (w *writer) repeatedLink(l chat.NewLink) (first chat.NewLink, found bool, err error) {
	if l.Request == nil {
		return chat.NewLink{}, false, nil
	}
	var created, expires int64
	found, err = w.row(`select `+inviteLinkColumns+`, l.sealed_code from invite_links l where l.room_id = $1 and l.request = $2`,
		[]any{l.Room, l.Request}, append(inviteLinkInto(&first.Link, &created, &expires), &first.SealedCode)...)
	if err != nil || !found {
		return chat.NewLink{}, false, err
	}
	first.Creator, first.Request = l.Creator, l.Request
	first.CreatedAt, first.ExpiresAt = fromMillis(created), fromMillis(expires)
	return first, true, l.Repeats(first.Link)
}

const inviteLinkColumns = `l.room_id, l.id, l.creator, l.created_at, l.expires_at, l.max_uses, l.uses, l.approval`

// inviteLinkQuery selects a link with the standing of its creator.
const inviteLinkQuery = `select ` + inviteLinkColumns + `, ` + standingColumns + `
	from invite_links l join members m on m.room_id = l.room_id and m.user_id = l.creator where l.room_id = $1 and l.id = $2`

func inviteLinkInto(l *chat.Link, created, expires *int64) []any {
	return []any{&l.Room, &l.ID, &l.Creator.ID, created, expires, &l.MaxUses, &l.Uses, &l.Approval}
}

func scanInviteLinkState(rs pgx.Rows) (l chat.LinkState, err error) {
	var created, expires int64
	var st storedStanding
	err = rs.Scan(append(inviteLinkInto(&l.Link, &created, &expires), st.into()...)...)
	l.CreatedAt, l.ExpiresAt, l.By = fromMillis(created), fromMillis(expires), st.standing()
	return l, err
}

func scanInviteLink(rs pgx.Rows) (l chat.Link, err error) {
	var created, expires int64
	err = rs.Scan(append(inviteLinkInto(&l, &created, &expires), &l.Creator.Name, &l.Creator.Avatar)...)
	l.CreatedAt, l.ExpiresAt = fromMillis(created), fromMillis(expires)
	return l, err
}

// Link implements chat.Store.
func (s *Store) Link(ctx context.Context, room, id string) (l chat.LinkState, err error) {
	err = s.withReader(ctx, func(r reader) error {
		links, err := rows(r, scanInviteLinkState, inviteLinkQuery, room, id)
		if err != nil {
			return err
		}
		if len(links) == 0 {
			return chat.ErrNotFound
		}
		l = links[0]
		_, err = r.row(`select name, avatar from users where id = $1`, []any{l.Creator.ID}, &l.Creator.Name, &l.Creator.Avatar)
		return err
	})
	return l, outcome("read link", err)
}

// Links implements chat.Store.
func (s *Store) Links(ctx context.Context, room, creator string, now time.Time) (links []chat.Link, err error) {
	err = s.withReader(ctx, func(r reader) error {
		links, err = rows(r, scanInviteLink, `select `+inviteLinkColumns+`, coalesce(u.name, ''), coalesce(u.avatar, '')
			from invite_links l left join users u on u.id = l.creator
			where l.room_id = $1 and l.expires_at > $2 and $3 in ('', l.creator) order by l.created_at desc, l.id`, room, now.UnixMilli(), creator)
		return err
	})
	return links, outcome("read links", err)
}

// DeleteLink implements chat.Store. It locks the room, so that nobody enters by the link after it returns.
func (s *Store) DeleteLink(ctx context.Context, room, id, creator string) error {
	return outcome("delete link", s.tx(ctx, func(w *writer) error {
		if _, err := w.lockRoom(room); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		_, err := w.exec(`delete from invite_links where room_id = $1 and id = $2 and $3 in ('', creator)`, room, id, creator)
		return err
	}))
}

// unanswered selects, of the join_requests r, those of users that ask to enter now: users that are banned, or have become members since, do not.
const unanswered = `not exists (select from members m where m.room_id = r.room_id and m.user_id = r.user_id
	and (m.state = 'in' or m.banned or m.joined_at >= r.at))`

// JoinRequests implements chat.Store.
func (s *Store) JoinRequests(ctx context.Context, room string, limit int) (asking []chat.JoinRequest, err error) {
	err = s.withReader(ctx, func(r reader) error {
		asking, err = rows(r, func(rs pgx.Rows) (j chat.JoinRequest, err error) {
			var at int64
			err = rs.Scan(&j.User.ID, &j.User.Name, &j.User.Avatar, &at)
			j.At = fromMillis(at)
			return j, err
		}, `select r.user_id, coalesce(u.name, ''), coalesce(u.avatar, ''), r.at from join_requests r left join users u on u.id = r.user_id
			where r.room_id = $1 and `+unanswered+` order by r.at, r.user_id limit $2`, room, limit)
		return err
	})
	return asking, outcome("read join requests", err)
}

// queueUseInviteLink makes the batch write what the ruling decides about the link and the request to enter of the change's user. The room
// must be locked.
func queueUseInviteLink(b *pgx.Batch, c chat.Change, r chat.Ruling) {
	if r.UsesLink {
		b.Queue(`update invite_links set uses = uses + 1 where room_id = $1 and id = $2`, c.Room, c.Link)
	}
	if r.Asks {
		b.Queue(`insert into join_requests (room_id, user_id, at) values ($1, $2, $3)
			on conflict (room_id, user_id) do update set at = excluded.at`, c.Room, c.Users[0], c.At.UnixMilli())
	}
	if r.Answered {
		b.Queue(`delete from join_requests where room_id = $1 and user_id = $2`, c.Room, c.Users[0])
	}
}

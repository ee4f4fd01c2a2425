package tables

import (
	"context"
	"errors"
	"time"

	"hongbao/chat"
)

// CreateLink implements chat.Store. It locks the creator's membership and the room, so that neither the creator's standing nor the number
// of links changes meanwhile.
func (t Tables) CreateLink(ctx context.Context, l chat.NewLink) (chat.NewLink, error) {
	return write(ctx, t.db, "create link", func(w Tx, _ chat.NewLink) (chat.NewLink, error) { return createLink(w, l) })
}

func createLink(w Tx, l chat.NewLink) (chat.NewLink, error) {
	st, err := lockStanding(w, l.Room, l.Creator.ID)
	if err != nil {
		return chat.NewLink{}, err
	}
	room, err := LockRoom(w, l.Room)
	if err != nil {
		return chat.NewLink{}, err
	}
	if first, found, err := repeatedLink(w, l); err != nil || found {
		return first, err
	}
	if _, err := w.Exec(`delete from invite_links where room_id = $1 and (expires_at <= $2 or max_uses > 0 and uses >= max_uses)`,
		l.Room, l.CreatedAt.UnixMilli()); err != nil {
		return chat.NewLink{}, err
	}
	var others int
	if _, err := w.Row(`select count(*) from invite_links where room_id = $1 and id <> $2`, []any{l.Room, l.ID}, &others); err != nil {
		return chat.NewLink{}, err
	}
	if err := l.Refusal(room, st, others); err != nil {
		return chat.NewLink{}, err
	}
	_, err = w.Exec(`insert into invite_links (room_id, id, creator, created_at, expires_at, max_uses, approval, request, sealed_code)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
		l.Room, l.ID, l.Creator.ID, l.CreatedAt.UnixMilli(), l.ExpiresAt.UnixMilli(), l.MaxUses, l.Approval, l.Request, l.SealedCode)
	return l, err
}

// repeatedLink returns the link that an earlier request with the same key has created, if the room still has it. It
// returns chat.ErrKeyReused if that request was for another kind of link. The room must be locked.
func repeatedLink(w Tx, l chat.NewLink) (first chat.NewLink, found bool, err error) {
	if l.Request == nil {
		return chat.NewLink{}, false, nil
	}
	found, err = w.Row(`select `+inviteLinkColumns+`, l.sealed_code from invite_links l where l.room_id = $1 and l.request = $2`,
		[]any{l.Room, l.Request}, append(inviteLinkInto(&first.Link), &first.SealedCode)...)
	if err != nil || !found {
		return chat.NewLink{}, false, err
	}
	first.Creator, first.Request = l.Creator, l.Request
	return first, true, l.Repeats(first.Link)
}

const inviteLinkColumns = `l.room_id, l.id, l.creator, l.created_at, l.expires_at, l.max_uses, l.uses, l.approval`

// linkQuery selects the link $2 of the room $1, with the standing of its creator.
const linkQuery = `select ` + inviteLinkColumns + `, ` + StandingColumns + `
	from invite_links l join members m on m.room_id = l.room_id and m.user_id = l.creator where l.room_id = $1 and l.id = $2`

func inviteLinkInto(l *chat.Link) []any {
	return []any{&l.Room, &l.ID, &l.Creator.ID, Time(&l.CreatedAt), Time(&l.ExpiresAt), &l.MaxUses, &l.Uses, &l.Approval}
}

// scanLink scans a row of linkQuery. Name and avatar of the creator stay empty.
func scanLink(row Row) (l chat.LinkState, err error) {
	var st StoredStanding
	err = row.Scan(append(inviteLinkInto(&l.Link), st.Into()...)...)
	l.By = st.Standing()
	return l, err
}

var scanInviteLink = into(func(l *chat.Link) []any { return append(inviteLinkInto(l), &l.Creator.Name, &l.Creator.Avatar) })

// Link implements chat.Store.
func (t Tables) Link(ctx context.Context, room, id string) (chat.LinkState, error) {
	return read(ctx, t.db, "read link", func(q Querier) (chat.LinkState, error) {
		l, err := one(q, scanLink, linkQuery, room, id)
		if err != nil {
			return l, err
		}
		_, err = q.Row(`select name, avatar from users where id = $1`, []any{l.Creator.ID}, &l.Creator.Name, &l.Creator.Avatar)
		return l, err
	})
}

// Links implements chat.Store.
func (t Tables) Links(ctx context.Context, room, creator string, now time.Time) ([]chat.Link, error) {
	return list(ctx, t.db, "read links", scanInviteLink, `select `+inviteLinkColumns+`, coalesce(u.name, ''), coalesce(u.avatar, '')
			from invite_links l left join users u on u.id = l.creator
			where l.room_id = $1 and l.expires_at > $2 and $3 in ('', l.creator) order by l.created_at desc, l.id`, room, now.UnixMilli(), creator)
}

// DeleteLink implements chat.Store. It locks the room, so that no user enters by the link after it returns.
func (t Tables) DeleteLink(ctx context.Context, room, id, creator string) error {
	return Outcome("delete link", t.db.Write(ctx, func(w Tx) error {
		if _, err := LockRoom(w, room); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		_, err := w.Exec(`delete from invite_links where room_id = $1 and id = $2 and $3 in ('', creator)`, room, id, creator)
		return err
	}))
}

// unanswered is a condition on join_requests r: the user still asks to enter. It is false if the user is a member, or has
// become a member since the request, even if the user has left again. It is also false if the user is marked as banned, even if
// the ban has ended. When such a user asks to enter, chat.Change.Rule removes the mark.
const unanswered = `not exists (select 1 from members m where m.room_id = r.room_id and m.user_id = r.user_id
	and (m.state = 'in' or m.banned or m.joined_at >= r.at))`

// JoinRequests implements chat.Store.
func (t Tables) JoinRequests(ctx context.Context, room string, limit int) ([]chat.JoinRequest, error) {
	return list(ctx, t.db, "read join requests", func(row Row) (j chat.JoinRequest, err error) {
		var at int64
		err = row.Scan(&j.User.ID, &j.User.Name, &j.User.Avatar, &at)
		j.At = Millis(at)
		return j, err
	}, `select r.user_id, coalesce(u.name, ''), coalesce(u.avatar, ''), r.at from join_requests r left join users u on u.id = r.user_id
			where r.room_id = $1 and `+unanswered+` order by r.at, r.user_id limit $2`, room, limit)
}

// useLink returns the statements, each with its arguments, that write what the ruling decides about the link and the request to enter of the
// change's user. The room must be locked.
func useLink(c chat.Change, r chat.Ruling) (all []Statement) {
	if r.UsesLink {
		all = append(all, Statement{Text: `update invite_links set uses = uses + 1 where room_id = $1 and id = $2`, Args: []any{c.Room, c.Link}})
	}
	if r.Asks {
		all = append(all, Statement{Text: `insert into join_requests (room_id, user_id, at) values ($1, $2, $3)
			on conflict (room_id, user_id) do update set at = excluded.at`, Args: []any{c.Room, c.Users[0], c.At.UnixMilli()}})
	}
	if r.Answered {
		all = append(all, Statement{Text: `delete from join_requests where room_id = $1 and user_id = $2`, Args: []any{c.Room, c.Users[0]}})
	}
	return all
}

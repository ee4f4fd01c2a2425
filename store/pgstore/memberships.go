package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// membershipQuery computes the number of unread entries without counting them. All of a user's own content is at or
// before the user's read_seq, so content after it is from other users.
const membershipQuery = `select ` + roomColumns + `, m.role, m.muted_until, m.joined_seq, m.read_seq, r.content_no - coalesce(e.content_no, 0),
	m.silent, m.pinned, m.archived_no >= r.content_no or m.silent and m.archived_no >= 0
	from members m
	join rooms r on r.id = m.room_id
	left join entries e on e.room_id = m.room_id and e.seq = m.read_seq
	where m.user_id = $1 and m.state = 'in'`

// Memberships implements chat.Store.
func (s *Store) Memberships(ctx context.Context, user string) (ms []chat.Membership, err error) {
	err = s.withReader(ctx, func(r reader) error {
		ms, err = rows(r, scanMembership, membershipQuery+` order by r.id`, user)
		return err
	})
	return ms, outcome("read memberships", err)
}

// Membership implements chat.Store.
func (s *Store) Membership(ctx context.Context, room, user string) (m chat.Membership, err error) {
	err = s.withReader(ctx, func(r reader) error {
		m, err = readMembership(r, room, user)
		return err
	})
	return m, outcome("read membership", err)
}

// readMembership reads a room with the user's membership. It returns chat.ErrNotMember if the user is not a member.
func readMembership(q querier, room, user string) (chat.Membership, error) {
	ms, err := rows(q, scanMembership, membershipQuery+` and m.room_id = $2`, user, room)
	if err != nil {
		return chat.Membership{}, err
	}
	if len(ms) == 0 {
		return chat.Membership{}, chat.ErrNotMember
	}
	return ms[0], nil
}

// readRoomFor reads a room that the user has created. If the user has left the room, the returned membership has no
// role.
func readRoomFor(q querier, room, user string) (chat.Membership, error) {
	m, err := readMembership(q, room, user)
	if errors.Is(err, chat.ErrNotMember) {
		m.Room, err = readRoom(q, room)
	}
	return m, err
}

func scanMembership(rs pgx.Rows) (m chat.Membership, err error) {
	var muted int64
	err = rs.Scan(append(roomInto(&m.Room), &m.Role, &muted, &m.JoinedSeq, &m.ReadSeq, &m.Unread, &m.Prefs.Silent, &m.Prefs.Pinned, &m.Prefs.Archived)...)
	if muted > 0 {
		m.MutedUntil = fromMillis(muted)
	}
	return m, err
}

package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"hongbao/chat"
	"hongbao/store/cursor"
	"hongbao/store/eventlog"
)

// These are the states of a member row that the code tests. in: the user is a member; left: the user has left; gone:
// the room was deleted.
const (
	stateIn   = "in"
	stateLeft = "left"
	stateGone = "gone"
)

// entering is a user that is about to enter a room. Everything has been checked except the user's limit of rooms.
type entering struct {
	room, user string
	role       chat.Role
	at         time.Time
	chosen     bool // by the user
	maxRooms   int  // limit of countedRooms
}

// countedRooms selects, from the memberships of a user, the number to compare with the limit of rooms before the user enters
// one more. ?4 is the limit. If ?3 is set, the user chooses the new room, and only chosen rooms count.
//
// Otherwise others put the user into the room, and the rooms that the user has not chosen count. Writing into a room makes it
// chosen, so others could then add rooms without end. To prevent that, the number is at least that of all rooms less the limit.
const countedRooms = `iif(?3, count(*) filter (where chosen), max(count(*) filter (where not chosen), count(*) - ?4))`

// enter adds the user to the room. Earlier entries count as read. A mute from an earlier membership stays, but not
// for a new owner, because no member could end it.
func (w *writer) enter(e entering) error {
	var rooms int
	if _, err := w.row(`select `+countedRooms+` from members where user_id = ?1 and state = 'in' and room_id <> ?2`,
		[]any{e.user, e.room, e.chosen, e.maxRooms}, &rooms); err != nil {
		return err
	}
	if rooms >= e.maxRooms {
		return chat.ErrLimitExceeded
	}
	if _, err := w.exec(`insert into members (room_id, user_id, state, role, read_seq, joined_at, joined_seq, chosen)
		select id, ?, 'in', ?, last_seq, ?, last_seq, ? from rooms where id = ?
		on conflict (room_id, user_id) do update set
			state = 'in', banned = 0, banned_until = 0, ban_reason = '', role = excluded.role, read_seq = excluded.read_seq, joined_at = excluded.joined_at,
			joined_seq = excluded.joined_seq, chosen = excluded.chosen, muted_until = case excluded.role when 'owner' then 0 else members.muted_until end`,
		e.user, e.role, e.at.UnixMilli(), e.chosen, e.room); err != nil {
		return err
	}
	w.refs.Members(eventlog.MemberJoined, e.room, e.user)
	_, err := w.exec(`update rooms set members = members + 1 where id = ?`, e.room)
	return err
}

// roles are ordered as members are listed.
var roles = []chat.Role{chat.Owner, chat.Admin, chat.Plain}

// Members implements chat.Store. It makes one query for each role. So the index returns the members in order, however
// many there are.
func (s *Store) Members(ctx context.Context, room, next string, limit int) (members []chat.Member, more string, err error) {
	from := listed{role: chat.Owner}
	if next != "" {
		if err := cursor.Parse("members", next, &from.role, &from.joined, &from.User.ID); err != nil {
			return nil, "", err
		}
	}
	var list []listed
	err = s.view(ctx, func(r reader) error {
		list, err = readMembers(r, room, from, limit+1)
		return err
	})
	if err != nil {
		return nil, "", outcome("list members", err)
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		more = cursor.Make("members", last.role, last.joined, last.User.ID)
	}
	for _, l := range list {
		l.Role = l.role
		members = append(members, l.Member)
	}
	return members, more, nil
}

// listed is a member with the sort key of the list: role, then time of joining.
type listed struct {
	chat.Member
	role   chat.Role
	joined int64
}

// readMembers reads up to limit members after the given one.
func readMembers(q querier, room string, from listed, limit int) (list []listed, err error) {
	reached := false
	for _, role := range roles {
		switch {
		case role == from.role:
			reached = true
		case !reached:
			continue
		default:
			from = listed{role: role}
		}
		some, err := rows(q, scanListed, `select u.id, u.name, u.avatar, m.role, m.muted_until, m.joined_at, coalesce(e.seq, 0)
			from members m join users u on u.id = m.user_id join rooms r on r.id = m.room_id
			left join entries e on e.room_id = m.room_id and e.seq = m.read_seq and e.at > m.joined_at and r.members <= ?
			where m.room_id = ? and m.state = 'in' and m.role = ? and (m.joined_at, m.user_id) > (?, ?)
			order by m.joined_at, m.user_id limit ?`, chat.SmallRoom, room, role, from.joined, from.User.ID, limit-len(list))
		if err != nil {
			return nil, err
		}
		if list = append(list, some...); len(list) == limit {
			break
		}
	}
	return list, nil
}

func scanListed(rs *sql.Rows) (l listed, err error) {
	var muted int64
	err = rs.Scan(&l.User.ID, &l.User.Name, &l.User.Avatar, &l.role, &muted, &l.joined, &l.ReadSeq)
	if muted > 0 {
		l.MutedUntil = fromMillis(muted)
	}
	return l, err
}

package tables

import (
	"context"
	"errors"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/store/cursor"
)

// membershipQuery reads those memberships of the user $1 whose rows of members m meet the condition, also in deleted rooms. It computes the
// number of unread texts and packets from two counters (content_no), without reading the entries between. All texts and packets of the
// user are at or before the user's read_seq, so those after it are from other users.
func membershipQuery(condition string) string {
	rows := `m.user_id = $1 and m.state = 'in'` + condition
	return FirstOnCitus(Of("mine", "members m", rows), Of("e", "entries", `(room_id, seq) in (select room_id, read_seq from mine)`)) + `select ` + roomColumns + `,
			m.role, m.muted_until, m.joined_seq, m.read_seq, r.content_no - coalesce(e.content_no, 0),
			m.silent, m.silent_until, m.pinned, m.archived_no >= r.content_no or ` + isSilentForGood + ` and m.archived_no >= 0,
			coalesce((select self_received is not null from users where id = $1), false)
		from members m
		join rooms r on r.id = m.room_id
		left join /*one*/ entries /*end*/ e on e.room_id = m.room_id and e.seq = m.read_seq
		where ` + rows
}

// These are the uses of membershipQuery: all rooms, the room $2, and a page of at most $2 rooms, the newest of all or those before $3. A page
// is found in an index, because a user may be in very many rooms.
var (
	allMemberships = membershipQuery(``) + ` and r.deleted_at = 0 order by r.id`
	oneMembership  = membershipQuery(` and m.room_id = $2`) + ` and r.deleted_at = 0`
	firstPage      = membershipsBefore(``)
	laterPage      = membershipsBefore(` and room_id < $3`)
)

func membershipsBefore(condition string) string {
	return membershipQuery(` and m.room_id in (
		select room_id from members where user_id = $1 and state = 'in'`+condition+` order by room_id desc limit $2)`) + ` order by r.id desc`
}

// Memberships implements chat.Store.
func (t Tables) Memberships(ctx context.Context, user string) ([]chat.Membership, error) {
	return list(ctx, t.db, "read memberships", scanMembership, allMemberships, user)
}

// MembershipsPage implements chat.Store. It drops deleted rooms, whose rows of members may not be gone yet, after it has found where the
// next page begins.
func (t Tables) MembershipsPage(ctx context.Context, user, next string, limit int) (page []chat.Membership, more string, err error) {
	query, args := firstPage, []any{user, limit + 1}
	if next != "" {
		query, args = laterPage, append(args, next)
	}
	page, err = list(ctx, t.db, "read memberships", scanMembership, query, args...)
	if err != nil {
		return nil, "", err
	}
	page, more = pageOf(page, limit, func(last chat.Membership) string { return last.Room.ID })
	return slices.DeleteFunc(page, func(m chat.Membership) bool { return m.Room.Deleted }), more, nil
}

// Membership implements chat.Store.
func (t Tables) Membership(ctx context.Context, room, user string) (chat.Membership, error) {
	return read(ctx, t.db, "read membership", func(q Querier) (chat.Membership, error) { return readMembership(q, room, user) })
}

// readMembership reads a room with the user's membership. It returns chat.ErrNotMember if the user is not a member.
func readMembership(q Querier, room, user string) (chat.Membership, error) {
	m, err := one(q, scanMembership, oneMembership, user, room)
	if errors.Is(err, chat.ErrNotFound) {
		err = chat.ErrNotMember
	}
	return m, err
}

// readRoomFor reads a room for the owner of a NewRoom: the room that was created, or an earlier one with the same key
// or ref. If the user is not a member of it, only the field Room of the result is set.
func readRoomFor(q Querier, room, user string) (chat.Membership, error) {
	m, err := readMembership(q, room, user)
	if errors.Is(err, chat.ErrNotMember) {
		m.Room, err = ReadRoom(q, room)
	}
	return m, err
}

var scanMembership = into(func(m *chat.Membership) []any {
	return append(roomInto(&m.Room), &m.Role, timeOrZero(&m.MutedUntil), &m.JoinedSeq, &m.ReadSeq, &m.Unread, &m.Prefs.Silent, timeOrZero(&m.Prefs.SilentUntil), &m.Prefs.Pinned, &m.Prefs.Archived, &m.SelfLimited)
})

// These are the states of a row of members. in: the user is a member; left: the user has left; kicked: the user was
// removed, or was banned without ever being a member; gone: the room was deleted. A deleted room has no members, whatever its rows say: they
// become gone in steps (DeletedRooms). Until then they only count for the limit of a user's rooms and for whom a user knows.
const (
	StateIn     = "in"
	stateLeft   = "left"
	stateKicked = "kicked"
	stateGone   = "gone"
)

// isSilentForGood is a condition: the member m has made the room silent without an end. Only then the room stays archived.
const isSilentForGood = `m.silent and m.silent_until = 0`

// isThere is a condition: the room $1 is not deleted.
const isThere = `exists (select 1 from rooms r where r.id = $1 and r.deleted_at = 0)`

// roles are in the order of the member list.
var roles = []chat.Role{chat.Owner, chat.Admin, chat.Plain}

// Members implements chat.Store. It makes at most one query for each role. So the index returns the members in order,
// however many there are.
func (t Tables) Members(ctx context.Context, room, next string, limit int) (members []chat.Member, more string, err error) {
	from := listedMember{role: chat.Owner}
	if next != "" {
		if err := cursor.Parse("members", next, &from.role, &from.joined, &from.User.ID); err != nil {
			return nil, "", err
		}
	}
	var list []listedMember
	err = t.db.Snapshot(ctx, func(q Querier) error {
		list, err = readMembers(q, room, from, limit+1)
		return err
	})
	if err != nil {
		return nil, "", Outcome("list members", err)
	}
	list, more = pageOf(list, limit, func(last listedMember) string { return cursor.Make("members", last.role, last.joined, last.User.ID) })
	for _, l := range list {
		l.Role = l.role
		members = append(members, l.Member)
	}
	return members, more, nil
}

// listedMember is a member with its sort key: role, then time of joining, then user id.
type listedMember struct {
	chat.Member
	role   chat.Role
	joined int64
}

// Roster implements chat.Store.
func (t Tables) Roster(ctx context.Context, room string, limit int) ([]string, error) {
	return list(ctx, t.db, "list roster", ScanText, `select user_id from members where room_id = $1 and state = 'in' and `+isThere+` limit $2`, room, limit)
}

// ActiveSince implements chat.Store.
func (t Tables) ActiveSince(ctx context.Context, room string, since time.Time, limit int) ([]string, error) {
	return list(ctx, t.db, "list active members", ScanText, FirstOnCitus(Of("mine", "members", `room_id = $1 and state = 'in'`),
		Of("e", "entries", `room_id = $1 and bucket = bucket_of($1) and seq in (select read_seq from mine)`))+`select m.user_id from members m where m.room_id = $1 and m.state = 'in' and `+isThere+` and (m.joined_at >= $2
		or exists (select 1 from /*one*/ entries /*end*/ e where e.room_id = m.room_id and e.seq = m.read_seq and e.at >= $2)) order by m.read_seq desc, m.user_id limit $3`, room, since.UnixMilli(), limit)
}

// readMembers reads up to limit members after the given position. It reads a read position only in a room of at most
// chat.SmallRoom members, and only if the user has read an entry that is newer than the membership. Otherwise ReadSeq
// is 0.
func readMembers(q Querier, room string, from listedMember, limit int) (list []listedMember, err error) {
	reached := false
	for _, role := range roles {
		switch {
		case role == from.role:
			reached = true
		case !reached:
			continue
		default:
			from = listedMember{role: role}
		}
		some, err := List(q, scanListedMember, FirstOnCitus(
			Of("page", "members", `room_id = $1 and state = 'in' and role = $2 and (joined_at, user_id) > ($3, $4) order by joined_at, user_id limit $5`),
			Of("e", "entries", `room_id = $1 and bucket = bucket_of($1) and seq in (select read_seq from page)`))+`select u.id, u.name, u.avatar, m.role, m.muted_until, m.joined_at, coalesce(e.seq, 0)
			from members m join users u on u.id = m.user_id join rooms r on r.id = m.room_id
			left join /*one*/ entries /*end*/ e on e.room_id = m.room_id and e.seq = m.read_seq and e.at > m.joined_at and r.members <= $6
			where m.room_id = $1 and r.deleted_at = 0 and m.state = 'in' and m.role = $2 and (m.joined_at, m.user_id) > ($3, $4)
			order by m.joined_at, m.user_id limit $5`, room, role, from.joined, from.User.ID, limit-len(list), chat.SmallRoom)
		if err != nil {
			return nil, err
		}
		if list = append(list, some...); len(list) == limit {
			break
		}
	}
	return list, nil
}

var scanListedMember = into(func(l *listedMember) []any {
	return []any{&l.User.ID, &l.User.Name, &l.User.Avatar, &l.role, timeOrZero(&l.MutedUntil), &l.joined, &l.ReadSeq}
})

// Bans implements chat.Store.
func (t Tables) Bans(ctx context.Context, room, next string, limit int, now time.Time) (bans []chat.Banned, more string, err error) {
	from := ""
	if next != "" {
		if err := cursor.Parse("bans", next, &from); err != nil {
			return nil, "", err
		}
	}
	const query = `select m.user_id, coalesce(u.name, ''), coalesce(u.avatar, ''), m.banned_until, m.ban_reason
		from members m left join users u on u.id = m.user_id
		where m.room_id = $1 and m.user_id > $2 and m.banned and (m.banned_until = 0 or m.banned_until > $3) order by m.user_id limit $4`
	bans, err = list(ctx, t.db, "list bans", scanBanned, query, room, from, now.UnixMilli(), limit+1)
	if err != nil {
		return nil, "", err
	}
	bans, more = pageOf(bans, limit, func(last chat.Banned) string { return cursor.Make("bans", last.User.ID) })
	return bans, more, nil
}

var scanBanned = into(func(b *chat.Banned) []any {
	return []any{&b.User.ID, &b.User.Name, &b.User.Avatar, timeOrZero(&b.Until), &b.Reason}
})

// SetPrefs implements chat.Store.
func (t Tables) SetPrefs(ctx context.Context, c chat.PrefsChange) (chat.Prefs, error) {
	return write(ctx, t.db, "set room preferences", func(w Tx, _ chat.Prefs) (chat.Prefs, error) { return setPrefs(w, c) })
}

func setPrefs(w Tx, c chat.PrefsChange) (chat.Prefs, error) {
	st, err := ReadStanding(w, c.Room, c.User)
	if err != nil {
		return chat.Prefs{}, err
	}
	if err := st.At(c.At).MayRead(); err != nil {
		return chat.Prefs{}, err
	}
	if _, err := w.Exec(`update members as m set silent = coalesce($1, m.silent), silent_until = case when $1 is null then m.silent_until else $6 end, pinned = coalesce($2, m.pinned),
		archived_no = case when $3 then r.content_no when not $3 or m.archived_no < r.content_no and not (`+isSilentForGood+`) then -1 else m.archived_no end
		from rooms r where r.id = m.room_id and m.room_id = $4 and m.user_id = $5`, c.Silent, c.Pinned, c.Archived, c.Room, c.User, millisOr(c.SilentUntil(), 0)); err != nil {
		return chat.Prefs{}, err
	}
	m, err := readMembership(w, c.Room, c.User)
	return m.Prefs, err
}

// Read implements chat.Store.
func (t Tables) Read(ctx context.Context, room, user string, seq int64, now time.Time) (chat.Reading, error) {
	return write(ctx, t.db, "mark read", func(w Tx, before chat.Reading) (chat.Reading, error) {
		r, err := markRead(w, room, user, seq, now)
		r.Moved = r.Moved || before.Moved && w.Again() // to report a move twice is harmless
		return r, err
	})
}

func markRead(w Tx, room, user string, seq int64, now time.Time) (chat.Reading, error) {
	st, err := ReadStanding(w, room, user)
	if err != nil {
		return chat.Reading{}, err
	}
	if err := st.At(now).MayRead(); err != nil {
		return chat.Reading{}, err
	}
	moved, err := w.Exec(`update members as m set read_seq = case when $1 < r.last_seq then $1 else r.last_seq end from rooms r
		where r.id = m.room_id and m.room_id = $2 and m.user_id = $3 and m.read_seq < $1 and m.read_seq < r.last_seq`, seq, room, user)
	if err != nil {
		return chat.Reading{}, err
	}
	m, err := readMembership(w, room, user)
	return chat.Reading{Seq: m.ReadSeq, Unread: m.Unread, Moved: moved > 0, Members: m.Room.Members}, err
}

// StandingColumns are what StoredStanding scans of the table members, which the query must call m.
const StandingColumns = `case when (select d.deleted_at from rooms d where d.id = m.room_id) > 0 then 'gone' else m.state end,
	m.banned, m.role, m.muted_until, m.joined_seq, m.banned_until, coalesce((select u.self_received is not null from users u where u.id = m.user_id), false)`

// ReadStanding reads the user's standing in the room. A user that was never a member and never banned has no row. Of such a
// standing only Visible can be set: if the room is public and not deleted.
func ReadStanding(q Querier, room, user string) (chat.Standing, error) {
	return standing(q, room, user, "")
}

// lockStanding reads the user's standing in the room and locks it until the end of the transaction. A user that was never a
// member and never banned has no row, so then lockStanding locks nothing.
func lockStanding(w Tx, room, user string) (chat.Standing, error) {
	return standing(w, room, user, w.Lock())
}

func standing(q Querier, room, user, lock string) (chat.Standing, error) {
	st, err := one(q, ScanStanding, `select `+StandingColumns+` from members m where m.room_id = $1 and m.user_id = $2`+lock, room, user)
	if !errors.Is(err, chat.ErrNotFound) {
		return st, err
	}
	st.Visible, err = q.Row(`select 1 from rooms where id = $1 and kind = 'public' and deleted_at = 0`, []any{room}, new(int))
	return st, err
}

// ScanStanding scans StandingColumns.
func ScanStanding(row Row) (st chat.Standing, err error) {
	var s StoredStanding
	err = row.Scan(s.Into()...)
	return s.Standing(), err
}

// StoredStanding scans the columns of a member's row that make up the standing.
type StoredStanding struct {
	state  string
	banned bool
	role   chat.Role
	muted  int64
	joined int64 // a seq
	until  int64 // of the ban
	self   bool  // see chat.Standing.SelfLimited
}

// Into returns the destinations of StandingColumns.
func (s *StoredStanding) Into() []any {
	return []any{&s.state, &s.banned, &s.role, &s.muted, &s.joined, &s.until, &s.self}
}

// Standing converts the row. A ban that has ended stays set: see chat.Standing.At.
func (s *StoredStanding) Standing() chat.Standing {
	st := chat.Standing{Ever: true, In: s.state == StateIn, Left: s.state == stateLeft, RoomDeleted: s.state == stateGone, Banned: s.banned, SelfLimited: s.self}
	if st.In {
		st.Role, st.JoinedSeq = s.role, s.joined
	}
	if s.banned && s.until > 0 {
		st.BannedUntil = Millis(s.until)
	}
	if s.muted > 0 {
		st.MutedUntil = Millis(s.muted)
	}
	return st
}

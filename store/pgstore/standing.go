package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

const standingColumns = `state, banned, role, muted_until, joined_seq, banned_until`

// standingJob is one call of Standing. Its committer fills in the result.
type standingJob struct {
	room, user string
	standing   chat.Standing
}

// Standing implements chat.Store. Concurrent calls share a query: when many users without a cached standing grab at
// once, a query for each would cost more than the rest of their grabs.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // covers the wait in the queue, too: earlier batches may take as long
	defer cancel()
	a := &standingJob{room: room, user: user}
	if err := s.standings.doRead(ctx, a); err != nil {
		return chat.Standing{}, outcome("read standing", err)
	}
	return a.standing, nil
}

const standingsOf = `
select m.state is not null, coalesce(m.state, ''), coalesce(m.banned, false), coalesce(m.role, ''), coalesce(m.muted_until, 0),
	coalesce(m.joined_seq, 0), coalesce(m.banned_until, 0), m.state is null and exists (select from rooms where id = i.room_id and kind = 'public' and deleted_at = 0)
from unnest($1::text[], $2::text[]) with ordinality i (room_id, user_id, n)
left join members m on m.room_id = i.room_id and m.user_id = i.user_id order by n`

// standAll answers all jobs with one query. It locks nothing, so it never returns a locked key.
func (s *Store) standAll(ctx context.Context, all []*standingJob, _ bool) (locked []string, err error) {
	rooms, users := make([]string, len(all)), make([]string, len(all))
	for i, a := range all {
		rooms[i], users[i] = a.room, a.user
	}
	return nil, s.withReader(ctx, func(r reader) error {
		if _, err := r.prepareAll(standingsOf); err != nil {
			return err
		}
		standings, err := rows(r, scanStandingOf, standingsOf, rooms, users)
		for i, st := range standings {
			all[i].standing = st
		}
		return err
	})
}

func scanStandingOf(rs pgx.Rows) (chat.Standing, error) {
	var (
		ever, visible bool
		s             storedStanding
	)
	err := rs.Scan(append(append([]any{&ever}, s.into()...), &visible)...)
	if !ever {
		return chat.Standing{Visible: visible}, err
	}
	return s.standing(), err
}

// readStanding reads the user's standing in the room.
func readStanding(q querier, room, user string) (chat.Standing, error) {
	return standing(q, room, user, "")
}

// lockStanding reads the user's standing in the room and locks it until the end of the transaction.
func (w *writer) lockStanding(room, user string) (chat.Standing, error) {
	return standing(w, room, user, " for update")
}

func standing(q querier, room, user, lock string) (chat.Standing, error) {
	all, err := rows(q, scanStanding, `select `+standingColumns+` from members where room_id = $1 and user_id = $2`+lock, room, user)
	switch {
	case err != nil:
		return chat.Standing{}, err
	case len(all) == 1:
		return all[0], nil
	}
	var st chat.Standing
	st.Visible, err = q.row(`select 1 from rooms where id = $1 and kind = 'public' and deleted_at = 0`, []any{room}, new(int))
	return st, err
}

// scanStanding scans standingColumns.
func scanStanding(rs pgx.Rows) (st chat.Standing, err error) {
	var s storedStanding
	err = rs.Scan(s.into()...)
	return s.standing(), err
}

// storedStanding scans the columns of a member's row that make up the standing.
type storedStanding struct {
	state  string
	banned bool
	role   chat.Role
	muted  int64
	joined int64 // a seq
	until  int64 // of the ban
}

func (s *storedStanding) into() []any {
	return []any{&s.state, &s.banned, &s.role, &s.muted, &s.joined, &s.until}
}

// standing converts the row. A user in state gone keeps ban and mute: while a room's deletion is not complete, the
// user may join again.
func (s *storedStanding) standing() chat.Standing {
	st := chat.Standing{Ever: true, In: s.state == stateIn, Left: s.state == stateLeft, RoomDeleted: s.state == stateGone, Banned: s.banned}
	if st.In {
		st.Role, st.JoinedSeq = s.role, s.joined
	}
	if s.banned && s.until > 0 {
		st.BannedUntil = fromMillis(s.until)
	}
	if s.muted > 0 {
		st.MutedUntil = fromMillis(s.muted)
	}
	return st
}

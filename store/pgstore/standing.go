package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

const standingColumns = `state, banned, role, muted_until`

// asking is one question of how a user stands to a room, and its answer.
type asking struct {
	room, user string
	standing   chat.Standing
}

// Standing implements chat.Store. Those who ask at the same time share a query: when a crowd that nobody remembers yet
// grabs at once, a query each would cost more than all else about the grab.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // those before may have taken as long
	defer cancel()
	a := &asking{room: room, user: user}
	if err := s.standings.ask(ctx, a); err != nil {
		return chat.Standing{}, outcome("read standing", err)
	}
	return a.standing, nil
}

const standingsOf = `
select m.state is not null, coalesce(m.state, ''), coalesce(m.banned, false), coalesce(m.role, ''), coalesce(m.muted_until, 0),
	m.state is null and exists (select from rooms where id = i.room_id and kind = 'public' and deleted_at = 0)
from unnest($1::text[], $2::text[]) with ordinality i (room_id, user_id, n)
left join members m on m.room_id = i.room_id and m.user_id = i.user_id order by n`

// standAll answers them all.
func (s *Store) standAll(ctx context.Context, all []*asking) error {
	rooms, users := make([]string, len(all)), make([]string, len(all))
	for i, a := range all {
		rooms[i], users[i] = a.room, a.user
	}
	return s.look(ctx, func(r reader) error {
		if err := r.plan(standingsOf); err != nil {
			return err
		}
		standings, err := rows(r, scanAsked, standingsOf, rooms, users)
		for i, st := range standings {
			all[i].standing = st
		}
		return err
	})
}

func scanAsked(rs pgx.Rows) (chat.Standing, error) {
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

// readStanding reads how the user stands to the room.
func readStanding(q querier, room, user string) (chat.Standing, error) {
	return standing(q, room, user, "")
}

// lockStanding reads how the user stands to the room, and holds it so to the end of the transaction.
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

// storedStanding is a member's row as far as it says how he stands.
type storedStanding struct {
	state  string
	banned bool
	role   chat.Role
	muted  int64
}

func (s *storedStanding) into() []any { return []any{&s.state, &s.banned, &s.role, &s.muted} }

// standing of one who is gone keeps his ban and his mute: until the room is deleted indeed, he may come back.
func (s *storedStanding) standing() chat.Standing {
	st := chat.Standing{Ever: true, In: s.state == stateIn, Gone: s.state == stateGone, Banned: s.banned}
	if st.In {
		st.Role = s.role
	}
	if s.muted > 0 {
		st.MutedUntil = fromMillis(s.muted)
	}
	return st
}

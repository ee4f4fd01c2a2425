package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

const standingColumns = `state, banned, role, muted_until`

// Standing implements chat.Store.
func (s *Store) Standing(ctx context.Context, room, user string) (st chat.Standing, err error) {
	err = s.look(ctx, func(r reader) error {
		st, err = readStanding(r, room, user)
		return err
	})
	return st, outcome("read standing", err)
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

package sqlitestore

import (
	"context"

	"hongbao/chat"
)

const standingQuery = `select state, banned, role, muted_until from members where room_id = ? and user_id = ?`

// standing reads how the user stands to the room, inside the writing transaction.
func (w *writer) standing(room, user string) (chat.Standing, error) {
	return readStanding(w, room, user)
}

// Standing implements chat.Store.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	st, err := readStanding(reader{ctx, s.read}, room, user)
	return st, outcome("read standing", err)
}

func readStanding(q querier, room, user string) (chat.Standing, error) {
	var (
		st    chat.Standing
		state string
		muted int64
	)
	found, err := q.row(standingQuery, []any{room, user}, &state, &st.Banned, &st.Role, &muted)
	switch {
	case err != nil:
		return chat.Standing{}, err
	case !found:
		st.Visible, err = q.row(`select 1 from rooms where id = ? and kind = 'public'`, []any{room}, new(int))
		return st, err
	}
	st.Ever, st.In = true, state == stateIn
	if !st.In {
		st.Role = chat.NoRole
	}
	if muted > 0 {
		st.MutedUntil = fromMillis(muted)
	}
	return st, nil
}

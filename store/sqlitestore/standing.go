package sqlitestore

import (
	"context"

	"hongbao/chat"
)

const standingQuery = `select state, banned, role, muted_until, joined_seq, banned_until from members where room_id = ? and user_id = ?`

// standing reads the user's standing in the room, inside the writing transaction.
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
		state  string
		banned bool
		role   chat.Role
		muted  int64
		joined int64
		until  int64
	)
	found, err := q.row(standingQuery, []any{room, user}, &state, &banned, &role, &muted, &joined, &until)
	if err != nil {
		return chat.Standing{}, err
	}
	if found {
		return standing(state, banned, until, role, muted, joined), nil
	}
	var st chat.Standing
	st.Visible, err = q.row(`select 1 from rooms where id = ? and kind = 'public' and deleted_at = 0`, []any{room}, new(int))
	return st, err
}

// standing decodes the row of a present or former member.
func standing(state string, banned bool, until int64, role chat.Role, muted, joined int64) chat.Standing {
	st := chat.Standing{Ever: true, In: state == stateIn, Left: state == stateLeft, RoomDeleted: state == stateGone, Banned: banned}
	if st.In {
		st.Role, st.JoinedSeq = role, joined
	}
	if banned && until > 0 {
		st.BannedUntil = fromMillis(until)
	}
	if muted > 0 {
		st.MutedUntil = fromMillis(muted)
	}
	return st
}

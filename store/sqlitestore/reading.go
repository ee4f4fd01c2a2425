package sqlitestore

import (
	"context"
	"time"

	"hongbao/chat"
)

// Read implements chat.Store.
func (s *Store) Read(ctx context.Context, room, user string, seq int64, now time.Time) (r chat.Reading, err error) {
	err = s.do(ctx, func(w *writer) error {
		r, err = w.markRead(room, user, seq, now)
		return err
	})
	if err != nil {
		return chat.Reading{}, outcome("mark read", err)
	}
	return r, nil
}

func (w *writer) markRead(room, user string, seq int64, now time.Time) (chat.Reading, error) {
	st, err := w.standing(room, user)
	if err != nil {
		return chat.Reading{}, err
	}
	if err := st.At(now).MayRead(); err != nil {
		return chat.Reading{}, err
	}
	moved, err := w.row(`update members set read_seq = min(?, last_seq) from rooms
		where rooms.id = room_id and room_id = ? and user_id = ? and read_seq < min(?, last_seq)
		returning read_seq`, []any{seq, room, user, seq}, new(int64))
	if err != nil {
		return chat.Reading{}, err
	}
	m, err := readMembership(w, room, user)
	return chat.Reading{Seq: m.ReadSeq, Unread: m.Unread, Moved: moved, Members: m.Room.Members}, err
}

package pgstore

import (
	"context"
	"time"

	"hongbao/chat"
)

// Read implements chat.Store.
func (s *Store) Read(ctx context.Context, room, user string, seq int64, now time.Time) (r chat.Reading, err error) {
	moved := false // whether any run has moved read_seq; to report a move twice is harmless
	err = s.tx(ctx, func(w *writer) error {
		r, err = w.markRead(room, user, seq, now)
		moved = r.Moved || moved && w.maybeCommitted
		return err
	})
	if err != nil {
		return chat.Reading{}, outcome("mark read", err)
	}
	r.Moved = moved
	return r, nil
}

func (w *writer) markRead(room, user string, seq int64, now time.Time) (chat.Reading, error) {
	st, err := readStanding(w, room, user)
	if err != nil {
		return chat.Reading{}, err
	}
	if err := st.At(now).MayRead(); err != nil {
		return chat.Reading{}, err
	}
	moved, err := w.exec(`update members m set read_seq = least($1, r.last_seq) from rooms r
		where r.id = m.room_id and m.room_id = $2 and m.user_id = $3 and m.read_seq < least($1, r.last_seq)`, seq, room, user)
	if err != nil {
		return chat.Reading{}, err
	}
	m, err := readMembership(w, room, user)
	return chat.Reading{Seq: m.ReadSeq, Unread: m.Unread, Moved: moved > 0, Members: m.Room.Members}, err
}

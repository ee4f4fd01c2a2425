package pgstore

import (
	"context"
	"errors"

	"hongbao/chat"
)

// Direct implements chat.Store.
func (s *Store) Direct(ctx context.Context, p chat.Pairing) (paired chat.Paired, err error) {
	var before chat.Paired // what the last run has done, if it was committed
	err = s.tx(ctx, func(w *writer) error {
		if paired, err = w.direct(p, before); err == nil {
			before = paired
		}
		return err
	})
	if err != nil {
		return chat.Paired{}, outcome("open direct room", err)
	}
	return paired, nil
}

// direct looks without locks first: most pairs have their room, and are in it.
func (w *writer) direct(p chat.Pairing, before chat.Paired) (paired chat.Paired, err error) {
	if room, in, err := w.pairRoom(p); err != nil || in == 2 && !w.again {
		return w.paired(p, room, chat.Paired{}, err)
	}
	if err := w.ensureUser(p.Asker.ID); err != nil {
		return chat.Paired{}, err
	}
	known, err := w.lockUsers([]string{p.Asker.ID, p.Other})
	if err != nil {
		return chat.Paired{}, err
	}
	if !known[p.Other] {
		return chat.Paired{}, &chat.FieldError{Err: chat.ErrNotFound, Field: "user", Reason: "is somebody whom nobody knows"}
	}
	room, _, err := w.pairRoom(p) // which nobody makes or comes into from here on
	switch {
	case err != nil:
		return chat.Paired{}, err
	case room == "":
		return w.makePair(p)
	case w.again && room == p.ID:
		return before, nil
	}
	return w.bringBack(p, room, before)
}

// pairRoom finds the room of the two, and how many of them are in it.
func (w *writer) pairRoom(p chat.Pairing) (room string, in int, err error) {
	_, err = w.row(`select r.id, (select count(*) from members m where m.room_id = r.id and m.state = 'in')
		from rooms r where r.pair = $1`, []any{p.Pair()}, &room, &in)
	return room, in, err
}

// paired adds the room as the asker sees it.
func (w *writer) paired(p chat.Pairing, room string, made chat.Paired, err error) (chat.Paired, error) {
	if err != nil {
		return chat.Paired{}, err
	}
	if made.Membership, err = readMembership(w, room, p.Asker.ID); errors.Is(err, chat.ErrNotMember) {
		err = errAgain // he has just left
	}
	return made, err
}

func (w *writer) makePair(p chat.Pairing) (chat.Paired, error) {
	if _, err := w.exec(`insert into rooms (id, name, kind, pair, created_at) values ($1, '', 'direct', $2, $3)`,
		p.ID, p.Pair(), p.At.UnixMilli()); err != nil {
		return chat.Paired{}, err
	}
	made := chat.Paired{Entered: []string{p.Asker.ID, p.Other}}
	for _, user := range made.Entered {
		if err := w.enterPair(p, p.ID, user); err != nil {
			return chat.Paired{}, err
		}
	}
	return w.paired(p, p.ID, made, nil)
}

func (w *writer) enterPair(p chat.Pairing, room, user string) error {
	err := w.enter(entering{room: room, user: user, role: chat.Plain, at: p.At, maxRooms: p.MaxRooms})
	if errors.Is(err, chat.ErrLimitExceeded) {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "user", Reason: user + " is in too many rooms"}
	}
	return err
}

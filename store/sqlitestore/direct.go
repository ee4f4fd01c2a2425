package sqlitestore

import (
	"context"
	"errors"

	"hongbao/chat"
)

// Direct implements chat.Store.
func (s *Store) Direct(ctx context.Context, p chat.Pairing) (done chat.Paired, err error) {
	err = s.do(ctx, func(w *writer) error {
		done, err = w.direct(p)
		return err
	})
	if err != nil {
		return chat.Paired{}, outcome("open direct room", err)
	}
	return done, nil
}

func (w *writer) direct(p chat.Pairing) (done chat.Paired, err error) {
	var room string
	known, err := w.row(`select id from rooms where pair = ?`, []any{p.Pair()}, &room)
	if err != nil {
		return chat.Paired{}, err
	}
	if !known {
		room = p.ID
		if err := w.makePair(p); err != nil {
			return chat.Paired{}, err
		}
	}
	for _, user := range []string{p.User.ID, p.Other} {
		st, err := w.standing(room, user)
		if err != nil {
			return chat.Paired{}, err
		}
		if st.In {
			continue
		}
		if err := w.enterPair(p, room, user); err != nil {
			return chat.Paired{}, err
		}
		done.Entered = append(done.Entered, user)
	}
	if known { // members of a new room are not announced
		if done.Entries, err = w.tellBack(p, room, done.Entered); err != nil {
			return chat.Paired{}, err
		}
	}
	done.Membership, err = readMembership(w, room, p.User.ID)
	return done, err
}

// makePair creates the room of a pair of users, without members.
func (w *writer) makePair(p chat.Pairing) error {
	found, err := w.row(`select 1 from users where id = ?`, []any{p.Other}, new(int))
	if err != nil {
		return err
	}
	if !found {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "user", Reason: "is somebody whom nobody knows"}
	}
	if err := w.ensureUser(p.User.ID); err != nil {
		return err
	}
	_, err = w.exec(`insert into rooms (id, name, kind, pair, created_at) values (?, '', ?, ?, ?)`,
		p.ID, chat.Direct, p.Pair(), p.At.UnixMilli())
	return err
}

func (w *writer) enterPair(p chat.Pairing, room, user string) error {
	err := w.enter(entering{room: room, user: user, role: chat.Plain, at: p.At, maxRooms: p.MaxRooms})
	if errors.Is(err, chat.ErrLimitExceeded) {
		return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "user", Reason: user + " is in too many rooms"}
	}
	return err
}

// tellBack appends the entries that announce users that have come back to the room.
func (w *writer) tellBack(p chat.Pairing, room string, users []string) (entries []chat.Entry, err error) {
	for i, user := range users {
		body, err := chat.Body(chat.MemberChange{User: user, Change: "invited", By: p.User.ID})
		if err != nil {
			return nil, err
		}
		e, err := w.appendEntry(chat.Entry{
			Room: room, ID: p.EntryIDs[i], At: p.At, From: p.User, Kind: chat.KindMember, Body: body,
		})
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

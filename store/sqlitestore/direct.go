package sqlitestore

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// Direct implements chat.Store.
func (s *Store) Direct(ctx context.Context, p chat.Pairing) (done chat.Paired, err error) {
	err = s.do(ctx, func(w *writer) error {
		done, err = w.direct(p)
		return err
	})
	if err != nil {
		return chat.Paired{}, tables.Outcome("open direct room", err)
	}
	return done, nil
}

func (w *writer) direct(p chat.Pairing) (done chat.Paired, err error) {
	var room string
	known, err := w.Row(`select id from rooms where pair = ?`, []any{p.Pair()}, &room)
	if err != nil {
		return chat.Paired{}, err
	}
	if !known {
		room = p.ID
		if err := w.makePair(p); err != nil {
			return chat.Paired{}, err
		}
	}
	st, err := tables.ReadStanding(w, room, p.User.ID)
	switch {
	case err != nil:
		return chat.Paired{}, err
	case st.In:
		_, err = w.Exec(`update members set chosen = 1 where room_id = ? and user_id = ? and not chosen`, room, p.User.ID)
	default:
		done, err = w.enterPair(p, room, !known)
	}
	if err != nil {
		return chat.Paired{}, err
	}
	done.Membership, err = tables.ReadMembership(w, room, p.User.ID)
	return done, err
}

// makePair creates the room of a pair of users, without members.
func (w *writer) makePair(p chat.Pairing) error {
	found, err := w.Row(`select 1 from users where id = ?`, []any{p.Other}, new(int))
	if err != nil {
		return err
	}
	if !found {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "user", Reason: "is somebody whom nobody knows"}
	}
	if err := tables.EnsureUser(w, p.User.ID); err != nil {
		return err
	}
	w.refs.Room(eventlog.RoomCreated, p.ID)
	_, err = w.Exec(`insert into rooms (id, name, kind, pair, created_at) values (?, '', ?, ?, ?)`,
		p.ID, chat.Direct, p.Pair(), p.At.UnixMilli())
	return err
}

// enterPair adds the user that asks for the room, and, if the room is new, the other user.
func (w *writer) enterPair(p chat.Pairing, room string, isNew bool) (done chat.Paired, err error) {
	if err := tables.RefuseContact(w, p.User.ID, "user", p.Other); err != nil {
		return chat.Paired{}, err
	}
	if done.Entered = []string{p.User.ID}; isNew {
		done.Entered = append(done.Entered, p.Other)
	}
	for _, user := range done.Entered {
		err := w.enter(entering{
			room: room, user: user, role: chat.Plain, at: p.At, chosen: user == p.User.ID, maxRooms: p.MaxRooms,
		})
		if errors.Is(err, chat.ErrLimitExceeded) {
			err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "user", Reason: user + " is in too many rooms"}
		}
		if err != nil {
			return chat.Paired{}, err
		}
	}
	if isNew { // members of a new room are not announced
		return done, nil
	}
	body, err := chat.Body(chat.MemberChange{User: p.User.ID, Change: "invited", By: p.User.ID})
	if err != nil {
		return chat.Paired{}, err
	}
	back, err := tables.AppendEntry(w, chat.Entry{
		Room: room, ID: p.EntryID, At: p.At, From: p.User, Kind: chat.KindMember, Body: body,
	}, nil)
	done.Entries = []chat.Entry{back}
	return done, err
}

package tables

import (
	"context"
	"errors"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// Direct implements chat.Store.
func (t Tables) Direct(ctx context.Context, p chat.Pairing) (chat.Paired, error) {
	return write(ctx, t.db, "open direct room", func(w Tx, before chat.Paired) (chat.Paired, error) { return direct(w, p, before) })
}

// direct first looks without locks, because in most calls the pair's room exists and both users are in it.
func direct(w Tx, p chat.Pairing, before chat.Paired) (paired chat.Paired, err error) {
	if room, in, err := pairRoom(w, p); err != nil || in == 2 && !w.Again() {
		return choosePair(w, p, room, err)
	}
	if err := EnsureUser(w, p.User.ID); err != nil {
		return chat.Paired{}, err
	}
	known, err := lockUsers(w, []string{p.User.ID, p.Other})
	if err != nil {
		return chat.Paired{}, err
	}
	room, _, err := pairRoom(w, p) // while the users are locked, no other call creates the room or adds members
	switch {
	case err != nil:
		return chat.Paired{}, err
	case room == "":
		return createPairRoom(w, p, known)
	case w.Again() && room == p.ID:
		return before, nil
	}
	return rejoinPair(w, p, known, room, before)
}

// pairRoom finds the room of the pair, and counts how many of the two users are members. Without a room it returns ""
// and 0.
func pairRoom(w Tx, p chat.Pairing) (room string, in int, err error) {
	_, err = w.Row(`select r.id, (select count(*) from members m where m.room_id = r.id and m.state = 'in')
		from rooms r where r.pair = $1`, []any{p.Pair()}, &room, &in)
	return room, in, err
}

// choosePair counts the membership of the user that asks for the room as chosen, and returns the room. If err is not
// nil, it only returns err.
func choosePair(w Tx, p chat.Pairing, room string, err error) (chat.Paired, error) {
	if err == nil {
		_, err = w.Exec(`update members set chosen = true where room_id = $1 and user_id = $2 and not chosen`, room, p.User.ID)
	}
	return pairedRoom(w, p, room, chat.Paired{}, err)
}

// pairedRoom adds the membership of the user that asked for the room to the result. If err is not nil, it only returns
// err.
func pairedRoom(w Tx, p chat.Pairing, room string, made chat.Paired, err error) (chat.Paired, error) {
	if err != nil {
		return chat.Paired{}, err
	}
	if made.Membership, err = readMembership(w, room, p.User.ID); errors.Is(err, chat.ErrNotMember) {
		err = ErrRetry // the user that asked for the room has just left it
	}
	return made, err
}

func createPairRoom(w Tx, p chat.Pairing, known map[string]bool) (chat.Paired, error) {
	if err := refuseContact(w, p.User.ID, "user", known, p.Other); err != nil {
		return chat.Paired{}, err
	}
	if _, err := w.Exec(`insert into rooms (id, name, kind, pair, created_at) values ($1, '', 'direct', $2, $3)`,
		p.ID, p.Pair(), p.At.UnixMilli()); err != nil {
		return chat.Paired{}, err
	}
	w.Events().Room(eventlog.RoomCreated, p.ID)
	paired := chat.Paired{Entered: []string{p.User.ID, p.Other}}
	for _, user := range paired.Entered {
		if err := addPairMember(w, p, p.ID, user); err != nil {
			return chat.Paired{}, err
		}
	}
	return pairedRoom(w, p, p.ID, paired, nil)
}

func addPairMember(w Tx, p chat.Pairing, room, user string) error {
	err := addMember(w, admission{
		room: room, user: user, role: chat.Plain, at: p.At, chosen: user == p.User.ID, maxRooms: p.MaxRooms,
	})
	if errors.Is(err, chat.ErrLimitExceeded) {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "user", Reason: user + " is in too many rooms"}
	}
	return err
}

// rejoinPair adds the user that asks for the room, if that user has left, and appends an entry about the return. Both users
// must be locked.
func rejoinPair(w Tx, p chat.Pairing, known map[string]bool, room string, before chat.Paired) (made chat.Paired, err error) {
	var (
		b         Batch
		standings = map[string]chat.Standing{}
	)
	queueStandings(w, &b, standings, room, []string{p.User.ID}, w.Lock())
	queueRoom(&b, room, w.Lock(), new(*chat.Room))
	if err := w.Send(&b); err != nil {
		return chat.Paired{}, err
	}
	if mine, err := committedBefore(w, before.Entries...); err != nil || mine {
		return before, err
	}
	if standings[p.User.ID].In {
		return choosePair(w, p, room, nil)
	}
	if err := refuseContact(w, p.User.ID, "user", known, p.Other); err != nil {
		return chat.Paired{}, err
	}
	if err := addPairMember(w, p, room, p.User.ID); err != nil {
		return chat.Paired{}, err
	}
	body, err := chat.Body(chat.MemberChange{User: p.User.ID, Change: "invited", By: p.User.ID})
	if err != nil {
		return chat.Paired{}, err
	}
	back, err := AppendEntry(w, chat.Entry{
		Room: room, ID: p.EntryID, At: p.At, From: p.User, Kind: chat.KindMember, Body: body,
	}, nil)
	if err != nil {
		return chat.Paired{}, err
	}
	made.Entered, made.Entries = []string{p.User.ID}, []chat.Entry{back}
	return pairedRoom(w, p, room, made, nil)
}

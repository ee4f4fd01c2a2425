package tables

import (
	"context"
	"slices"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// CreateRoom implements chat.Store.
func (t Tables) CreateRoom(ctx context.Context, r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	err = t.db.Write(ctx, func(w Tx) error {
		m, dup, err = createRoom(w, r)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, Outcome("create room", err)
	}
	return m, dup, nil
}

func createRoom(w Tx, r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	req, found, err := LookupRequest(w, r.KeyUser(), r.Key, r.Hash)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if found {
		mine := w.Again() && req.Room == r.ID // an earlier run of this call has created the room
		m, err := readRoomFor(w, req.Room, r.Owner.ID)
		return m, !mine, err
	}
	if err := EnsureUser(w, r.Owner.ID); err != nil {
		return chat.Membership{}, false, err
	}
	known, err := lockMembers(w, r)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if err := limitPublicRooms(w, r); err != nil {
		return chat.Membership{}, false, err
	}
	if !r.Host {
		if err := refuseContact(w, r.Owner.ID, "members", known, r.Members...); err != nil {
			return chat.Membership{}, false, err
		}
	}
	taken, err := takeRoomRef(w, r)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if taken != "" {
		m, err := readRoomFor(w, taken, r.Owner.ID)
		return m, true, err
	}
	var b Batch
	b.Exec(`insert into rooms (id, name, kind, invite, guests, packets, created_at, ref, announcement) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		r.ID, r.Name, r.Kind, r.Invite, !r.NoGuests, !r.NoPackets, r.At.UnixMilli(), r.Ref, r.Announcement)
	queueWords(&b, w, chat.Room{ID: r.ID, Kind: r.Kind, Name: r.Name})
	if err := w.Send(&b); err != nil {
		return chat.Membership{}, false, err
	}
	w.Events().Room(eventlog.RoomCreated, r.ID)
	for i, user := range append([]string{r.Owner.ID}, r.Members...) {
		role := chat.Plain
		if i == 0 {
			role = chat.Owner
		}
		a := admission{room: r.ID, user: user, role: role, at: r.At, chosen: i == 0 && !r.Host, maxRooms: r.MaxRooms}
		if err := addMember(w, a); err != nil {
			return chat.Membership{}, false, err
		}
	}
	if err := PutRequest(w, r.KeyUser(), r.Key, r.Hash, Request{Room: r.ID}); err != nil {
		return chat.Membership{}, false, err
	}
	m, err = readRoomFor(w, r.ID, r.Owner.ID)
	return m, false, err
}

// lockMembers locks the owner and the first members of a new room. In a room of the host it fails if one of the members is unknown.
func lockMembers(w Tx, r chat.NewRoom) (known map[string]bool, err error) {
	known, err = lockUsers(w, append([]string{r.Owner.ID}, r.Members...))
	if err != nil || !r.Host {
		return known, err
	}
	stranger := slices.IndexFunc(r.Members, func(user string) bool { return !known[user] })
	if stranger >= 0 {
		err = &chat.FieldError{Err: chat.ErrNotFound, Field: "members", Reason: "has a user whom nobody knows: " + r.Members[stranger]}
	}
	return known, err
}

// limitPublicRooms fails if the new room is public and the owner owns r.MaxPublic public rooms already; 0 means no
// limit. Rooms that the owner has not chosen do not count: otherwise other users could use up the limit by handing
// rooms over. The owner must be locked.
func limitPublicRooms(w Tx, r chat.NewRoom) error {
	if r.Kind != chat.Public || r.MaxPublic == 0 {
		return nil
	}
	var owned int
	_, err := w.Row(`select count(*) from members m join rooms r on r.id = m.room_id
		where m.user_id = $1 and m.state = 'in' and m.role = 'owner' and m.chosen and r.kind = 'public' and r.deleted_at = 0`, []any{r.Owner.ID}, &owned)
	if err == nil && owned >= r.MaxPublic {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "kind", Reason: "must not be public: the user owns too many public rooms"}
	}
	return err
}

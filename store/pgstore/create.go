package pgstore

import (
	"context"
	"slices"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// CreateRoom implements chat.Store.
func (s *Store) CreateRoom(ctx context.Context, r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	err = s.tx(ctx, func(w *writer) error {
		m, dup, err = w.createRoom(r)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, tables.Outcome("create room", err)
	}
	return m, dup, nil
}

func (w *writer) createRoom(r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	req, found, err := tables.LookupRequest(w, r.KeyUser(), r.Key, r.Hash)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if found {
		mine := w.maybeCommitted && req.Room == r.ID // an earlier run of this call has created the room
		m, err := tables.ReadRoomFor(w, req.Room, r.Owner.ID)
		return m, !mine, err
	}
	if err := tables.EnsureUser(w, r.Owner.ID); err != nil {
		return chat.Membership{}, false, err
	}
	if err := w.lockMembers(r); err != nil {
		return chat.Membership{}, false, err
	}
	if err := w.limitPublicRooms(r); err != nil {
		return chat.Membership{}, false, err
	}
	if !r.Host {
		if err := tables.RefuseContact(w, r.Owner.ID, "members", r.Members...); err != nil {
			return chat.Membership{}, false, err
		}
	}
	taken, err := tables.TakeRoomRef(w, r)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if taken != "" {
		m, err := tables.ReadRoomFor(w, taken, r.Owner.ID)
		return m, true, err
	}
	if _, err := w.Exec(`insert into rooms (id, name, kind, invite, guests, created_at, ref, announcement) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		r.ID, r.Name, r.Kind, r.Invite, !r.NoGuests, r.At.UnixMilli(), r.Ref, r.Announcement); err != nil {
		return chat.Membership{}, false, err
	}
	w.refs.Room(eventlog.RoomCreated, r.ID)
	for i, user := range append([]string{r.Owner.ID}, r.Members...) {
		role := chat.Plain
		if i == 0 {
			role = chat.Owner
		}
		a := admission{room: r.ID, user: user, role: role, at: r.At, chosen: i == 0 && !r.Host, maxRooms: r.MaxRooms}
		if err := w.addMember(a); err != nil {
			return chat.Membership{}, false, err
		}
	}
	if err := tables.PutRequest(w, r.KeyUser(), r.Key, r.Hash, tables.Request{Room: r.ID}); err != nil {
		return chat.Membership{}, false, err
	}
	m, err = tables.ReadRoomFor(w, r.ID, r.Owner.ID)
	return m, false, err
}

// lockMembers locks the owner and the first members of a new room. It fails if one of the members is unknown.
func (w *writer) lockMembers(r chat.NewRoom) error {
	known, err := w.lockUsers(append([]string{r.Owner.ID}, r.Members...))
	if err != nil {
		return err
	}
	stranger := slices.IndexFunc(r.Members, func(user string) bool { return !known[user] })
	if stranger >= 0 {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "members", Reason: "has a user whom nobody knows: " + r.Members[stranger]}
	}
	return nil
}

// limitPublicRooms fails if the new room is public and the owner owns r.MaxPublic public rooms already; 0 means no
// limit. Rooms that the owner has not chosen do not count: otherwise other users could use up the limit by handing
// rooms over. The owner must be locked.
func (w *writer) limitPublicRooms(r chat.NewRoom) error {
	if r.Kind != chat.Public || r.MaxPublic == 0 {
		return nil
	}
	var owned int
	_, err := w.Row(`select count(*) from members m join rooms r on r.id = m.room_id
		where m.user_id = $1 and m.state = 'in' and m.role = 'owner' and m.chosen and r.kind = 'public'`, []any{r.Owner.ID}, &owned)
	if err == nil && owned >= r.MaxPublic {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "kind", Reason: "must not be public: the user owns too many public rooms"}
	}
	return err
}

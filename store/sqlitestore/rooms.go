package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/eventlog"
	"hongbao/store/tables"
)

// CreateRoom implements chat.Store.
func (s *Store) CreateRoom(ctx context.Context, r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	err = s.do(ctx, func(w *writer) error {
		m, dup, err = w.createRoom(r)
		return err
	})
	if err != nil {
		return chat.Membership{}, false, tables.Outcome("create room", err)
	}
	return m, dup, nil
}

func (w *writer) createRoom(r chat.NewRoom) (m chat.Membership, dup bool, err error) {
	req, dup, err := tables.LookupRequest(w, r.KeyUser(), r.Key, r.Hash)
	if err != nil {
		return chat.Membership{}, false, err
	}
	if dup {
		m, err := tables.ReadRoomFor(w, req.Room, r.Owner.ID)
		return m, true, err
	}
	for _, user := range r.Members {
		if err := w.knownUser(user); err != nil {
			return chat.Membership{}, false, err
		}
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
	if _, err := w.Exec(`insert into rooms (id, name, kind, invite, guests, created_at, ref, announcement) values (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Name, r.Kind, r.Invite, !r.NoGuests, r.At.UnixMilli(), r.Ref, r.Announcement); err != nil {
		return chat.Membership{}, false, err
	}
	w.refs.Room(eventlog.RoomCreated, r.ID)
	if err := tables.EnsureUser(w, r.Owner.ID); err != nil {
		return chat.Membership{}, false, err
	}
	if err := w.enter(entering{room: r.ID, user: r.Owner.ID, role: chat.Owner, at: r.At, chosen: !r.Host, maxRooms: r.MaxRooms}); err != nil {
		return chat.Membership{}, false, err
	}
	for _, user := range r.Members {
		if err := w.enter(entering{room: r.ID, user: user, role: chat.Plain, at: r.At, maxRooms: r.MaxRooms}); err != nil {
			return chat.Membership{}, false, err
		}
	}
	if err := tables.PutRequest(w, r.KeyUser(), r.Key, r.Hash, tables.Request{Room: r.ID}); err != nil {
		return chat.Membership{}, false, err
	}
	m, err = tables.ReadRoomFor(w, r.ID, r.Owner.ID)
	return m, false, err
}

// limitPublicRooms fails if the owner owns as many public rooms as allowed. Rooms that the owner has not chosen do not
// count: otherwise other users could use up the limit by handing rooms over.
func (w *writer) limitPublicRooms(r chat.NewRoom) error {
	if r.Kind != chat.Public || r.MaxPublic == 0 {
		return nil
	}
	var owned int
	_, err := w.Row(`select count(*) from members m join rooms r on r.id = m.room_id
		where m.user_id = ? and m.state = 'in' and m.role = 'owner' and m.chosen and r.kind = 'public'`, []any{r.Owner.ID}, &owned)
	if err == nil && owned >= r.MaxPublic {
		err = &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "kind", Reason: "must not be public: the user owns too many public rooms"}
	}
	return err
}

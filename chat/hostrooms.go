package chat

import (
	"cmp"
	"context"
	"slices"
	"strconv"
)

// RoomRecord is what the host sees of a room.
type RoomRecord struct {
	Room
	Owner string // "": the room has no members
}

// RoomQuery selects rooms. The zero value selects all.
type RoomQuery struct {
	Ref   string // only the room that has it; "": all
	Next  string // cursor of the page; "": the first one
	Limit int    // 0: recordsPage
}

// RoomRecord returns a room that is not deleted.
func (s *Service) RoomRecord(ctx context.Context, room string) (RoomRecord, error) {
	if err := checkID("room", room); err != nil {
		return RoomRecord{}, err
	}
	return s.store.RoomRecord(ctx, room)
}

// RoomRecords lists rooms. more is the cursor of the following page; "" if there is none.
func (s *Service) RoomRecords(ctx context.Context, q RoomQuery) (rooms []RoomRecord, more string, err error) {
	if q.Limit, err = recordsLimit(q.Limit); err != nil {
		return nil, "", err
	}
	if q.Ref != "" {
		if err := checkRef("ref", q.Ref); err != nil {
			return nil, "", err
		}
	}
	return s.store.RoomRecords(ctx, q)
}

// HostRoom is a request of the host to create a room.
type HostRoom struct {
	CreateRoom

	Owner        string
	Ref          string // "": none
	Announcement string
}

func (r HostRoom) hash() []byte {
	fields := []string{r.Name, string(r.Kind), r.Owner, r.Ref, r.Announcement, string(r.Invite), strconv.FormatBool(r.NoGuests)}
	return RequestHash(r.hashed("create_room by the host"), append(fields, r.Members...)...)
}

func (r HostRoom) check(l Limits) error {
	if err := CheckUser("owner", r.Owner); err != nil {
		return err
	}
	if err := r.CreateRoom.check(r.Owner, l); err != nil {
		return err
	}
	for _, user := range r.Members {
		if err := CheckUser("members", user); err != nil {
			return err
		}
	}
	if r.Ref != "" {
		if err := checkRef("ref", r.Ref); err != nil {
			return err
		}
	}
	return checkOptional("announcement", r.Announcement, l.AnnouncementChars)
}

// CreateHostRoom creates a room for the host and publishes it to its members. Unknown users are created. A repeated key returns
// the room that its first use created, with dup set. A Ref that a room has already returns that room, with dup set.
func (s *Service) CreateHostRoom(ctx context.Context, r HostRoom) (made RoomRecord, dup bool, err error) {
	r.Kind = cmp.Or(r.Kind, Private)
	fault := r.check(s.limits)
	if err := s.unlessKeyUsed(ctx, System.ID, r.Key, fault); err != nil {
		return RoomRecord{}, false, err
	}
	name := ""
	now, others := s.now(), r.others(r.Owner)
	if fault == nil { // otherwise no room is created, because the key is used
		name, _ = NormalName(r.Name)
		if err := s.store.EnsureUsers(ctx, append(slices.Clone(others), r.Owner)); err != nil {
			return RoomRecord{}, false, err
		}
	}
	room := NewRoom{
		ID: s.newID(now), Name: name, Kind: r.Kind, Owner: User{ID: r.Owner}, Members: others,
		Invite: r.Invite, NoGuests: r.NoGuests, NoPackets: r.NoPackets, Key: r.Key, Hash: r.hash(), At: now, MaxRooms: s.limits.Rooms,
		Host: true, Ref: r.Ref, Announcement: r.Announcement,
	}
	m, dup, err := s.store.CreateRoom(ctx, room)
	if err != nil {
		return RoomRecord{}, false, err
	}
	if dup {
		made, err = s.store.RoomRecord(ctx, m.Room.ID)
		return made, true, err
	}
	s.pub.ToUser(r.Owner, Entered{Membership: m})
	for _, user := range others {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: m.Room, Role: Plain}})
	}
	return RoomRecord{Room: m.Room, Owner: r.Owner}, false, nil
}

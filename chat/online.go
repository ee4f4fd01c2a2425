package chat

import (
	"context"
	"slices"
)

// onlinePage is how many users the Presence is asked about at once.
const onlinePage = 1000

// Online tells how many of a room's members have a socket, and in small rooms who. Of a large room it is how many
// there were at most crowdKept ago.
func (s *Service) Online(ctx context.Context, user, room string) (count int, users []string, err error) {
	if err := s.mayRead(ctx, room, user); err != nil {
		return 0, nil, err
	}
	members, err := s.store.Roster(ctx, room, SmallRoom+1)
	if err != nil {
		return 0, nil, err
	}
	if len(members) > SmallRoom {
		count, err := s.crowds.count(ctx, room, s.now, s.countOnline)
		return count, nil, err
	}
	if users, err = s.online(ctx, members); err != nil {
		return 0, nil, err
	}
	slices.Sort(users)
	return len(users), users, nil
}

// MembersOnline tells which of the users have a socket.
func (s *Service) MembersOnline(ctx context.Context, users []string) ([]bool, error) {
	if s.presence == nil {
		return make([]bool, len(users)), nil
	}
	return s.presence.Online(ctx, users)
}

// CameOrWent tells the users' small rooms that they have come online, or gone: a room of one after the other, so that
// what its sockets are told of many may come to them in one piece.
func (s *Service) CameOrWent(ctx context.Context, users []string, online bool) error {
	moved := map[string][]string{} // users by room
	for _, user := range users {
		rooms, err := s.store.Memberships(ctx, user)
		if err != nil {
			return err
		}
		for _, m := range rooms {
			if m.Room.Members <= SmallRoom {
				moved[m.Room.ID] = append(moved[m.Room.ID], user)
			}
		}
	}
	for room, users := range moved {
		for _, user := range users {
			s.pub.ToRoom(room, PresenceMoved{Room: room, User: user, Online: online})
		}
	}
	return nil
}

// online are those of the users who have a socket, never nil.
func (s *Service) online(ctx context.Context, users []string) ([]string, error) {
	found := []string{}
	for some := range slices.Chunk(users, onlinePage) {
		has, err := s.MembersOnline(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, user := range some {
			if has[i] {
				found = append(found, user)
			}
		}
	}
	return found, nil
}

// countOnline asks about everybody in the room.
func (s *Service) countOnline(ctx context.Context, room string) (int, error) {
	members, err := s.store.Roster(ctx, room, s.limits.RoomMembers)
	if err != nil {
		return 0, err
	}
	users, err := s.online(ctx, members)
	return len(users), err
}

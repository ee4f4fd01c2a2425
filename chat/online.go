package chat

import (
	"context"
	"slices"
)

// onlinePage is the number of users in one call of the Presence.
const onlinePage = 1000

// Online returns the number of a room's members that have a socket. For a small room it also returns their ids. The
// count of a large room may be as old as onlineCountKept.
func (s *Service) Online(ctx context.Context, user, room string) (count int, users []string, err error) {
	if err := s.mayRead(ctx, room, user); err != nil {
		return 0, nil, err
	}
	members, err := s.store.Roster(ctx, room, SmallRoom+1)
	if err != nil {
		return 0, nil, err
	}
	if len(members) > SmallRoom {
		count, err := s.onlineCounts.count(ctx, room, s.now, s.countOnline)
		return count, nil, err
	}
	if users, err = s.online(ctx, members); err != nil {
		return 0, nil, err
	}
	slices.Sort(users)
	return len(users), users, nil
}

// MembersOnline reports which of the users have a socket.
func (s *Service) MembersOnline(ctx context.Context, users []string) ([]bool, error) {
	if s.presence == nil {
		return make([]bool, len(users)), nil
	}
	return s.presence.Online(ctx, users)
}

// AnnouncePresence publishes to the users' small rooms that these users have come online or gone offline. It handles
// one room after the other, so that a socket can get the changes of many users in one write.
func (s *Service) AnnouncePresence(ctx context.Context, users []string, online bool) error {
	moved := map[string][]string{} // users by small room
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
			s.pub.ToRoom(room, PresenceChanged{Room: room, User: user, Online: online})
		}
	}
	return nil
}

// online returns those of the users that have a socket. The result is never nil.
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

// countOnline counts the members of the room that have a socket.
func (s *Service) countOnline(ctx context.Context, room string) (int, error) {
	members, err := s.store.Roster(ctx, room, s.limits.RoomMembers)
	if err != nil {
		return 0, err
	}
	users, err := s.online(ctx, members)
	return len(users), err
}

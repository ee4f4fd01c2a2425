package chat

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// AwayRoom is the highest number of members of a room for which Away works. In a larger one a member that is away is nobody in particular.
const AwayRoom = 1000

// awayPeriod is how long ago a member that is away was active at most.
const awayPeriod = 14 * 24 * time.Hour

// Away returns the members of the user's room that have no socket and were active in it in the last 14 days: they have joined it, written,
// or read an entry of these days. The others have probably left for good. Those that have read furthest come first. The user is not one of
// them. In a direct room nobody is away: that would tell whether the other user is online.
func (s *Service) Away(ctx context.Context, room, user string) ([]string, error) {
	if err := s.mayRead(ctx, room, user); err != nil {
		return nil, err
	}
	members, err := s.store.Roster(ctx, room, AwayRoom+1)
	if err != nil {
		return nil, err
	}
	if len(members) > AwayRoom {
		return nil, &FieldError{Err: ErrLimitExceeded, Field: "hold_away", Reason: "works in rooms of at most " + strconv.Itoa(AwayRoom) + " members"}
	}
	if len(members) <= 2 {
		return nil, nil
	}
	active, err := s.store.ActiveSince(ctx, room, s.now().Add(-awayPeriod), AwayRoom)
	if err != nil {
		return nil, err
	}
	online, err := s.online(ctx, active)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(active, func(member string) bool { return member == user || slices.Contains(online, member) }), nil
}

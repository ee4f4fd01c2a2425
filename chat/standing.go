package chat

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Standing returns the standing of a user in a room, from the cache if possible. It is exact for every change made by
// this Service. A change made by another instance counts as soon as its notice has arrived (Publisher.StandingChanged,
// Forget). In a deleted room every user has the standing of a former member; nothing depends on that any more.
func (s *Service) Standing(ctx context.Context, room, user string) (Standing, error) {
	st, version, ok := s.standingFromCache(room, user)
	if ok {
		return st, nil
	}
	if !validRoom(room) || !ValidUser(user) { // an id that cannot exist could make the store fail, and other callers share that read
		return Standing{}, nil
	}
	st, err := s.store.Standing(ctx, room, user)
	if err != nil {
		return Standing{}, err
	}
	if st.Ever { // only standings of present and former members are cached: made-up ids must not evict those of members
		s.standings.put(memberKey{strings.Clone(room), strings.Clone(user)}, st, version)
	}
	return st, nil
}

// validRoom reports whether this can be the id of a room.
func validRoom(room string) bool { return checkID("room", room) == nil && utf8.ValidString(room) }

// CachedStanding returns the standing if it is cached. It does not block.
func (s *Service) CachedStanding(room, user string) (st Standing, ok bool) {
	st, _, ok = s.standingFromCache(room, user)
	return st, ok
}

// standingFromCache returns the cached standing. If there is none, it returns the version with which to put the
// standing into the cache.
func (s *Service) standingFromCache(room, user string) (st Standing, version uint64, ok bool) {
	if s.deleted.has(room) {
		return Standing{Ever: true, RoomDeleted: true}, 0, true
	}
	return s.standings.get(memberKey{room, user})
}

// Forget drops from the cache what another instance has changed: the user's standing in the room. Without a room it
// drops the user's account. Without a user it drops the standings of all users in the room, which was deleted.
func (s *Service) Forget(room, user string) {
	switch {
	case room == "":
		s.users.drop(memberKey{user: user})
	case user != "":
		s.standings.drop(memberKey{room, user})
	case s.deleted.add(room): // the set of deleted rooms has dropped older rooms, whose standings may still be cached
		s.standings.clear()
	}
}

// SetDisconnected says whether notices of other instances may be lost. While they may, nothing is cached, and what
// was cached before is dropped.
func (s *Service) SetDisconnected(lost bool) {
	s.standings.setIdle(lost)
	s.users.setIdle(lost)
}

// mayRead returns an error unless the user may see the room.
func (s *Service) mayRead(ctx context.Context, room, user string) error {
	if err := checkID("room", room); err != nil {
		return err
	}
	st, err := s.Standing(ctx, room, user)
	if err != nil {
		return err
	}
	return st.MayRead()
}

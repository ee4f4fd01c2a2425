package chat

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Presence holds which users have a socket on any instance. The sockets of a dead instance are dropped within
// PresenceLease. If the engine loses its data, each instance enters its sockets again within the same time.
type Presence interface {
	// Enter adds a socket of the user. If the user then has more than most sockets, it removes the oldest ones and
	// returns them in out. A socket that is there already changes nothing. first reports that the user had no socket
	// before.
	Enter(ctx context.Context, user, socket string, most int) (out []string, first bool, err error)
	// Leave removes a socket of the user. A socket that is not there is no error. last reports that the socket was
	// there and the user has no other.
	Leave(ctx context.Context, user, socket string) (last bool, err error)
	// Online reports for each of the users, in the same order, whether the user has a socket.
	Online(ctx context.Context, users []string) ([]bool, error)
	// Run renews the leases of this instance's sockets until ctx is done, and then removes these sockets.
	Run(ctx context.Context) error
}

// PresenceLease is how long sockets of a dead instance may still count.
const PresenceLease = 30 * time.Second

// onlinePage is the largest number of users in one call of Presence.Online.
const onlinePage = 1000

// Online returns the number of a room's members that have a socket. For a small room it also returns their ids. The
// count of a large room may be as old as onlineCounts keeps it. Strangers count as offline.
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
	if len(members) <= 2 {
		strangers, err := s.store.Strangers(ctx, room, user)
		if err != nil {
			return 0, nil, err
		}
		members = slices.DeleteFunc(members, func(member string) bool { return slices.Contains(strangers, member) })
	}
	if users, err = s.online(ctx, members); err != nil {
		return 0, nil, err
	}
	slices.Sort(users)
	return len(users), users, nil
}

// MembersOnline reports for each of the users, in the same order, whether the user has a socket.
func (s *Service) MembersOnline(ctx context.Context, users []string) ([]bool, error) {
	if s.presence == nil {
		return make([]bool, len(users)), nil
	}
	return s.presence.Online(ctx, users)
}

// AnnouncePresence publishes to the users' small rooms that these users have come online or gone offline, but not to a
// direct room that the user has not chosen. It handles one room after the other, so that a socket can get the changes of
// many users in one write.
func (s *Service) AnnouncePresence(ctx context.Context, users []string, online bool) error {
	moved := map[string][]string{} // users by small room
	for _, user := range users {
		rooms, err := s.store.Memberships(ctx, user)
		if err != nil {
			return err
		}
		var unchosen []string
		if slices.ContainsFunc(rooms, func(m Membership) bool { return m.Room.Kind == Direct }) {
			if unchosen, err = s.store.UnchosenDirect(ctx, user); err != nil {
				return err
			}
		}
		for _, m := range rooms {
			if m.Room.Members <= SmallRoom && !slices.Contains(unchosen, m.Room.ID) {
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

const (
	onlineCountKept    = 10 * time.Second // how long after its begin a count is reused at least
	onlineCountTimes   = 20               // how many times as long as it took it is reused at least
	onlineCountTimeout = 10 * time.Second // how long a count may take
)

// onlineCounts counts the members of large rooms that are online. Callers at the same time share one count, and later
// callers reuse it. So counting takes at most a twentieth of the time, however many members a room has.
type onlineCounts struct {
	mu    sync.Mutex
	rooms map[string]*onlineCount // guarded by mu
}

// onlineCount is one count of a room, finished or under way.
type onlineCount struct {
	ends time.Time     // when it is no longer reused; guarded by onlineCounts.mu, zero while it is under way
	done chan struct{} // closed when online and err are set

	online int
	err    error
}

func (c *onlineCounts) count(ctx context.Context, room string, now func() time.Time, count func(context.Context, string) (int, error)) (int, error) {
	one, first := c.countFor(room, now())
	if first {
		c.run(ctx, room, one, now, count)
	}
	select {
	case <-one.done:
		return one.online, one.err
	case <-ctx.Done():
		return 0, ErrUnavailable
	}
}

// countFor returns the count of a room to wait for. If first is true, the caller must run it.
func (c *onlineCounts) countFor(room string, now time.Time) (one *onlineCount, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, old := range c.rooms {
		if !old.ends.IsZero() && !now.Before(old.ends) {
			delete(c.rooms, name)
		}
	}
	if one = c.rooms[room]; one != nil {
		return one, false
	}
	one = &onlineCount{done: make(chan struct{}), err: ErrUnavailable}
	c.rooms[strings.Clone(room)] = one
	return one, true
}

// run makes the count for all callers that wait for it, also if the first caller's context ends. A count that failed
// is not reused.
func (c *onlineCounts) run(ctx context.Context, room string, one *onlineCount, now func() time.Time, count func(context.Context, string) (int, error)) {
	began := now()
	defer func() { // also if count panics: its error is ErrUnavailable then
		took := now().Sub(began)
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.ends = began.Add(max(onlineCountKept, onlineCountTimes*took)); one.err != nil {
			delete(c.rooms, room)
		}
		close(one.done)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), onlineCountTimeout)
	defer cancel()
	one.online, one.err = count(ctx, room)
}

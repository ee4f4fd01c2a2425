package pgstore

import "sync"

// seeded remembers users who have a seed, as they will for ever: most of those who are paid need not be asked about. The
// zero value is ready.
type seeded struct {
	mu    sync.Mutex
	users map[string]struct{}
}

// maxSeeded bounds it to a few megabytes.
const maxSeeded = 1 << 16

// unknown are those of the users of whom it knows nothing, in their order.
func (s *seeded) unknown(users []string) (others []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, user := range users {
		if _, ok := s.users[user]; !ok {
			others = append(others, user)
		}
	}
	return others
}

// add notes users whose seeds are committed.
func (s *seeded) add(users []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil || len(s.users)+len(users) > maxSeeded {
		s.users = make(map[string]struct{}, len(users))
	}
	for _, user := range users {
		s.users[user] = struct{}{}
	}
}

// forget drops everything: what was believed did not hold.
func (s *seeded) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = nil
}

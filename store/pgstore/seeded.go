package pgstore

import "sync"

// seeded caches which users have a seed: a user that has one keeps having one. Most users that are paid are in the
// cache, so no query is needed for their seeds. The zero value is ready.
type seeded struct {
	mu    sync.Mutex
	users map[string]struct{}
}

// maxSeeded bounds the cache to a few megabytes.
const maxSeeded = 1 << 16

// unknown returns those of the users that are not in the cache, in the given order.
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

// add adds users whose seeds are committed.
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

// forget clears the cache after a failed transaction, because the database may have lost seeds.
func (s *seeded) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = nil
}

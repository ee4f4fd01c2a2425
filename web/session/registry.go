package session

import "sync"

// registry holds the open sessions of this instance, by user.
type registry struct {
	mu sync.Mutex
	// Guarded by mu, as are next and closed of every session: the newest session of each user. It links to the user's
	// other sessions by next.
	first map[string]*Session
}

// add adds the session of a user, unless its socket is closed already. It calls added before the session can be removed
// again.
func (r *registry) add(s *Session, user string, added func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.closed {
		return
	}
	s.next = r.first[user]
	r.first[user] = s
	added()
}

// remove removes a session whose socket is closed. It returns false if the session had not been added.
func (r *registry) remove(s *Session, user string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.closed = true
	for before, other := (*Session)(nil), r.first[user]; other != nil; before, other = other, other.next {
		switch {
		case other != s:
			continue
		case before != nil:
			before.next = s.next
		case s.next != nil:
			r.first[user] = s.next
		default:
			delete(r.first, user)
		}
		s.next = nil
		return true
	}
	return false
}

// of returns the user's sessions, from the newest to the oldest.
func (r *registry) of(user string) (all []*Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := r.first[user]; s != nil; s = s.next {
		all = append(all, s)
	}
	return all
}

// users returns the users that have a session on this instance.
func (r *registry) users() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]string, 0, len(r.first))
	for user := range r.first {
		all = append(all, user)
	}
	return all
}

package web

import "sync"

// sockets knows the open sessions of each user on this instance.
type sockets struct {
	mu    sync.Mutex
	first map[string]*session // guarded by mu, with next and gone of every session; the others follow through next
}

// add enters a session whose user is known, unless its socket is closed already, and calls entered before anyone can
// remove it.
func (k *sockets) add(s *session, user string, entered func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.gone {
		return
	}
	s.next = k.first[user]
	k.first[user] = s
	entered()
}

// remove forgets a session whose socket is closed, and tells whether it had been added.
func (k *sockets) remove(s *session, user string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.gone = true
	for before, other := (*session)(nil), k.first[user]; other != nil; before, other = other, other.next {
		switch {
		case other != s:
			continue
		case before != nil:
			before.next = s.next
		case s.next != nil:
			k.first[user] = s.next
		default:
			delete(k.first, user)
		}
		s.next = nil
		return true
	}
	return false
}

// of lists the user's sessions.
func (k *sockets) of(user string) (all []*session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := k.first[user]; s != nil; s = s.next {
		all = append(all, s)
	}
	return all
}

// users lists everyone who has a session here.
func (k *sockets) users() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]string, 0, len(k.first))
	for user := range k.first {
		all = append(all, user)
	}
	return all
}

package web

import "sync"

// sockets knows the open sessions of each user, oldest first, to keep their number down.
type sockets struct {
	max int // of one user

	mu     sync.Mutex          // guards the following, and newer and gone of every session
	oldest map[string]*session // by user; the others follow through session.newer
}

// add enters a session whose user is known. It returns the one that has to go for it, if any.
func (k *sockets) add(s *session, user string) (pushedOut *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.gone {
		return nil
	}
	first := k.oldest[user]
	if first == nil {
		k.oldest[user] = s
		return nil
	}
	count := 2 // the first and the new one
	last := first
	for ; last.newer != nil; last = last.newer {
		count++
	}
	last.newer = s
	if count <= k.max {
		return nil
	}
	k.oldest[user], first.newer = first.newer, nil
	return first
}

// remove forgets a session whose socket is closed. It may have been pushed out, or never added.
func (k *sockets) remove(s *session) {
	who, _ := s.caller()
	user := who.User.ID
	k.mu.Lock()
	defer k.mu.Unlock()
	s.gone = true
	first := k.oldest[user]
	switch {
	case first == nil:
	case first == s && s.newer == nil:
		delete(k.oldest, user)
	case first == s:
		k.oldest[user] = s.newer
	default:
		for before := first; before != nil; before = before.newer {
			if before.newer == s {
				before.newer = s.newer
				break
			}
		}
	}
	s.newer = nil
}

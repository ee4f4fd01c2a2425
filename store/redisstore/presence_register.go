package redisstore

import (
	"hash/maphash"
	"slices"
	"sync"
)

// presenceSlots is into how many parts a round of renewal is cut, so that it costs a little all the time.
const presenceSlots = 100

// register is what an instance remembers of its own sockets. Users are spread over slots, each renewed in its turn.
type register struct {
	seed maphash.Seed

	mu    sync.Mutex
	slots [presenceSlots]map[string][]localSocket // by user, the oldest first; never an empty list
}

// localSocket is a socket of this instance.
type localSocket struct {
	socket   string
	since    int64 // as Redis says; 0: it has not said it yet
	entering bool  // its Enter is on the way: only that may give it its place, or take it away
}

// localUser is a user with his sockets here.
type localUser struct {
	user    string
	sockets []localSocket
}

func newRegister() *register {
	r := &register{seed: maphash.MakeSeed()}
	for i := range r.slots {
		r.slots[i] = map[string][]localSocket{}
	}
	return r
}

func (r *register) slot(user string) map[string][]localSocket {
	return r.slots[maphash.String(r.seed, user)%presenceSlots]
}

// add remembers a socket, and gives what is remembered of it.
func (r *register) add(user, socket string) localSocket {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := r.slot(user)
	if i := find(slot[user], socket); i >= 0 {
		return slot[user][i]
	}
	s := localSocket{socket: socket, entering: true}
	slot[user] = append(slot[user], s)
	return s
}

// learn notes since when the sockets are there, as far as they still are.
func (r *register) learn(user string, sockets []localSocket, sinces []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	for n, s := range sockets {
		if i := find(known, s.socket); i >= 0 && n < len(sinces) {
			known[i].since, known[i].entering = sinces[n], false
		}
	}
}

// keep leaves it to the renewal to note a socket whose Enter failed.
func (r *register) keep(user, socket string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	if i := find(known, socket); i >= 0 {
		known[i].entering = false
	}
}

// drop forgets a socket.
func (r *register) drop(user, socket string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := r.slot(user)
	left := slices.DeleteFunc(slot[user], func(s localSocket) bool { return s.socket == socket })
	if len(left) == 0 {
		delete(slot, user)
		return
	}
	slot[user] = left
}

// users gives all of a slot, with the sockets that have entered.
func (r *register) users(slot int) []localUser {
	r.mu.Lock()
	defer r.mu.Unlock()
	users := make([]localUser, 0, len(r.slots[slot]))
	for user, sockets := range r.slots[slot] {
		entered := slices.DeleteFunc(slices.Clone(sockets), func(s localSocket) bool { return s.entering })
		if len(entered) > 0 {
			users = append(users, localUser{user, entered})
		}
	}
	return users
}

// gone gives those of the sockets that have left meanwhile.
func (r *register) gone(u localUser) (left []localSocket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(u.user)[u.user]
	for _, s := range u.sockets {
		if find(known, s.socket) < 0 {
			left = append(left, s)
		}
	}
	return left
}

func find(sockets []localSocket, socket string) int {
	return slices.IndexFunc(sockets, func(s localSocket) bool { return s.socket == socket })
}

package redisstore

import (
	"hash/maphash"
	"slices"
	"sync"
)

// presenceSlots is the number of slots of a registry. Renewing them one after the other keeps the load even.
const presenceSlots = 100

// registry holds the sockets of this instance in memory. A hash of the user chooses the slot.
type registry struct {
	seed maphash.Seed

	mu    sync.Mutex
	slots [presenceSlots]map[string][]localSocket // by user, oldest first; never an empty list
}

// localSocket is a socket of this instance.
type localSocket struct {
	socket   string
	since    int64 // start time that Redis returned; 0: not known yet
	entering bool  // its Enter is under way; until it ends, no renewal may enter or remove the socket
}

// localUser is a user with sockets on this instance.
type localUser struct {
	user    string
	sockets []localSocket
}

func newRegistry() *registry {
	r := &registry{seed: maphash.MakeSeed()}
	for i := range r.slots {
		r.slots[i] = map[string][]localSocket{}
	}
	return r
}

func (r *registry) slot(user string) map[string][]localSocket {
	return r.slots[maphash.String(r.seed, user)%presenceSlots]
}

// add returns the socket as this instance remembers it. It adds an unknown socket, marked as entering.
func (r *registry) add(user, socket string) localSocket {
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

// setSince records in this instance's memory the start times that Redis returned for the user's sockets, and marks
// them entered. Sockets removed since the call began are skipped.
func (r *registry) setSince(user string, sockets []localSocket, sinces []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	for n, s := range sockets {
		if i := find(known, s.socket); i >= 0 && n < len(sinces) {
			known[i].since, known[i].entering = sinces[n], false
		}
	}
}

// enterFailed records that the socket's Enter has failed. From now on the renewal tries to enter the socket.
func (r *registry) enterFailed(user, socket string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.slot(user)[user]
	if i := find(known, socket); i >= 0 {
		known[i].entering = false
	}
}

// drop removes a socket from this instance's memory.
func (r *registry) drop(user, socket string) {
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

// users returns the users of a slot, with the sockets whose Enter has ended.
func (r *registry) users(slot int) []localUser {
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

// left returns those of the user's given sockets that drop has removed since.
func (r *registry) left(u localUser) (left []localSocket) {
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

package admission

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Replies bounds the bytes of replies over HTTP that wait for slow clients. These bytes also count as unread replies of the hub.
// While they exceed the bound, Replies ends connections. It takes the user with the most bytes, and ends the connection of
// this user's oldest reply. All guests of one address count as one user. Below the bound, only the server's write timeout ends
// the connections of slow clients.
type Replies struct {
	// static
	most  int64           // bound of the bytes
	count func(bytes int) // adds bytes to the hub's unread replies

	mu     sync.Mutex
	bytes  int64                   // guarded by mu
	unread map[string]*userReplies // guarded by mu; by the user's id, or by a guest's address
	ended  uint64                  // guarded by mu; connections that were ended so far
}

// userReplies are the replies to one user, or to the guests of one address, that wait.
type userReplies struct {
	bytes int64
	list  []*reply // in the order in which they began
}

// reply is one reply that is being written.
type reply struct {
	bytes int
	end   func() // ends the connection
}

// NewReplies returns a Replies with a bound on the bytes. It calls count with each change of the number of bytes.
func NewReplies(most int64, count func(bytes int)) *Replies {
	return &Replies{most: most, count: count, unread: map[string]*userReplies{}}
}

// shortReply is the length up to which a reply is not counted: the connection's own buffer holds it.
const shortReply = 4 << 10

// Hold counts a reply until release is called, or until endLocked ends its connection. A short reply (shortReply) is not counted.
// In between, the caller must write the reply to w, and nothing else.
func (h *Replies) Hold(user string, bytes int, w http.ResponseWriter) (release func()) {
	if bytes <= shortReply {
		return func() {}
	}
	r := &reply{bytes: bytes, end: func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now()) }}
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.unread[user]
	if of == nil {
		of = &userReplies{}
		h.unread[user] = of
	}
	of.list = append(of.list, r)
	of.bytes += int64(bytes)
	h.addLocked(bytes)
	for h.bytes > h.most {
		h.endLocked()
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.removeLocked(user, r)
	}
}

// endLocked ends the connection of the oldest reply of the user that has the most bytes.
func (h *Replies) endLocked() {
	var user string
	for other, of := range h.unread {
		if user == "" || of.bytes > h.unread[user].bytes {
			user = other
		}
	}
	oldest := h.unread[user].list[0]
	oldest.end()
	h.ended++
	h.removeLocked(user, oldest)
}

// removeLocked stops counting a reply, unless it was removed before.
func (h *Replies) removeLocked(user string, r *reply) {
	of := h.unread[user]
	if of == nil {
		return
	}
	i := slices.Index(of.list, r)
	if i < 0 {
		return
	}
	of.list = slices.Delete(of.list, i, i+1)
	of.bytes -= int64(r.bytes)
	h.addLocked(-r.bytes)
	if len(of.list) == 0 {
		delete(h.unread, user)
	}
}

func (h *Replies) addLocked(bytes int) {
	h.bytes += int64(bytes)
	h.count(bytes)
}

// Endings returns how many connections endLocked has ended so far.
func (h *Replies) Endings() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

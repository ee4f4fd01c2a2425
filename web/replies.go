package web

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// httpReplies bounds the replies over HTTP that wait for slow clients. Their bytes count as unread replies of the hub, too.
// While they use more than their bound, it ends connections: each time that of the oldest reply of the user with the most
// bytes. Below the bound, only the server's write timeout ends connections.
type httpReplies struct {
	// static
	most  int64           // bound of the bytes
	count func(bytes int) // tells the hub

	mu     sync.Mutex
	bytes  int64                   // guarded by mu
	unread map[string]*userReplies // guarded by mu; by user, guests by address
	ended  uint64                  // guarded by mu; connections so far
}

// userReplies are the replies of one user that wait.
type userReplies struct {
	bytes int64
	list  []*httpReply // in the order in which they began
}

// httpReply is one reply that is being written.
type httpReply struct {
	bytes int
	end   func() // ends the connection
}

// httpShare divides Options.MaxReplyBytes: replies over HTTP may use a quarter of it. Once all unread replies use half of it,
// sockets with any unread reply must wait (hub.Conn.Behind). Replies over HTTP alone must not cause that.
const httpShare = 4

// shortReply is the length up to which a reply is not counted: the connection's own buffer holds it.
const shortReply = 4 << 10

// hold counts a reply until release is called. The caller must write it to w in between, and nothing else.
func (h *httpReplies) hold(user string, bytes int, w http.ResponseWriter) (release func()) {
	if bytes <= shortReply {
		return func() {}
	}
	r := &httpReply{bytes: bytes, end: func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now()) }}
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
func (h *httpReplies) endLocked() {
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

// removeLocked takes a reply off the count, unless that was done before.
func (h *httpReplies) removeLocked(user string, r *httpReply) {
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

func (h *httpReplies) addLocked(bytes int) {
	h.bytes += int64(bytes)
	h.count(bytes)
}

// endings returns how many connections endLocked has ended so far.
func (h *httpReplies) endings() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

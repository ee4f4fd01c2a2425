package web

import (
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// phase is how far a session has come.
type phase uint8

const (
	silent  phase = iota // nothing but pongs may come before connect
	opening              // a connect command is in flight
	open                 // the connect reply is made, and goes out before anything else
)

// session is one client on one socket. There are very many of them and most are idle, so what is needed
// only now and then is made then.
type session struct {
	// static after Attach
	srv  *Server
	conn *hub.Conn

	// guarded by sockets.mu
	next *session // of the same user
	gone bool     // the socket is closed

	// owned by the reader
	unsent bool // answers are queued and not flushed
	tokens rateState

	mu      sync.Mutex // guards the following
	phase   phase
	held    bool  // pushes wait for the connect reply
	late    uint8 // commands that were answered and go on
	obeying bool  // somebody obeys what waits: one at a time, so that it stays in order
	admin   bool
	user    chat.User
	issued  int64     // when the token was, in Unix seconds
	bearer  *identity // of the upgrade, until connect
	client  string    // names the session to its client
	epoch   string
	pending []*pending    // commands in flight, in the order they came; nil: none
	space   chan struct{} // closed when a command was answered; nil while the reader does not wait for that
	waiting []signal      // signals not obeyed yet, in the order they came
}

func newSession(srv *Server, conn *hub.Conn, bearer *identity) *session {
	s := &session{srv: srv, conn: conn, bearer: bearer}
	s.awaitConnect()
	return s
}

// Idle implements hub.Handler.
func (s *session) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0
}

// Closed implements hub.Handler.
func (s *session) Closed() {
	s.mu.Lock()
	user, socket := s.user.ID, s.client
	s.mu.Unlock()
	if s.srv.sockets.remove(s, user) {
		s.srv.attendance.note(movement{user: user, socket: socket, gone: true})
	}
}

// beLocked makes the session that of whom a token names.
func (s *session) beLocked(who identity) {
	s.user, s.admin, s.issued = who.user, who.admin, who.issued.Unix()
}

func (s *session) encoding() wire.Encoding { return wire.Encoding(s.conn.Encoding()) }

// close hangs up for one of the protocol's reasons.
func (s *session) close(code int) {
	bye := wire.CloseFor(code)
	s.conn.Close(bye.Code, bye.Reason)
}

// awaitConnect has the socket closed if no connect command comes.
func (s *session) awaitConnect() {
	bye := wire.CloseFor(wire.CloseNoConnect)
	s.conn.CloseAt(time.Now().Add(s.srv.o.ConnectWithin), bye.Code, bye.Reason)
}

// takeTime lets the connect command, which has come, take its time.
func (s *session) takeTime() { s.conn.CloseAt(time.Time{}, 0, "") }

// expire has the socket closed when its token has been over for a while and no newer one came.
func (s *session) expire(at time.Time) {
	bye := wire.CloseFor(wire.CloseTokenExpired)
	s.conn.CloseAt(at.Add(s.srv.o.RefreshGrace), bye.Code, bye.Reason)
}

// ttl is how long a token lasts, in whole seconds and never 0, which would be left out of the reply. Nor is it more than
// an int32 holds: that is what Java reads Protobuf's uint32 into, and its SDK would refresh a negative one without a pause.
func (s *Server) ttl(expires time.Time) uint32 {
	left := expires.Sub(s.o.Now())
	return uint32(min(max(left/time.Second, 1), 1<<31-1))
}

package session

import (
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// phase is the state of a session's connect.
type phase uint8

const (
	silent  phase = iota // no connect command yet; only pongs are allowed before it
	opening              // a connect command is running
	open                 // the connect reply is made and will be sent before any push
)

// Session is the server's state for one client on one socket. It implements hub.Handler. Most of very many sessions are
// idle, so rarely used fields are allocated when they are needed.
type Session struct {
	// static after NewSession
	m    *Manager
	conn *hub.Conn

	// guarded by registry.mu
	next   *Session // the user's next older session
	closed bool     // the socket is closed

	// Owned by the goroutine that reads the socket.
	unflushed bool // replies are queued and not flushed
	tokens    bucket

	mu       sync.Mutex // guards the following
	phase    phase
	held     bool // pushes are delayed until the connect reply
	admin    bool
	user     chat.User
	issued   int64          // when the token was issued, in Unix seconds
	upgrade  *auth.Identity // identity from the upgrade request; nil once connected
	client   string         // the session's id, which the client knows
	epoch    string
	commands inFlight
	signals  signalQueue
}

// Idle implements hub.Handler.
func (s *Session) Idle() bool { return s.InFlight() == 0 }

// InFlight returns how many commands are not answered.
func (s *Session) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commands.list)
}

// Closed implements hub.Handler.
func (s *Session) Closed() {
	s.mu.Lock()
	user, socket := s.user.ID, s.client
	s.mu.Unlock()
	if s.m.registry.remove(s, user) {
		s.m.c.Presence.SocketClosed(user, socket)
	}
}

// caller returns the session's user as a caller of commands, and the phase.
func (s *Session) caller() (api.Caller, phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return api.Caller{User: s.user, Admin: s.admin}, s.phase
}

// identifyLocked stores the token's user in the session.
func (s *Session) identifyLocked(identity auth.Identity) {
	s.user, s.admin, s.issued = identity.User, identity.Admin, identity.Issued.Unix()
}

func (s *Session) encoding() wire.Encoding { return wire.Encoding(s.conn.Encoding()) }

// close closes the socket with a close code of the protocol.
func (s *Session) close(code int) {
	c := wire.CloseFor(code)
	s.conn.Close(c.Code, c.Reason)
}

// awaitConnect schedules the close of the socket, in case no connect command arrives in time.
func (s *Session) awaitConnect() {
	c := wire.CloseFor(wire.CloseNoConnect)
	s.conn.CloseAt(time.Now().Add(s.m.c.ConnectWithin), c.Code, c.Reason)
}

// closeAfter schedules the close of the socket for some time after the token's expiry. A newer token moves that time.
func (s *Session) closeAfter(expires time.Time) {
	c := wire.CloseFor(wire.CloseTokenExpired)
	s.conn.CloseAt(expires.Add(s.m.c.RefreshGrace), c.Code, c.Reason)
}

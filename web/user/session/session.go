package session

import (
	"sync"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
	"hongbao/web/wire/frame"
)

// phase is the state of a session's connect.
type phase uint8

const (
	silent  phase = iota // no connect command is in flight or has succeeded; the client may send only a connect and pongs
	opening              // a connect command is in flight
	open                 // the connect reply is made and will be sent before any push
)

// Session is the server's state for one client on one socket. It implements hub.Handler. Most of very many sessions are
// idle, so rarely used fields are allocated when they are needed.
type Session struct {
	// static after NewSession
	m       *Manager
	conn    *hub.Conn
	address string // of the client, as rates, budgets and Config.Refused count it

	// guarded by registry.mu
	next   *Session // the user's next older session
	closed bool     // the socket is closed

	// Owned by the goroutine that reads the socket, or by the one that runs the rest of a frame.
	unflushed bool // replies are queued and not flushed
	known     bool // the session was seen open: of its frames only refused ones are still taken from the address's budget
	tokens    bucket

	mu                   sync.Mutex // guards the following
	phase                phase
	held                 bool // pushes are delayed until the connect reply
	admin                bool
	keepName, keepAvatar bool // the token has no name, or no avatar: the stored one stays
	unstored             bool // the name and the avatar of the token may not be stored yet
	user                 chat.User
	person               string         // of the token
	issued               int64          // when the token was issued, in Unix seconds
	upgrade              *auth.Identity // identity from the upgrade request; nil: it had no token, or the session is connected
	client               string         // the session's id, which the client knows
	epoch                string
	commands             inFlight
	signals              signalQueue
}

// Idle implements hub.Handler.
func (s *Session) Idle() bool { return s.InFlight() == 0 }

// InFlight returns how many commands were put in flight and are not answered yet. A command that waits because maxInFlight are in
// flight is not counted.
func (s *Session) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commands.list)
}

// Closed implements hub.Handler.
func (s *Session) Closed(code int, byPeer bool) {
	s.m.c.SocketClosed(s.address)
	s.mu.Lock()
	user, socket := s.user.ID, s.client
	s.mu.Unlock()
	if s.m.registry.remove(s, user) {
		s.m.c.Presence.SocketClosed(user, socket)
		s.m.c.Ended(user, socket, code, byPeer)
	}
}

// caller returns the session's user as a caller of commands, and the phase.
func (s *Session) caller() (api.Caller, phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callerAs(s.user, s.admin)
	c.Person = s.person
	return c, s.phase
}

// callerAs returns a user as a caller of commands on this socket.
func (s *Session) callerAs(user chat.User, admin bool) api.Caller {
	c := api.Caller{User: user, Admin: admin}
	if user.Guest() {
		c.Address = s.address
	}
	return c
}

// identifyLocked stores the identity of a token in the session: the user, the admin flag, and when the token was issued.
func (s *Session) identifyLocked(identity auth.Identity) {
	s.user, s.keepName, s.keepAvatar = identity.User.User, identity.User.KeepName, identity.User.KeepAvatar
	s.person, s.admin, s.issued = identity.Person, identity.Admin, identity.Issued.Unix()
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

// closeAfter schedules the close of the socket for Config.RefreshGrace after the token's expiry. A later call replaces the
// schedule. The time is counted from now, so it does not depend on how the clock was set since the start of the server.
func (s *Session) closeAfter(expires time.Time) {
	c := wire.CloseFor(wire.CloseTokenExpired)
	s.conn.CloseAt(time.Now().Add(expires.Add(s.m.c.RefreshGrace).Sub(s.m.c.Now())), c.Code, c.Reason)
}

// Frame implements hub.Handler. Commands that may block run on other goroutines. When too many are in flight, Frame returns a
// function rest. It admits the remaining commands of the frame, and blocks until the last of them is admitted or the connection
// is closed. Otherwise rest is nil.
func (s *Session) Frame(binary bool, data []byte) (flush bool, rest func()) {
	e := s.encoding()
	if binary != (e == wire.Protobuf) {
		s.close(wire.CloseProtocolError)
		return false, nil
	}
	commands, err := frame.Decode(e, data)
	if err != nil {
		s.close(wire.CloseProtocolError)
		return false, nil
	}
	if waiting, next := s.admitAll(commands); waiting != nil {
		rest = func() { s.admitWaiting(waiting, next) }
	}
	flush, s.unflushed = s.unflushed, false
	return flush, rest
}

// admitAll admits commands until too many are in flight. It returns the command that must wait, and those after it. If it
// closes the connection, it drops the rest and returns nil.
func (s *Session) admitAll(commands []*protocol.Command) (waiting *command, behind []*protocol.Command) {
	for i, cmd := range commands {
		if frame.IsPong(cmd) {
			if !s.Control() {
				return nil, nil
			}
			continue
		}
		waiting, code := s.admit(cmd)
		switch {
		case code != 0:
			s.close(code)
			return nil, nil
		case waiting != nil:
			return waiting, commands[i+1:]
		}
	}
	return nil, nil
}

// admitWaiting waits until the command can be admitted, and then admits those after it in the same way.
func (s *Session) admitWaiting(waiting *command, behind []*protocol.Command) {
	for waiting != nil {
		for room := s.start(waiting); room != nil; room = s.start(waiting) {
			<-room
		}
		waiting, behind = s.admitAll(behind)
	}
	s.flush()
}

// admit answers a command at once or puts it in flight. If too many are in flight, it returns the command. If code is
// not 0, the connection must be closed with it.
func (s *Session) admit(cmd *protocol.Command) (waiting *command, code int) {
	kind := kindOf(cmd)
	if kind == kindSend {
		cmd.Id = 0 // it has no reply
	}
	wait, abuse := s.takeToken()
	switch {
	case !s.inOrder(kind, cmd.Id):
		return nil, wire.CloseProtocolError
	case abuse:
		return nil, wire.CloseTooManyCommands
	}
	c := newCommand(s, kind, cmd)
	if wait == 0 && c.answerAtOnce() {
		return nil, 0
	}
	s.flush()                            // the following code may take long
	if wait > 0 && kind != kindRefresh { // some SDKs stop permanently if a refresh fails
		c.refuse(wait)
		return nil, 0
	}
	if s.start(c) != nil {
		return c, 0
	}
	return nil, 0
}

// Control implements hub.Handler. It counts a ping or a pong. Such a frame cannot be refused with an error, so the connection is
// closed if there are too many.
func (s *Session) Control() bool {
	_, abuse := s.takeToken()
	if abuse {
		s.close(wire.CloseTooManyCommands)
	}
	return !abuse
}

// start puts an admitted command in flight and returns nil. If maxInFlight commands are in flight, it instead returns a channel
// that is closed when one of them was answered; the caller must then call start again.
func (s *Session) start(c *command) (room <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.commands.list) >= maxInFlight {
		if s.commands.space == nil {
			s.commands.space = make(chan struct{})
		}
		return s.commands.space
	}
	if s.phase == silent {
		s.phase = opening
	}
	s.commands.list = append(s.commands.list, c)
	if next := s.commands.next(s.phase); next != nil {
		go next.work()
	}
	return nil
}

// inOrder reports whether the protocol allows a command of this kind and id now. A silent session accepts only a connect. The id
// of a command that gets a reply must not be 0 or in flight.
func (s *Session) inOrder(k kind, id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case k != kindConnect && s.phase == silent:
		return false
	case k == kindSend:
		return true
	case id == 0:
		return false
	}
	return !s.commands.has(id)
}

// refuse answers a command that exceeds the connection's rate limit. A command without an id gets no answer.
func (c *command) refuse(wait time.Duration) {
	s := c.session
	failure := s.m.c.Errors.Failure(&chat.RateError{After: wait})
	s.m.c.Observe(c.name(), failure.Code, 0)
	if c.cmd.Id == 0 {
		return
	}
	s.conn.Send(wire.ErrorReply(s.encoding(), c.cmd.Id, failure))
}

// answerAtOnce answers a command on the calling goroutine if it can be answered from memory and no other one is in flight. It
// queues the reply and sets unflushed. Another goroutine for the work or for writing would cost more than the answer itself.
// If it returns false, the command must be put in flight.
func (c *command) answerAtOnce() bool {
	s := c.session
	user, free := s.free()
	if !free || c.kind != kindRPC || !s.m.c.Commands.FromMemory(user, &c.request) {
		return false
	}
	if reply := c.run(); reply != nil && s.conn.Queue(reply) {
		s.unflushed = true
	}
	return true
}

// free returns the session's user. free is true if the session is open and no command is in flight.
func (s *Session) free() (user string, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user.ID, s.phase == open && len(s.commands.list) == 0
}

// flush writes the replies that answerAtOnce has queued.
func (s *Session) flush() {
	if s.unflushed {
		s.unflushed = false
		s.conn.Flush()
	}
}

// registry holds the open sessions of this instance, by user.
type registry struct {
	mu sync.Mutex
	// The newest session of each user; Session.next leads to the user's older sessions. mu guards the map, and Session.next and
	// Session.closed of every session.
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

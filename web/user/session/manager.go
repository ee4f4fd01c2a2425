package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// Config holds the services, callbacks and limits that the server gives to package session. Every pointer, interface
// and function must be set.
type Config struct {
	Hub      *hub.Hub // has the connections of the sessions
	Chat     *chat.Service
	Packets  *redpacket.Service
	Commands *api.Commands
	Rates    *api.Rates
	Presence Presence
	Errors   Errors

	// Verify returns the identity that a token proves, or an error as auth.Verifier.Verify does.
	Verify func(ctx context.Context, token string) (auth.Identity, error)
	// Refused is called when the token of a command is invalid or revoked, or its user is suspended, but not if it has only
	// expired. address is the one that was given to NewSession.
	Refused func(address string)
	// AcquireConnect waits until another connect command may run. Unless it returns an error, the caller must call release when
	// the command has ended.
	AcquireConnect func(ctx context.Context) (release func(), err error)
	// Opened is called when a socket of a user has connected, and Ended when it is closed: see hub.Handler.Closed. They must not block.
	Opened func(user, socket string)
	Ended  func(user, socket string, code int, byPeer bool)
	// SocketClosed is called with the client's address when a socket is closed.
	SocketClosed func(address string)
	// Observe records a command that has run or was refused in the metrics; code 0 means no error.
	Observe func(method string, code wire.Code, took time.Duration)

	Node           string // name of this instance
	Alone          bool   // this is the only instance
	Paced          bool   // the rate of each connection is limited to api.CommandsPerSecond
	Version        string
	Currency       wire.Currency
	Limits         wire.Limits
	ConnectWithin  time.Duration // time allowed from the upgrade to the connect command
	RefreshGrace   time.Duration // time from the expiry of a token to the close of its sockets
	StandingWithin time.Duration // time that a session waits for its user's standing in a room before it applies a signal without it
	Now            func() time.Time
	Log            *slog.Logger
}

// Presence records which sockets users have. Its methods do not block. It is implemented by presence.Tracker.
type Presence interface {
	SocketOpened(user, socket string)
	SocketClosed(user, socket string)
}

// Errors converts errors to what clients receive.
type Errors interface {
	// Code returns the code of an error on the wire. known is false if the error has no code of its own.
	Code(err error) (code wire.Code, known bool)
	// Failure returns the error as a client receives it. It logs errors that the client cannot have caused; of many such errors
	// it may log only some.
	Failure(err error) wire.Error
}

// Manager creates sessions and holds the open ones of this instance. It implements hub.Peers.
type Manager struct {
	// static
	c     Config
	start time.Time // the rate limits of connections use times since start

	registry registry
	rechecks *rechecks
	busLost  atomic.Bool
}

// NewManager returns a manager without sessions.
func NewManager(c Config) *Manager {
	m := &Manager{c: c, start: c.Now(), registry: registry{first: map[string]*Session{}}}
	m.rechecks = newRechecks(m.recheck, c.Log)
	return m
}

// NewSession returns the session for a connection that the hub attaches. address is the client's, as rates, budgets and
// Config.Refused count it. upgrade is the identity from the upgrade request; if it is nil, the connect command must have a
// token.
func (m *Manager) NewSession(conn *hub.Conn, address string, upgrade *auth.Identity) *Session {
	s := &Session{m: m, conn: conn, address: address, upgrade: upgrade}
	s.awaitConnect()
	return s
}

// Run rechecks sessions until ctx ends. Unless Config.Alone is set, it also closes the sockets of revoked and suspended users whose
// signal was lost. It blocks.
func (m *Manager) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { m.rechecks.run(ctx) })
	if !m.c.Alone {
		both.Go(func() { m.watchRevocations(ctx) })
	}
	both.Wait()
}

// Users returns the number of users that have an open session on this instance.
func (m *Manager) Users() int { return len(m.registry.users()) }

// Of returns the user's open sessions on this instance, from the newest to the oldest.
func (m *Manager) Of(user string) []*Session { return m.registry.of(user) }

// Notice implements hub.Peers.
func (m *Manager) Notice(data []byte) {
	n, err := push.ParseNotice(data)
	switch {
	case err != nil:
		m.c.Log.Error("notice of an unknown form", "err", err)
		return
	case n.Erased != nil:
		push.DropErased(m.c.Hub, n.Erased.Room)
		if n.Erased.User != "" {
			m.c.Packets.ForgetSender(n.Erased.User)
		}
		return
	case n.Moved == nil:
		return
	}
	m.c.Chat.Forget(n.Moved.Room, n.Moved.User)
	if user := n.Moved.User; user != "" && len(m.registry.of(user)) > 0 { // the bus may have lost the signal to these sessions
		m.rechecks.add(user)
	}
}

// BusLost implements hub.Peers. When the bus works again, BusLost queues all users with a session here for a comparison with the
// store, because signals may have been lost and are not sent again.
func (m *Manager) BusLost(lost bool) {
	m.c.Chat.SetDisconnected(lost)
	m.busLost.Store(lost)
	if !lost {
		m.rechecks.add(m.registry.users()...)
	}
}

// Final implements hub.Peers. The entry that ends a user's membership has been committed, so a standing that was cached before it is
// outdated, even if the notice was lost or came before the commit.
func (m *Manager) Final(topic, subscriber string) {
	room, isRoom := wire.ChannelRoom(topic)
	user, isUser := push.TopicUser(subscriber)
	if isRoom && isUser {
		m.c.Chat.Forget(room, user)
	}
}

const (
	// revocationsEvery is how often the store is asked for revocations while the bus is lost.
	revocationsEvery = time.Second
	// revocationsSeldom is how often it is asked otherwise, in multiples of revocationsEvery. A signal may be lost although
	// this instance hears the bus, if the instance that sent it did not reach the bus.
	revocationsSeldom = 10
	// revocationsAtOnce is the largest number of users in one question: 1,000 take Postgres 2 ms.
	revocationsAtOnce = 1000
)

// watchRevocations closes the sockets of revoked and suspended users whose signal was lost, until ctx ends.
func (m *Manager) watchRevocations(ctx context.Context) {
	for round := 1; sleep(ctx, revocationsEvery); round++ {
		if !m.busLost.Load() && round%revocationsSeldom != 0 {
			continue
		}
		for users := range slices.Chunk(m.registry.users(), revocationsAtOnce) {
			if err := m.closeRevoked(ctx, users); err != nil {
				m.c.Log.Warn("revocations not read", "err", err)
				break
			}
		}
	}
}

// closeRevoked closes those sockets of the users whose token the store refuses. An error means that it could not ask the store.
func (m *Manager) closeRevoked(ctx context.Context, users []string) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	revoked, err := m.c.Chat.Revoked(ctx, users)
	if err != nil {
		return err
	}
	for user, second := range revoked {
		for _, s := range m.registry.of(user) {
			s.mu.Lock()
			refused := s.issued <= second
			s.mu.Unlock()
			if refused {
				m.c.Chat.Forget("", user) // the notice that the cache is outdated was lost, too
				if second == chat.SuspendedSecond {
					s.close(wire.CloseSuspended)
				} else {
					s.close(wire.CloseRevoked)
				}
			}
		}
	}
	return nil
}

// admit stores what the identity says about its user. If KeepName or KeepAvatar is set, the identity takes the stored name or
// avatar instead. The error wraps auth.ErrInvalid if the token was revoked or the user is suspended. For a
// suspended user it also wraps chat.ErrSuspended.
func (m *Manager) admit(ctx context.Context, identity *auth.Identity) error {
	user, err := m.c.Chat.Admit(ctx, identity.User, identity.Issued)
	switch {
	case errors.Is(err, chat.ErrRevoked), errors.Is(err, chat.ErrSuspended):
		return fmt.Errorf("%w: %w", auth.ErrInvalid, err)
	case err != nil:
		return err
	}
	identity.User.User = user
	return nil
}

// ttl returns how long a token is still valid, in whole seconds. It is at least 1, because the reply would omit 0. It
// fits into an int32: Java's SDK reads the field into one, and would refresh without a pause if it were negative.
func (m *Manager) ttl(expires time.Time) uint32 {
	left := expires.Sub(m.c.Now())
	return uint32(min(max(left/time.Second, 1), 1<<31-1))
}

// recheckAfter is how long a user waits in the queue at least, so that delayed signals can arrive first.
const recheckAfter = time.Second

// rechecks is a queue of users whose sessions may differ from the store. For example, the bus may have lost a signal, or this
// instance was not yet subscribed to the user's topic when the user connected. Users are checked one at a time, so
// the rechecks read the store one after the other, however many users wait.
type rechecks struct {
	// static
	check func(ctx context.Context, user string) error
	log   *slog.Logger
	wake  chan struct{} // one slot, never closed

	failing map[string]struct{} // users whose last check failed; owned by run

	mu     sync.Mutex
	queue  []recheck           // guarded by mu; ordered by time
	queued map[string]struct{} // guarded by mu; the users in queue
}

// recheck is one user to be checked.
type recheck struct {
	user string
	at   time.Time
}

func newRechecks(check func(context.Context, string) error, log *slog.Logger) *rechecks {
	return &rechecks{check: check, log: log, wake: make(chan struct{}, 1), failing: map[string]struct{}{}, queued: map[string]struct{}{}}
}

// add queues the users that are not queued already. It never blocks.
func (r *rechecks) add(users ...string) {
	at := time.Now().Add(recheckAfter)
	r.mu.Lock()
	for _, user := range users {
		if _, ok := r.queued[user]; !ok {
			r.queued[user] = struct{}{}
			r.queue = append(r.queue, recheck{user, at})
		}
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run checks one queued user after the other, until ctx ends. If a check fails, the user is queued
// again. run logs the first failure. It logs again when no user is left whose last check failed.
func (r *rechecks) run(ctx context.Context) {
	for {
		next, ok := r.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			}
			continue
		}
		if !sleep(ctx, time.Until(next.at)) {
			return
		}
		r.begin(next.user)
		failed := len(r.failing)
		err := r.check(ctx, next.user)
		if err != nil {
			r.failing[next.user] = struct{}{}
			r.add(next.user)
		} else {
			delete(r.failing, next.user)
		}
		switch {
		case failed == 0 && err != nil:
			r.log.Warn("sessions not compared with the store yet, and tried again", "user", next.user, "err", err)
		case failed > 0 && len(r.failing) == 0:
			r.log.Info("sessions compared with the store again")
		}
	}
}

// begin allows the user to be queued again, because the check that begins now may miss later changes.
func (r *rechecks) begin(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.queued, user)
}

func (r *rechecks) next() (recheck, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		r.queue, r.queued = nil, map[string]struct{}{} // frees the memory of a long queue
		return recheck{}, false
	}
	next := r.queue[0]
	r.queue = r.queue[1:]
	return next, true
}

// sleep waits for d. It returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// recheck readmits a user's sessions (see readmit), and then compares them with the user's rooms in the store.
func (m *Manager) recheck(ctx context.Context, user string) error {
	sessions := m.registry.of(user)
	if len(sessions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	for _, s := range sessions {
		if err := m.readmit(ctx, s); err != nil {
			return err
		}
	}
	memberships, err := m.c.Chat.Rooms(ctx, user)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		s.compare(memberships)
	}
	return nil
}

// Renamed makes the user's open sessions on this instance take the name and the avatar that are stored now (see readmit). If the
// store does not answer, the user is rechecked later.
func (m *Manager) Renamed(ctx context.Context, user string) {
	for _, s := range m.registry.of(user) {
		if err := m.readmit(ctx, s); err != nil {
			m.rechecks.add(user)
			return
		}
	}
}

// readmit closes the session's socket if its token was revoked, or its user suspended, after the token was accepted. Otherwise
// the session takes the name and the avatar that are stored. If its last refresh could not store those of the token, readmit
// stores them first. If the store has them already, it does not, because the host may have changed them since.
func (m *Manager) readmit(ctx context.Context, s *Session) error {
	s.mu.Lock()
	stored := !s.unstored
	identity := auth.Identity{User: chat.Profile{User: s.user, KeepName: s.keepName || stored, KeepAvatar: s.keepAvatar || stored}, Issued: time.Unix(s.issued, 0)}
	s.mu.Unlock()
	err := m.admit(ctx, &identity)
	switch {
	case errors.Is(err, chat.ErrSuspended):
		s.close(wire.CloseSuspended)
		return nil
	case errors.Is(err, auth.ErrInvalid):
		s.close(wire.CloseRevoked)
		return nil
	}
	if err == nil {
		s.mu.Lock()
		if s.issued == identity.Issued.Unix() { // else a newer token has come meanwhile
			s.user, s.unstored = identity.User.User, false
		}
		s.mu.Unlock()
	}
	return err
}

// compare makes the session apply the signals that it must have missed. If the session is not open, compare does nothing. Before
// each signal is applied, the standing is read again, so a concurrent change does no harm.
func (s *Session) compare(memberships []chat.Membership) {
	s.mu.Lock()
	apply := s.phase == open && s.signals.add(s.phase, s.m.missedLocked(s, memberships)...)
	s.mu.Unlock()
	if apply {
		s.applySignals()
	}
}

// missedLocked returns the signals that the session must have missed. It also drops the user's standings in these rooms from
// the cache of package chat.
func (m *Manager) missedLocked(s *Session, memberships []chat.Membership) (missed []push.Signal) {
	topics := s.conn.Topics()
	for _, in := range memberships {
		topic := push.RoomTopic(in.Room.ID)
		i := slices.Index(topics, topic)
		if i >= 0 {
			topics[i] = ""
		}
		if i < 0 || s.conn.Ended(topic) {
			missed = append(missed, push.EnteredSignal(in))
		}
	}
	for _, topic := range topics {
		if room, ok := wire.ChannelRoom(topic); ok {
			missed = append(missed, push.Signal{Room: room})
		}
	}
	for _, sig := range missed {
		m.c.Chat.Forget(sig.Room, s.user.ID)
	}
	return missed
}

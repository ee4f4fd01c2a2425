package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// Config holds the services, callbacks and limits that the server gives to package session. Every pointer, interface
// and function must be set.
type Config struct {
	Hub      *hub.Hub // has the connections of the sessions
	Chat     *chat.Service
	Packets  *redpacket.Service
	Commands *api.Commands
	Presence Presence
	Errors   Errors

	// Verify returns the identity that a token proves. It is auth.Verifier.Verify.
	Verify func(ctx context.Context, token string) (auth.Identity, error)
	// AcquireConnect waits until another connect command may run. The caller must call release when the command has
	// ended.
	AcquireConnect func(ctx context.Context) (release func(), err error)
	// Observe records an answered command in the metrics; code 0 means no error.
	Observe func(method string, code wire.Code, took time.Duration)

	Node          string // name of this instance
	Alone         bool   // this is the only instance
	Paced         bool   // the rate of each connection is limited to api.CommandsPerSecond
	Version       string
	Currency      wire.Currency
	Limits        wire.Limits
	PendingAfter  time.Duration // time after which a grab whose commit is awaited is answered "pending"
	ConnectWithin time.Duration // time allowed from the upgrade to the connect command
	RefreshGrace  time.Duration // time from the expiry of a token to the close of its sockets
	Now           func() time.Time
	Log           *slog.Logger
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
	// Failure returns the error as a client receives it. It logs the error if the client cannot have caused it.
	Failure(err error) wire.Error
}

// Manager creates sessions and holds the open ones of this instance. It implements hub.Peers.
type Manager struct {
	// static
	c     Config
	start time.Time // the rate limits of connections use times since start

	registry registry
	rechecks *rechecks
}

// NewManager returns a manager without sessions.
func NewManager(c Config) *Manager {
	m := &Manager{c: c, start: c.Now(), registry: registry{first: map[string]*Session{}}}
	m.rechecks = newRechecks(m.recheck, c.Log)
	return m
}

// NewSession returns the session for a connection that the hub attaches. upgrade is the identity from the upgrade
// request; if it is nil, the connect command must have a token.
func (m *Manager) NewSession(conn *hub.Conn, upgrade *auth.Identity) *Session {
	s := &Session{m: m, conn: conn, upgrade: upgrade}
	s.awaitConnect()
	return s
}

// Run rechecks sessions until ctx ends.
func (m *Manager) Run(ctx context.Context) { m.rechecks.run(ctx) }

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
	case n.Moved == nil:
		return
	}
	m.c.Chat.Forget(n.Moved.Room, n.Moved.User)
	if user := n.Moved.User; user != "" && len(m.registry.of(user)) > 0 { // the bus may have lost the signal to these sessions
		m.rechecks.add(user)
	}
}

// BusLost implements hub.Peers. When the bus works again, it queues all users for a comparison with the store, because
// signals may have been lost and are not sent again.
func (m *Manager) BusLost(lost bool) {
	m.c.Chat.SetDisconnected(lost)
	if !lost {
		m.rechecks.add(m.registry.users()...)
	}
}

// admit records the user of a token in the store. It returns auth.ErrInvalid if the token was revoked.
func (m *Manager) admit(ctx context.Context, identity auth.Identity) error {
	err := m.c.Chat.Admit(ctx, identity.User, identity.Issued)
	if errors.Is(err, chat.ErrRevoked) {
		return fmt.Errorf("%w: %w", auth.ErrInvalid, err)
	}
	return err
}

// ttl returns how long a token is still valid, in whole seconds. It is at least 1, because the reply would omit 0. It
// fits into an int32: Java's SDK reads the field into one, and would refresh without a pause if it were negative.
func (m *Manager) ttl(expires time.Time) uint32 {
	left := expires.Sub(m.c.Now())
	return uint32(min(max(left/time.Second, 1), 1<<31-1))
}

package presence

import (
	"context"
	"log/slog"
	"sync"

	"hongbao/chat"
)

// Options configures a Tracker. All fields are required.
type Options struct {
	Directory  chat.Presence
	MaxSockets int // allowed per user, over all instances
	// CloseSocket closes a socket of the user, whichever instance it is on.
	CloseSocket func(user, socket string)
	// Announce tells the rooms of the users that these users came online (true) or went offline (false).
	Announce func(ctx context.Context, users []string, online bool) error
	// Paused reports whether announcements must wait, because many clients are reconnecting.
	Paused func() bool
	Log    *slog.Logger
}

// Tracker records the sockets of this instance in the presence directory, one change after the other. It announces to
// their rooms the users that come online or go offline. It is safe for concurrent use.
type Tracker struct {
	// static
	o         Options
	announcer *announcer
	wake      chan struct{} // one slot, never closed

	mu    sync.Mutex
	queue []socketChange // guarded by mu; never longer than the number of sockets opened since the directory last answered
}

// socketChange is the opening or closing of a socket.
type socketChange struct {
	user, socket string
	closed       bool
}

// New returns a Tracker that does nothing until Run is called.
func New(o Options) *Tracker {
	return &Tracker{o: o, announcer: newAnnouncer(o), wake: make(chan struct{}, 1)}
}

// SocketOpened records a new socket of the user. It never blocks.
func (t *Tracker) SocketOpened(user, socket string) { t.add(socketChange{user: user, socket: socket}) }

// SocketClosed records the end of a socket that was passed to SocketOpened. It never blocks.
func (t *Tracker) SocketClosed(user, socket string) {
	t.add(socketChange{user: user, socket: socket, closed: true})
}

func (t *Tracker) add(c socketChange) {
	t.mu.Lock()
	t.queue = append(t.queue, c)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run forwards changes to the directory and announces users until ctx ends. Changes that are still queued then are
// dropped, because the directory forgets all sockets of an instance that stops.
func (t *Tracker) Run(ctx context.Context) {
	var announcing sync.WaitGroup
	announcing.Go(func() { t.announcer.run(ctx) })
	defer announcing.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		t.mu.Lock()
		queue := t.queue
		t.queue = nil
		t.mu.Unlock()
		for _, c := range queue {
			if c.closed {
				t.leave(ctx, c.user, c.socket)
			} else {
				t.enter(ctx, c.user, c.socket)
			}
		}
	}
}

// enter adds a socket to the directory. If that fails, Presence.Run adds it when it next renews the leases.
func (t *Tracker) enter(ctx context.Context, user, socket string) {
	surplus, first, err := t.o.Directory.Enter(ctx, user, socket, t.o.MaxSockets)
	if err != nil {
		t.o.Log.Debug("presence enter failed, the next lease renewal repeats it", "err", err)
	}
	if first {
		t.announcer.cameOnline(user)
	}
	for _, old := range surplus {
		t.o.CloseSocket(user, old)
	}
}

// leave removes a socket from the directory. If that fails, the socket's lease expires.
func (t *Tracker) leave(ctx context.Context, user, socket string) {
	last, err := t.o.Directory.Leave(ctx, user, socket)
	if err != nil {
		t.o.Log.Debug("presence leave failed, the lease will expire", "err", err)
	}
	if last {
		t.announcer.wentOffline(user)
	}
}

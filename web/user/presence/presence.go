package presence

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

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

// Tracker records the sockets of this instance in the presence directory, one change after the other. When a user comes online or
// goes offline, it announces that to the user's rooms. It is safe for concurrent use.
type Tracker struct {
	// static
	o         Options
	announcer *announcer
	wake      chan struct{} // one slot, never closed

	mu sync.Mutex
	// Guarded by mu: the changes since Run last took the queue. A socket that was opened and closed since then is in none of them. So there are at most
	// twice as many as sockets are open now or were open then.
	queue   []socketChange
	opened  map[string]int // guarded by mu; by socket, the index in queue of its opening
	dropped int            // guarded by mu; empty places in queue
}

// socketChange is the opening or closing of a socket.
type socketChange struct {
	user, socket string
	closed       bool
}

// New returns a Tracker that only queues changes until Run is called.
func New(o Options) *Tracker {
	return &Tracker{o: o, announcer: newAnnouncer(o), wake: make(chan struct{}, 1), opened: map[string]int{}}
}

// SocketOpened records a new socket of the user. It never blocks.
func (t *Tracker) SocketOpened(user, socket string) { t.add(socketChange{user: user, socket: socket}) }

// SocketClosed records the end of a socket that was passed to SocketOpened. It never blocks.
func (t *Tracker) SocketClosed(user, socket string) {
	t.add(socketChange{user: user, socket: socket, closed: true})
}

func (t *Tracker) add(c socketChange) {
	t.mu.Lock()
	if i, queued := t.opened[c.socket]; queued && c.closed {
		t.dropLocked(i)
	} else {
		if !c.closed {
			t.opened[c.socket] = len(t.queue)
		}
		t.queue = append(t.queue, c)
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// dropLocked removes the opening of a socket from the queue. It leaves the place empty, and removes the empty places once they are the majority.
func (t *Tracker) dropLocked(i int) {
	delete(t.opened, t.queue[i].socket)
	t.queue[i] = socketChange{}
	if t.dropped++; 2*t.dropped <= len(t.queue) {
		return
	}
	t.queue = slices.DeleteFunc(t.queue, func(c socketChange) bool { return c == socketChange{} })
	t.dropped = 0
	for i, c := range t.queue {
		if !c.closed {
			t.opened[c.socket] = i
		}
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
		t.queue, t.opened, t.dropped = nil, map[string]int{}, 0
		t.mu.Unlock()
		for _, c := range queue {
			switch {
			case c == socketChange{}:
			case c.closed:
				t.leave(ctx, c.user, c.socket)
			default:
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

const (
	// offlineDelay is how long a user must have no socket before they are announced as offline. A reconnect to this instance
	// within this time is not announced at all; a reconnect to another one is announced there as coming online.
	offlineDelay = 2 * time.Second
	// maxQueued limits the users that wait to be announced. Users over the limit are not announced; clients still see
	// them when they request the presence.
	maxQueued = 4096
	// maxPerCall limits the users in one call of Announce.
	maxPerCall = 1000
	// pausePoll is the interval at which Paused is called while it returns true.
	pausePoll = 100 * time.Millisecond
	// announceTimeout bounds the announcement of at most maxPerCall users, with the read of the directory before it.
	announceTimeout = 15 * time.Second
)

// announcer announces to rooms which members come online and go offline. It waits while Paused returns true: when many
// clients reconnect at once, announcing all users to each other would cost more than the connects.
type announcer struct {
	// static
	o    Options
	wake chan struct{} // one slot, never closed

	mu      sync.Mutex           // guards the following
	online  []string             // users to announce as online
	offline []offlineUser        // users to announce as offline, ordered by time
	since   map[string]time.Time // by user in offline that has not come back: when the user went offline
}

// offlineUser is a user that lost its last socket at the given time. The user may have come back since.
type offlineUser struct {
	user  string
	since time.Time
}

func newAnnouncer(o Options) *announcer {
	return &announcer{o: o, wake: make(chan struct{}, 1), since: map[string]time.Time{}}
}

// cameOnline queues the user to be announced as online. If the user is still queued as offline, cameOnline only cancels that
// announcement. If the queue is full, the user is not announced. cameOnline never blocks.
func (a *announcer) cameOnline(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.since[user]; ok {
		delete(a.since, user)
		return
	}
	if len(a.online)+len(a.offline) < maxQueued {
		a.online = append(a.online, user)
		a.signal()
	}
}

// wentOffline queues the user to be announced as offline. If the queue is full, the user is not announced. It never blocks.
func (a *announcer) wentOffline(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.online)+len(a.offline) < maxQueued {
		now := time.Now()
		a.offline, a.since[user] = append(a.offline, offlineUser{user, now}), now
		a.signal()
	}
}

func (a *announcer) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run announces the queued users until ctx ends.
func (a *announcer) run(ctx context.Context) {
	for {
		for a.o.Paused() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pausePoll):
			}
		}
		users, online, wait := a.next()
		if len(users) > 0 {
			a.announce(ctx, users, online)
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		case <-due:
		}
	}
}

// next removes and returns the users to announce now; all are online or all offline. If there are none, it returns the
// wait until the next offline user is due, or 0 if no user is queued.
func (a *announcer) next() (users []string, online bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := min(len(a.online), maxPerCall); n > 0 {
		users, a.online = a.online[:n], a.online[n:]
		return users, true, 0
	}
	for len(a.offline) > 0 && len(users) < maxPerCall {
		first := a.offline[0]
		if a.since[first.user].Equal(first.since) { // false: the user has come back since
			if wait = offlineDelay - time.Since(first.since); wait > 0 {
				return users, false, wait
			}
			delete(a.since, first.user)
			users = append(users, first.user)
		}
		a.offline = a.offline[1:]
	}
	if len(a.offline) == 0 {
		a.online, a.offline = nil, nil
	}
	return users, false, 0
}

// announce announces the users. It leaves out offline users that have a socket again, on whichever instance. If the directory
// cannot be read, it announces no offline user.
func (a *announcer) announce(ctx context.Context, users []string, online bool) {
	ctx, cancel := context.WithTimeout(ctx, announceTimeout)
	defer cancel()
	if !online {
		elsewhere, err := a.o.Directory.Online(ctx, users)
		if err != nil {
			return
		}
		var offline []string
		for i, user := range users {
			if !elsewhere[i] {
				offline = append(offline, user)
			}
		}
		users = offline
	}
	if err := a.o.Announce(ctx, users, online); err != nil {
		a.o.Log.Debug("presence announcement failed", "users", len(users), "online", online, "err", err)
	}
}

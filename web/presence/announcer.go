package presence

import (
	"context"
	"sync"
	"time"
)

const (
	// offlineDelay is how long a user must have no socket before they are announced as offline. So a reconnect is not
	// announced.
	offlineDelay = 2 * time.Second
	// maxQueued limits the users that wait to be announced. Users over the limit are not announced; clients still see
	// them when they request the presence.
	maxQueued = 4096
	// maxPerCall limits the users in one call of Announce.
	maxPerCall = 1000
	// pausePoll is the interval at which Paused is called while it returns true.
	pausePoll = 100 * time.Millisecond
	// announceTimeout bounds one announcement.
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
	since   map[string]time.Time // when each user in offline that has not come back went offline
}

// offlineUser is a user that has had no socket since the given time.
type offlineUser struct {
	user  string
	since time.Time
}

func newAnnouncer(o Options) *announcer {
	return &announcer{o: o, wake: make(chan struct{}, 1), since: map[string]time.Time{}}
}

// cameOnline queues the user to be announced as online. If the user is still queued as offline, it only removes that,
// and nothing is announced. It never blocks.
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

// wentOffline queues the user to be announced as offline. It never blocks.
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

// announce announces the users. It leaves out offline users that have a socket on another instance. If the directory
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

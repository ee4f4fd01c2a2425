package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/web/auth"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// recheckAfter is how long a user waits in the queue, so that delayed signals can arrive first.
const recheckAfter = time.Second

// rechecks is a queue of users whose sessions may have missed a signal. The bus may have lost it, or may not have been
// subscribed yet when the user connected. Users are checked one at a time, so that even for many users the store has
// only one reader.
type rechecks struct {
	// static
	check func(ctx context.Context, user string) error
	log   *slog.Logger
	wake  chan struct{} // one slot, never closed

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
	return &rechecks{check: check, log: log, wake: make(chan struct{}, 1), queued: map[string]struct{}{}}
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

// run checks the queued users, one after the other, until ctx ends. It queues a user again if the check fails.
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
		if err := r.check(ctx, next.user); err != nil {
			r.log.Warn("sessions not compared with the store yet", "user", next.user, "err", err)
			r.add(next.user)
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

// recheck compares a user's sessions with the user's rooms in the store, and closes those whose token was revoked.
func (m *Manager) recheck(ctx context.Context, user string) error {
	sessions := m.registry.of(user)
	if len(sessions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	for _, s := range slices.Backward(sessions) { // oldest first, so that the user's name comes from the newest token
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

// readmit closes the session's socket if its token was revoked after it was accepted.
func (m *Manager) readmit(ctx context.Context, s *Session) error {
	s.mu.Lock()
	identity := auth.Identity{User: s.user, Issued: time.Unix(s.issued, 0)}
	s.mu.Unlock()
	err := m.admit(ctx, identity)
	if errors.Is(err, auth.ErrInvalid) {
		s.close(wire.CloseRevoked)
		return nil
	}
	return err
}

// compare applies the signals that the session must have missed. Before each one is applied, the standing is read
// again, so a concurrent change does no harm.
func (s *Session) compare(memberships []chat.Membership) {
	s.mu.Lock()
	apply := s.phase == open && s.signals.add(s.phase, s.m.missedLocked(s, memberships)...)
	s.mu.Unlock()
	if apply {
		s.applySignals()
	}
}

// missedLocked returns the signals that the session must have missed. It also drops these rooms from the cache of
// package chat.
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

package web

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// recheckAfter is when a user's sessions are compared with the store: when whatever was on its way has come.
const recheckAfter = time.Second

// rechecks are the users whose sessions may have missed a signal, because the bus had lost it, or did not listen to
// them yet when they connected. One after the other, so that a crowd costs the store no more than one reader.
type rechecks struct {
	// static
	check func(ctx context.Context, user string) error
	log   *slog.Logger
	wake  chan struct{} // one slot, never closed

	mu     sync.Mutex
	queue  []recheck           // guarded by mu; by time
	queued map[string]struct{} // guarded by mu; the users in it
}

// recheck is one user's turn.
type recheck struct {
	user string
	at   time.Time
}

func newRechecks(check func(context.Context, string) error, log *slog.Logger) *rechecks {
	return &rechecks{check: check, log: log, wake: make(chan struct{}, 1), queued: map[string]struct{}{}}
}

// add never blocks. Who is in the queue already has his turn still to come.
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

// run works until ctx is done. Who cannot be looked up has another turn, behind the others.
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
		if !pause(ctx, time.Until(next.at)) {
			return
		}
		r.begin(next.user)
		if err := r.check(ctx, next.user); err != nil {
			r.log.Warn("sessions not compared with the store yet", "user", next.user, "err", err)
			r.add(next.user)
		}
	}
}

// begin lets the user have another turn: what happens from now on may be too late for this one.
func (r *rechecks) begin(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.queued, user)
}

func (r *rechecks) next() (recheck, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		r.queue, r.queued = nil, map[string]struct{}{} // a crowd leaves nothing
		return recheck{}, false
	}
	next := r.queue[0]
	r.queue = r.queue[1:]
	return next, true
}

// pause tells whether the time has passed before ctx was done.
func pause(ctx context.Context, d time.Duration) bool {
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

// recheck compares the sessions of a user with the rooms that he is in, and hangs up those whose tokens were revoked.
func (s *Server) recheck(ctx context.Context, user string) error {
	sessions := s.sockets.of(user)
	if len(sessions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	for _, session := range slices.Backward(sessions) { // the newest token says last who he is
		if err := session.readmit(ctx); err != nil {
			return err
		}
	}
	memberships, err := s.chat.Rooms(ctx, user)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		session.compare(memberships)
	}
	return nil
}

// readmit hangs up if the token has been revoked since it was taken.
func (s *session) readmit(ctx context.Context) error {
	s.mu.Lock()
	who := identity{user: s.user, issued: time.Unix(s.issued, 0)}
	s.mu.Unlock()
	err := s.srv.admit(ctx, who)
	if errors.Is(err, errTokenInvalid) {
		s.close(wire.CloseRevoked)
		return nil
	}
	return err
}

// compare has the session obey what it should have been told: each signal is looked up once more before it is obeyed,
// so a change that comes at this moment does no harm.
func (s *session) compare(memberships []chat.Membership) {
	s.mu.Lock()
	mine := s.phase == open && s.waitLocked(s.missedLocked(memberships)...)
	s.mu.Unlock()
	if mine {
		s.obeyWaiting()
	}
}

// missedLocked lists what the session should have been told, and makes old what is remembered of it.
func (s *session) missedLocked(memberships []chat.Membership) (missed []signal) {
	topics := s.conn.Topics()
	for _, m := range memberships {
		topic := roomTopic(m.Room.ID)
		i := slices.Index(topics, topic)
		if i >= 0 {
			topics[i] = ""
		}
		if i < 0 || s.conn.Ended(topic) {
			missed = append(missed, enteredSignal(m))
		}
	}
	for _, topic := range topics {
		if room, ok := wire.ChannelRoom(topic); ok {
			missed = append(missed, signal{Room: room})
		}
	}
	for _, sig := range missed {
		s.srv.chat.Forget(sig.Room, s.user.ID)
	}
	return missed
}

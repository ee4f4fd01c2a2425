package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hongbao/chat"
)

const (
	// goneFor is how long a user has no socket before that is told: one who only changes sockets makes no noise.
	goneFor = 2 * time.Second
	// maxComings bounds those who wait to be told of. Who does not fit is not: whoever asks for the presence sees him.
	maxComings = 4096
)

// comings tells rooms, one after the other, who of their members has come online and who has gone.
type comings struct {
	// static
	presence chat.Presence
	tell     func(ctx context.Context, user string, online bool) error
	log      *slog.Logger
	wake     chan struct{} // one slot, never closed

	mu    sync.Mutex           // guards the following
	came  []string             // users to be told of
	gone  []departure          // by time
	since map[string]time.Time // the last departure of each user in gone who has not come back
}

// departure is a user's who has no socket any more.
type departure struct {
	user string
	at   time.Time
}

func newComings(p chat.Presence, tell func(context.Context, string, bool) error, log *slog.Logger) *comings {
	return &comings{presence: p, tell: tell, log: log, wake: make(chan struct{}, 1), since: map[string]time.Time{}}
}

// noteCame never blocks. One who is back before it was told that he had gone never was.
func (c *comings) noteCame(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.since[user]; ok {
		delete(c.since, user)
		return
	}
	if len(c.came)+len(c.gone) < maxComings {
		c.came = append(c.came, user)
		c.ring()
	}
}

// noteWent never blocks.
func (c *comings) noteWent(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.came)+len(c.gone) < maxComings {
		at := time.Now()
		c.gone, c.since[user] = append(c.gone, departure{user, at}), at
		c.ring()
	}
}

func (c *comings) ring() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run works until ctx is done.
func (c *comings) run(ctx context.Context) {
	for {
		user, online, wait := c.next()
		if user != "" {
			c.say(ctx, user, online)
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-due:
		}
	}
}

// next gives who is to be told of, or how long to wait for that; 0: until somebody is noted.
func (c *comings) next() (user string, online bool, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.came) > 0 {
		user, c.came = c.came[0], c.came[1:]
		return user, true, 0
	}
	for len(c.gone) > 0 {
		d := c.gone[0]
		if !c.since[d.user].Equal(d.at) {
			c.gone = c.gone[1:]
			continue
		}
		if wait = goneFor - time.Since(d.at); wait > 0 {
			return "", false, wait
		}
		c.gone = c.gone[1:]
		delete(c.since, d.user)
		return d.user, false, 0
	}
	c.came, c.gone = nil, nil
	return "", false, 0
}

// say tells that a user has come; that he has gone only if he has not come elsewhere.
func (c *comings) say(ctx context.Context, user string, online bool) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	if !online {
		now, err := c.presence.Online(ctx, []string{user})
		if err != nil || now[0] {
			return
		}
	}
	if err := c.tell(ctx, user, online); err != nil {
		c.log.Debug("rooms not told who came or went", "user", user, "err", err)
	}
}

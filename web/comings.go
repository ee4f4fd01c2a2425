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
	// comingsAtOnce is how many are told of together.
	comingsAtOnce = 1000
	// crowdPause is how long it is before somebody looks again whether a crowd is through.
	crowdPause = 100 * time.Millisecond
)

// comings tells rooms who of their members has come online and who has gone. While a crowd comes back they wait: each of
// them being told of each would cost more than their connects do.
type comings struct {
	// static
	presence chat.Presence
	tell     func(ctx context.Context, users []string, online bool) error
	crowded  func() bool
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

func newComings(p chat.Presence, tell func(context.Context, []string, bool) error, crowded func() bool, log *slog.Logger) *comings {
	return &comings{presence: p, tell: tell, crowded: crowded, log: log, wake: make(chan struct{}, 1), since: map[string]time.Time{}}
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
		for c.crowded() {
			if !pause(ctx, crowdPause) {
				return
			}
		}
		users, online, wait := c.next()
		if len(users) > 0 {
			c.say(ctx, users, online)
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

// next gives those who are to be told of, or how long to wait for that; 0: until somebody is noted.
func (c *comings) next() (users []string, online bool, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := min(len(c.came), comingsAtOnce); n > 0 {
		users, c.came = c.came[:n], c.came[n:]
		return users, true, 0
	}
	for len(c.gone) > 0 && len(users) < comingsAtOnce {
		d := c.gone[0]
		if c.since[d.user].Equal(d.at) {
			if wait = goneFor - time.Since(d.at); wait > 0 {
				return users, false, wait
			}
			delete(c.since, d.user)
			users = append(users, d.user)
		}
		c.gone = c.gone[1:]
	}
	if len(c.gone) == 0 {
		c.came, c.gone = nil, nil
	}
	return users, false, 0
}

// say tells that users have come; that they have gone only of those who have not come elsewhere.
func (c *comings) say(ctx context.Context, users []string, online bool) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	if !online {
		now, err := c.presence.Online(ctx, users)
		if err != nil {
			return
		}
		here := users
		users = nil
		for i, user := range here {
			if !now[i] {
				users = append(users, user)
			}
		}
	}
	if err := c.tell(ctx, users, online); err != nil {
		c.log.Debug("rooms not told who came or went", "users", len(users), "err", err)
	}
}

package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// user is one person with one socket, which he opens again when it is lost.
type user struct {
	crew     *crew
	number   int
	id       string
	token    string
	journals []*journal
	epoch    string // of the journals; of his own goroutine
	line     line   // as he hears it; of his own goroutine

	mu      sync.Mutex
	socket  *socket // guarded by mu; nil while there is none
	next    uint32  // guarded by mu: id of a command
	pending []*call // guarded by mu: said over this socket, in this order
	waiting []*call // guarded by mu: to be said over the next one
	cut     bool    // guarded by mu: we have closed it
}

var errSentAway = errors.New("sent away before the upgrade")

// live is the user's goroutine: it comes at the time that is his, and stays until ctx is done.
func (u *user) live(ctx context.Context, due time.Time) {
	since, times := due, u.crew.board.come
	for attempt := 0; ctx.Err() == nil; {
		since = latest(since, u.crew.gate.pass(ctx))
		came, err := u.visit(ctx, func() { times.note(time.Since(since)) })
		switch {
		case ctx.Err() != nil:
		case came:
			attempt, since, times = 0, time.Now(), u.crew.board.back
		default:
			u.crew.board.failed(word(err))
			pause(ctx, backoff(attempt))
			attempt++
		}
	}
}

// visit is one connection from its beginning to its end. It calls in when the user is in.
func (u *user) visit(ctx context.Context, in func()) (came bool, err error) {
	s, err := dial(ctx, u.crew.target.socketURL(u.number))
	if err != nil {
		return false, err
	}
	defer s.close()
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	_ = s.conn.SetReadDeadline(time.Now().Add(connectPatience))
	err = u.greet(s)
	for err == nil {
		err = s.receive(func(text []byte, now time.Time) error {
			if !u.line.read(text) {
				return fmt.Errorf("no message: %.200q", text)
			}
			if came {
				return u.hear(s, now)
			}
			if err := u.welcomed(ctx); err != nil {
				return err
			}
			came = true
			in()
			return u.open(s)
		})
	}
	if came {
		u.lose()
	}
	return came, err
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// backoff is that of the SDKs: full jitter, from half a second to twenty.
func backoff(attempt int) time.Duration {
	return rand.N(min(500*time.Millisecond<<min(attempt, 10), 20*time.Second))
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// open says what waits.
func (u *user) open(s *socket) error {
	u.crew.board.connected.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.socket, u.cut = s, false
	said := u.waiting
	u.waiting = nil
	for _, c := range said {
		u.write(c)
	}
	return s.conn.SetReadDeadline(time.Time{})
}

// write says a command; u.mu is held. A connection that fails is found out by its reader, and the command said again.
func (u *user) write(c *call) {
	u.next++
	c.id = u.next
	u.pending = append(u.pending, c)
	_ = u.socket.send(c.text)
}

// lose keeps what was not answered, in the order in which it was said.
func (u *user) lose() {
	u.crew.board.connected.Add(-1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.socket = nil
	if !u.cut && !u.crew.over.Load() {
		u.crew.board.lost.Add(1)
	}
	u.crew.board.resent.Add(int64(len(u.pending)))
	u.waiting = append(u.waiting, u.pending...)
	u.pending = nil
}

// hangUp breaks the connection, if there is one.
func (u *user) hangUp() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.socket != nil {
		u.cut = true
		u.socket.close()
	}
}

// say sends a command, now or when there is a connection.
func (u *user) say(c *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.socket == nil {
		u.waiting = append(u.waiting, c)
		return
	}
	u.write(c)
}

// taken is the command that was answered, mostly the oldest; nil: there is none.
func (u *user) taken(id uint32) *call {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.IndexFunc(u.pending, func(c *call) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	c := u.pending[i]
	u.pending = slices.Delete(u.pending, i, i+1)
	return c
}

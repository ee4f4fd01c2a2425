package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// user is one user with one socket. A lost socket is replaced by a new one.
type user struct {
	group    *group
	number   int
	id       string
	token    string
	journals []*journal
	epoch    string  // of the journals; used by the user's own goroutine only
	message  message // the last message; used by the user's own goroutine only

	mu      sync.Mutex
	socket  *socket // guarded by mu; nil while disconnected
	next    uint32  // guarded by mu: id for the next command
	pending []*call // guarded by mu: calls sent over this socket and not answered, in order
	waiting []*call // guarded by mu: calls to be sent over the next socket
	cut     bool    // guarded by mu: this program has closed the socket
}

var errRefused = errors.New("refused before the upgrade")

// live is the user's goroutine. It connects, and connects again after each lost connection, until ctx ends. due is the time at
// which the first connect was due.
func (u *user) live(ctx context.Context, due time.Time) {
	since, times := due, u.group.runStats.connects
	for attempt := 0; ctx.Err() == nil; {
		since = latest(since, u.group.gate.pass(ctx))
		came, err := u.visit(ctx, func() { times.note(time.Since(since)) })
		switch {
		case ctx.Err() != nil:
		case came:
			attempt, since, times = 0, time.Now(), u.group.runStats.reconnects
		default:
			u.group.runStats.failed(word(err))
			pause(ctx, backoff(attempt))
			attempt++
		}
	}
}

// visit is one connection from its beginning to its end. When the server has accepted the connect and all missed entries are
// read, visit calls in. came reports whether it has called in.
func (u *user) visit(ctx context.Context, in func()) (came bool, err error) {
	s, err := dial(ctx, u.group.target.socketURL(u.number))
	if err != nil {
		return false, err
	}
	defer s.close()
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	_ = s.conn.SetReadDeadline(time.Now().Add(connectTimeout))
	err = u.sendConnect(s)
	for err == nil {
		err = s.receive(func(text []byte, now time.Time) error {
			if !u.message.read(text) {
				return fmt.Errorf("not a message: %.200q", text)
			}
			if came {
				return u.receive(s, now)
			}
			if err := u.readConnectReply(ctx); err != nil {
				return err
			}
			came = true
			in()
			return u.open(s)
		})
	}
	if came {
		u.keepUnanswered()
	}
	return came, err
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// backoff returns the pause before a reconnect, much as the SDKs choose it: at random, up to a bound that grows from half a
// second to twenty seconds.
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

// open makes the socket the user's connection and sends the waiting commands.
func (u *user) open(s *socket) error {
	u.group.runStats.connected.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.socket, u.cut = s, false
	sent := u.waiting
	u.waiting = nil
	for _, c := range sent {
		u.write(c)
	}
	return s.conn.SetReadDeadline(time.Time{})
}

// write sends a command; the caller holds u.mu. A failed write needs no handling: the reader notices the broken
// connection, and the command is sent again.
func (u *user) write(c *call) {
	u.next++
	c.id = u.next
	u.pending = append(u.pending, c)
	_ = u.socket.send(c.text)
}

// keepUnanswered makes the unanswered commands wait for the next socket, in the order in which they were sent.
func (u *user) keepUnanswered() {
	u.group.runStats.connected.Add(-1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.socket = nil
	if !u.cut && !u.group.over.Load() {
		u.group.runStats.lost.Add(1)
	}
	u.group.runStats.resent.Add(int64(len(u.pending)))
	u.waiting = append(u.waiting, u.pending...)
	u.pending = nil
}

// disconnect closes the connection, if there is one.
func (u *user) disconnect() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.socket != nil {
		u.cut = true
		u.socket.close()
	}
}

// send sends a command, now or on the next connection.
func (u *user) send(c *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.socket == nil {
		u.waiting = append(u.waiting, c)
		return
	}
	u.write(c)
}

// taken removes and returns the call with this id, mostly the oldest one; nil if there is none.
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

// call is one command of a user. It is sent again, unchanged but for its id, until it is answered, on as many connections as needed.
type call struct {
	id     uint32 // the command's id on the last connection that carried it
	method string
	data   []byte    // JSON
	due    time.Time // when the schedule wanted it to be sent; in a closed loop, when the command before it was answered
	// answered is called at most once, with the time of the answer, on the goroutine that reads the socket. data are valid
	// during the call only. failed is nil on success.
	answered func(now time.Time, data []byte, failed *refusal)
}

// text appends the command as it is sent.
func (c *call) text(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), uint64(c.id), 10)
	b = append(append(b, `,"rpc":{"method":"`...), c.method...)
	b = append(append(b, `","data":`...), c.data...)
	return append(b, "}}"...)
}

// repeatTimeout is how long after its due time a command is repeated, while it gets temporary errors. It also bounds other waits.
const repeatTimeout = 30 * time.Second

// receive handles one message of the server.
func (u *user) receive(s *socket, now time.Time) error {
	l := &u.message
	switch l.kind {
	case ping:
		return s.pong()
	case publication:
		return u.read(l, now)
	case reply, refused:
		c := u.taken(l.id)
		if c == nil {
			return fmt.Errorf("an answer to command %d, which was not sent", l.id)
		}
		u.settle(c, l, now)
	case unsubscribed:
		u.group.checks.fault(checkComplete, "%s is out of %s without having left", u.id, l.channel)
	}
	return nil
}

// read records an entry in the user's journal of its room, and the delay with which it came.
func (u *user) read(l *message, now time.Time) error {
	for _, j := range u.journals {
		if j.room.channel == string(l.channel) {
			j.receive(&l.entry, u.group.checks)
			if due, ok := u.group.dueOf(l.entry.key); ok {
				u.group.runStats.delivered.note(now.Sub(due))
			}
			return nil
		}
	}
	return fmt.Errorf("an entry of %s, in which %s is not a member", l.channel, u.id)
}

// settle passes an answer to the call that it belongs to. After a temporary error, the call is sent again after a
// pause.
func (u *user) settle(c *call, l *message, now time.Time) {
	if l.kind == reply {
		c.answered(now, l.data, nil)
		return
	}
	first, _, _ := strings.Cut(string(l.refusal.word), " ")
	u.group.runStats.failed(first)
	if !l.refusal.temporary || now.Sub(c.due) > repeatTimeout {
		c.answered(now, nil, &l.refusal)
		return
	}
	u.group.runStats.resent.Add(1)
	time.AfterFunc(again, func() { u.send(c) })
}

// again is the pause before a command is sent again after a temporary error.
const again = 500 * time.Millisecond

// word returns a short name of an error, for the counts in the report.
func word(err error) string {
	if errors.Is(err, errRefused) {
		return "sent_away"
	}
	var failure *refusal
	if errors.As(err, &failure) {
		first, _, _ := strings.Cut(string(failure.word), " ")
		return first
	}
	return "not_connected"
}

// Error implements error.
func (r *refusal) Error() string { return string(r.word) }

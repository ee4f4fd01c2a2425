package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/web/wire"
)

// Audience is a number of sockets that all receive the same texts. It counts them, and sends them.
type Audience struct {
	post    func(ctx context.Context) error // sends one text, and returns when the server has acknowledged it
	sockets []*socket
	reading sync.WaitGroup
	reads   atomic.Int64 // reads that brought texts
	example atomic.Pointer[[]byte]

	mu       sync.Mutex
	received []int            // guarded by mu; by socket
	reached  [maxInFlight]int // guarded by mu; at index n modulo the length: number of sockets that have received text n
	all      int              // guarded by mu; texts that every socket has received
	more     chan struct{}    // gets a value when all has grown; one slot
	failed   chan error       // the first socket that failed; one slot
}

// audienceBuffer is the size of a read buffer in bytes.
const audienceBuffer = 32 << 10

// maxInFlight bounds how many texts the fastest socket may be ahead of the slowest.
const maxInFlight = 1024

// receiveTimeout is the longest time in which the last text of a broadcast must reach every socket.
const receiveTimeout = 10 * time.Second

// Greeting is what a socket of an audience sends first, and how it knows that it receives texts from then on. A server sends
// nothing before the greeting.
type Greeting struct {
	Send  []byte
	Ready func(text []byte) bool
}

// NewAudience connects sockets to a server. greeting returns what the n-th socket sends. post sends a text that contains Saying.
// Close ends the sockets, also if NewAudience returned an error.
func NewAudience(ctx context.Context, url string, sockets int, greeting func(n int) (Greeting, error), post func(ctx context.Context) error) (*Audience, error) {
	a := &Audience{post: post, received: make([]int, sockets), more: make(chan struct{}, 1), failed: make(chan error, 1)}
	for n := range sockets {
		g, err := greeting(n)
		if err != nil {
			return a, err
		}
		s, err := dial(ctx, url)
		if err != nil {
			return a, fmt.Errorf("socket %d: %w", n, err)
		}
		s.buffer = make([]byte, audienceBuffer) // more than one write of a server, so that Reads shows how often it writes
		a.sockets = append(a.sockets, s)
		if err := s.greet(g); err != nil {
			return a, fmt.Errorf("socket %d: %w", n, err)
		}
	}
	for n, s := range a.sockets {
		a.reading.Go(func() { a.listen(n, s) })
	}
	return a, nil
}

// greet sends the greeting and reads until it is answered.
func (s *socket) greet(g Greeting) error {
	_ = s.conn.SetReadDeadline(time.Now().Add(connectTimeout))
	if err := s.write(framed(g.Send)); err != nil {
		return err
	}
	for in := false; !in; {
		err := s.receive(func(text []byte, _ time.Time) error {
			in = in || g.Ready(text)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.conn.SetReadDeadline(time.Time{})
}

// RoomAudience makes the users members of one room of the installation. Each text is sent over HTTP by one of them.
func RoomAudience(ctx context.Context, t *Target, users int) (*Audience, error) {
	c, err := newGroup(t, Plan{Scenario: "broadcast", Users: users})
	if err != nil {
		return nil, err
	}
	if err := c.makeRooms(ctx, 1, func(int) *user { return c.users[0] }); err != nil {
		return nil, err
	}
	if err := each(ctx, c.users, func(ctx context.Context, _ int, u *user) error { return c.join(ctx, u, c.rooms[0]) }); err != nil {
		return nil, err
	}
	sent := atomic.Int64{}
	return NewAudience(ctx, t.socketURL(0), users, func(n int) (Greeting, error) {
		greeting, err := c.users[n].connectFrame()
		return Greeting{Send: greeting, Ready: func(text []byte) bool {
			var l message
			return l.read(text) && l.kind == reply && l.id == 1
		}}, err
	}, func(ctx context.Context) error {
		n := int(sent.Add(1))
		return t.command(ctx, c.users[n%users], "send", wire.SendRequest{Room: c.rooms[0].id, Key: c.key("text", n), Text: Saying}, nil)
	})
}

// listen counts the texts of one socket until it is closed.
func (a *Audience) listen(n int, s *socket) {
	for {
		texts := 0
		err := s.receive(func(text []byte, _ time.Time) error {
			switch {
			case bytes.Contains(text, []byte(Saying)):
				if texts++; a.example.Load() == nil {
					example := bytes.Clone(text)
					a.example.Store(&example)
				}
			case string(text) == "{}":
				return s.pong()
			}
			return nil
		})
		if texts > 0 {
			a.count(n, texts)
		}
		if err != nil {
			select {
			case a.failed <- fmt.Errorf("socket %d: %w", n, err):
			default:
			}
			return
		}
	}
}

// count adds texts that a socket has received in one read.
func (a *Audience) count(n, texts int) {
	a.reads.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	grown := false
	for range texts {
		at := &a.reached[a.received[n]%maxInFlight]
		a.received[n]++
		if *at++; *at == len(a.sockets) {
			*at, grown = 0, true
			a.all++
		}
	}
	if grown {
		select {
		case a.more <- struct{}{}:
		default:
		}
	}
}

// Reads returns how many reads of all sockets have brought texts so far.
func (a *Audience) Reads() int64 { return a.reads.Load() }

// Example returns a text as it was received; nil: none has arrived.
func (a *Audience) Example() []byte {
	if example := a.example.Load(); example != nil {
		return *example
	}
	return nil
}

// Broadcast sends texts until the time budget is used up, at least one. At most inFlight of them are sent and not received by
// every socket. It returns the number of texts when each socket has received each of them once, and otherwise an error.
func (a *Audience) Broadcast(ctx context.Context, inFlight int, budget time.Duration) (texts int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.mu.Lock()
	before := a.all
	a.mu.Unlock()
	free := make(chan struct{}, inFlight) // a caller that takes a value may send a text
	for range inFlight {
		free <- struct{}{}
	}
	var sent atomic.Int64
	var callers sync.WaitGroup
	begin := time.Now()
	for range inFlight {
		callers.Go(func() {
			for sent.Load() == 0 || time.Since(begin) < budget {
				select {
				case <-free:
				case <-ctx.Done():
					return
				case <-time.After(receiveTimeout): // check reports what is missing
					return
				}
				if err := a.post(ctx); err != nil {
					stop(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		callers.Wait()
		close(ended)
	}()
	for freed := before; ; {
		a.mu.Lock()
		all := a.all
		a.mu.Unlock()
		for ; freed < all; freed++ {
			select {
			case free <- struct{}{}:
			default: // more texts than were sent: check reports them
			}
		}
		select {
		case <-a.more:
		case err := <-a.failed:
			stop(err)
			<-ended
			return 0, err
		case <-ended:
			return int(sent.Load()), errors.Join(context.Cause(ctx), a.check(ctx, before+int(sent.Load())))
		}
	}
}

// check waits until every socket has received this number of texts since the beginning, and reports a socket that has more.
func (a *Audience) check(ctx context.Context, want int) error {
	err := until(ctx, receiveTimeout, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.all >= want
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, got := range a.received {
		if got != want {
			return fmt.Errorf("socket %d has received %d of %d texts: %w", n, got, want, errors.Join(err, errNotOnce))
		}
	}
	return err
}

var errNotOnce = errors.New("a text was lost or came twice")

// Close closes the sockets.
func (a *Audience) Close() error {
	for _, s := range a.sockets {
		s.close()
	}
	a.reading.Wait()
	return nil
}

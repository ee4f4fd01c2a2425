package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Plan describes one load.
type Plan struct {
	Scenario string        `json:"scenario"`
	Users    int           `json:"users"`
	RoomSize int           `json:"room_size,omitempty"` // chat, storm, and grab with many packets
	Packets  int           `json:"packets,omitempty"`   // grab: number of packets at the same time; 1: hot packets, one after the other; if Closed: number of these
	Shares   int           `json:"shares,omitempty"`    // grab: of each packet
	Rate     float64       `json:"rate,omitempty"`      // requests a second of all users together
	Closed   bool          `json:"closed,omitempty"`    // closed loop: as many requests as users are open, and a request is sent when one is answered
	Missed   int           `json:"missed,omitempty"`    // storm: entries of each room that are sent while all users are disconnected
	Ramp     time.Duration `json:"ramp"`                // time over which the users' first connects are spread
	Duration time.Duration `json:"duration"`
	Seed     uint64        `json:"seed"`
}

// Scenarios are the names of all scenarios.
var Scenarios = []string{"grab", "chat", "idle", "storm"}

// Check returns an error for the first number of the plan that is out of range. It does not check the scenario.
func (p Plan) Check() error {
	for _, number := range []struct {
		name   string
		amount int
	}{{"users", p.Users}, {"room-size", p.RoomSize}, {"packets", p.Packets}, {"shares", p.Shares}} {
		if number.amount < 1 {
			return fmt.Errorf("--%s must be at least 1", number.name)
		}
	}
	switch {
	case p.Duration <= 0:
		return errors.New("--duration must be more than 0")
	case p.Ramp < 0:
		return errors.New("--ramp must not be less than 0")
	case p.Rate <= 0 && !p.Closed:
		return errors.New("--rate must be more than 0")
	case p.Missed < 0:
		return errors.New("--missed must not be less than 0")
	case p.Shares > maxShares:
		return fmt.Errorf("--shares must be at most %d", maxShares)
	}
	return enoughFiles(p.Users)
}

// maxShares is the largest number of shares that a server accepts by default (HONGBAO_MAX_PACKET_COUNT).
const maxShares = 10_000

// spareFiles is how many open files are reserved besides the sockets.
const spareFiles = 256

// enoughFiles returns an error if this process may not open that many sockets.
func enoughFiles(users int) error {
	limit, known := openFiles()
	if known && uint64(users)+spareFiles > limit {
		return fmt.Errorf("%d users need %d open files, this process may have %d: `ulimit -n %d`, or fewer --users",
			users, users+spareFiles, limit, users+spareFiles)
	}
	return nil
}

// schedule sets the time at which each request is due. It does not depend on the answers to earlier requests.
type schedule struct {
	begin time.Time
	every time.Duration
	n     int
}

func newSchedule(begin time.Time, rate float64, duration time.Duration) schedule {
	return schedule{begin: begin, every: time.Duration(float64(time.Second) / rate), n: int(rate * duration.Seconds())}
}

func (s schedule) due(i int) time.Time { return s.begin.Add(time.Duration(i) * s.every) }

// pacers is the number of goroutines that share the schedule, so that a full socket delays only a part of it. The
// latency of a late request counts from its due time.
const pacers = 4

// follow calls send for each request when it is due.
func (s schedule) follow(ctx context.Context, send func(i int, due time.Time)) {
	var all sync.WaitGroup
	for first := range pacers {
		all.Go(func() {
			for i := first; i < s.n; i += pacers {
				due := s.due(i)
				if wait := time.Until(due); wait > 0 {
					pause(ctx, wait)
				}
				if ctx.Err() != nil {
					return
				}
				send(i, due)
			}
		})
	}
	all.Wait()
}

// closedLoop runs a number of lanes. Each lane calls send again when its last request is answered, until the duration
// is over or send returns false. send must call answered when its request is answered. closedLoop returns when the last request
// of each lane is answered, when ctx ends, or repeatTimeout after the duration.
func closedLoop(ctx context.Context, lanes int, duration time.Duration, send func(i int, due time.Time, answered func()) bool) {
	begin := time.Now()
	var next, busy atomic.Int64
	busy.Store(int64(lanes))
	over := make(chan struct{})
	done := func() {
		if busy.Add(-1) == 0 {
			close(over)
		}
	}
	var step func()
	step = func() {
		now := time.Now()
		if ctx.Err() != nil || now.Sub(begin) >= duration || !send(int(next.Add(1)-1), now, step) {
			done()
		}
	}
	for range lanes {
		step()
	}
	select {
	case <-over:
	case <-ctx.Done():
	case <-time.After(duration + repeatTimeout):
	}
}

// gate holds back the connects of users while it is shut, so that all users connect at the same time when it opens. It starts open.
type gate struct {
	mu     sync.Mutex
	shut   chan struct{} // guarded by mu; closed when the gate opens; nil: the gate was never shut
	opened time.Time     // guarded by mu
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = time.Now()
	close(g.shut)
}

// pass waits while the gate is shut, or until ctx ends. It returns the time of the last opening; zero: there was none.
func (g *gate) pass(ctx context.Context) time.Time {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-ctx.Done():
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

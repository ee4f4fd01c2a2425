package load

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/web/wire"
)

// Logf logs a message for the person that waits for the results.
type Logf func(format string, args ...any)

// scenario is what users do in a load.
type scenario interface {
	// prepare creates rooms and other data, and puts the users into the rooms.
	prepare(ctx context.Context, c *group) error
	// play sends the requests of the load. It may return before the last ones are answered: then settle waits for the answers.
	play(ctx context.Context, c *group) error
}

func (p Plan) scenario() (scenario, error) {
	switch p.Scenario {
	case "grab":
		return grab{}, nil
	case "chat":
		return chat{}, nil
	case "idle":
		return idle{}, nil
	case "storm":
		return storm{}, nil
	}
	return nil, fmt.Errorf("unknown scenario %q", p.Scenario)
}

// Run runs a plan. It returns an error if the plan could not be run to its end. Checks that failed are in the result.
func Run(ctx context.Context, t *Target, p Plan, logf Logf) (Result, error) {
	s, err := p.scenario()
	if err != nil {
		return Result{}, err
	}
	c, err := newGroup(t, p)
	if err != nil {
		return Result{}, err
	}
	defer c.endAll()
	logf("%s: preparing %d users", p.Scenario, p.Users)
	if err := s.prepare(ctx, c); err != nil {
		return Result{}, fmt.Errorf("prepare: %w", err)
	}
	m := newMeter(t.Processes)
	r, err := c.perform(ctx, s, m)
	if err != nil {
		return Result{}, err
	}
	c.endAll() // from here on no user changes a journal
	if err := c.verify(ctx); err != nil {
		return Result{}, fmt.Errorf("check: %w", err)
	}
	r.Checks = c.checks.all()
	return r, nil
}

// stillBusy is the longest pause between the last connect and the measured window: a server is still busy with the connects.
const stillBusy = 1500 * time.Millisecond

// perform connects every user. It measures the load until all requests are answered and their entries are received. Then it waits for
// the entries that the server adds. Each wait is bounded, and verify finds what is missing.
func (c *group) perform(ctx context.Context, s scenario, m *meter) (Result, error) {
	if err := c.connectAll(ctx); err != nil {
		return Result{}, err
	}
	came := seen([]*series{c.runStats.connects}, max(c.plan.Ramp, time.Millisecond))
	pause(ctx, min(c.plan.Ramp/4, stillBusy))
	c.runStats.begin()
	m.begin()
	began := time.Now()
	if err := c.target.around(c.plan, func() error { return s.play(ctx, c) }); err != nil {
		return Result{}, err
	}
	c.settle(ctx)
	took := time.Since(began)
	parts := m.end()
	operation, n := c.operations(took)
	for i := range parts {
		parts[i].each(n, took)
	}
	r := Result{
		Plan: c.plan, Seconds: took.Seconds(), Lost: c.runStats.lost.Load(), Resent: c.runStats.resent.Load(),
		Series:    append(came, seen(c.runStats.series(), took)...),
		Operation: operation, Parts: parts, Bottleneck: bottleneck(parts, runtime.NumCPU()),
	}
	r.Errors = c.runStats.failures()
	return r, c.rest(ctx)
}

// runStats holds the figures that all users share.
type runStats struct {
	connects   *series // from the time at which a user's first connect was due to its reply
	reconnects *series // from the loss of a connection, or the start of a storm, to the connect reply
	sent       *series // messages: from due to acknowledged
	delivered  *series // messages: from due to received, once for each member that receives it as a push
	won        *series // grabs that were answered with a share: from due to answered
	notWon     *series // grabs with any other outcome: from due to answered

	connected atomic.Int64
	lost      atomic.Int64 // connections that broke although this program did not close them
	resent    atomic.Int64 // how often commands were sent again, after a lost connection or a temporary error

	mu     sync.Mutex
	errors map[string]int64 // guarded by mu: by word
}

func newRunStats() *runStats {
	return &runStats{
		connects: newSeries("connect"), reconnects: newSeries("reconnect"), sent: newSeries("send acknowledged"),
		delivered: newSeries(Delivered), won: newSeries(Won), notWon: newSeries("grab, not won"),
		errors: map[string]int64{},
	}
}

func (b *runStats) series() []*series {
	return []*series{b.connects, b.reconnects, b.sent, b.delivered, b.won, b.notWon}
}

// begin drops the latencies from before the window. The counts of errors, lost connections and commands sent again go on.
func (b *runStats) begin() {
	for _, s := range b.series() {
		s.clear()
	}
}

// failed counts an error by its word.
func (b *runStats) failed(word string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors[word]++
}

// failures returns the errors by word.
func (b *runStats) failures() map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.errors)
}

// group is the users of one run and all that they share.
type group struct {
	target   *Target
	plan     Plan
	run      string // part of all names and keys, so that two runs against one installation have different ones
	epoch    time.Time
	runStats *runStats
	checks   *checks
	gate     gate

	users      []*user
	rooms      []*room
	packetLogs []*packetLog
	last       map[*room]int64 // by room: seq of the last entry that every user must have at the end

	sent atomic.Int64 // commands of the load
	open atomic.Int64 // commands without an answer
	over atomic.Bool
	stop context.CancelFunc
	all  sync.WaitGroup // of the users' goroutines
}

// newGroup creates the users with their tokens.
func newGroup(t *Target, p Plan) (*group, error) {
	c := &group{
		target: t, plan: p, run: strings.ToLower(rand.Text()[:6]), epoch: time.Now(), runStats: newRunStats(), checks: &checks{}, stop: func() {},
	}
	for i := range p.Users {
		id, token, err := t.Tokens.user(c.run, i)
		if err != nil {
			return nil, err
		}
		c.users = append(c.users, &user{group: c, number: i, id: id, token: token})
	}
	return c, nil
}

// each calls do for every item, at most setupCallers at the same time. After an error it begins no more items, and returns the
// first error.
func each[T any](ctx context.Context, all []T, do func(ctx context.Context, i int, one T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(setupCallers)
	for i, one := range all {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, i, one) })
	}
	return group.Wait()
}

// makeRooms creates n more rooms; owner chooses the owner.
func (c *group) makeRooms(ctx context.Context, n int, owner func(i int) *user) error {
	rooms, before := make([]*room, n), len(c.rooms)
	err := each(ctx, rooms, func(ctx context.Context, i int, _ *room) error {
		u := owner(i)
		var made wire.CreateRoomReply
		name := fmt.Sprintf("load %s %d", c.run, before+i)
		err := c.target.command(ctx, u, "create_room", wire.CreateRoomRequest{Key: c.key("room", before+i), Name: name, Kind: "public"}, &made)
		rooms[i] = newRoom(made.Room.ID, wire.RoomChannel(made.Room.ID))
		rooms[i].owner = u
		return err
	})
	c.rooms = append(c.rooms, rooms...)
	return err
}

// join puts a user into a room, unless the user has made it.
func (c *group) join(ctx context.Context, u *user, r *room) error {
	u.journals = append(u.journals, &journal{room: r, user: u.id})
	if r.owner == u {
		return nil
	}
	return c.target.command(ctx, u, "join", wire.JoinRequest{Room: r.id}, nil)
}

// key returns the idempotency key of a command that prepares the load.
func (c *group) key(what string, i int) string {
	return "load-" + c.run + "-" + what + "-" + strconv.Itoa(i)
}

// timedKey returns the idempotency key of a message. It contains the time at which the message was due, so that every client can
// measure the delay.
func (c *group) timedKey(number int, due time.Time) []byte {
	b := append(make([]byte, 0, 48), c.run...)
	b = strconv.AppendInt(append(b, '.'), int64(number), 10)
	return strconv.AppendInt(append(b, '.'), int64(due.Sub(c.epoch)), 10)
}

// dueOf returns the time in a key that timedKey has made.
func (c *group) dueOf(key []byte) (time.Time, bool) {
	if !bytes.HasPrefix(key, []byte(c.run)) {
		return time.Time{}, false
	}
	since := int64(0)
	for _, digit := range key[bytes.LastIndexByte(key, '.')+1:] {
		since = since*10 + int64(digit-'0')
	}
	return c.epoch.Add(time.Duration(since)), true
}

// connectAll connects every user, spread over the ramp, and returns when all are connected.
func (c *group) connectAll(ctx context.Context) error {
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	begin := time.Now()
	for i, u := range c.users {
		due := begin.Add(c.plan.Ramp * time.Duration(i) / time.Duration(len(c.users)))
		pause(ctx, time.Until(due))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.all.Go(func() { u.live(living, due) })
	}
	return c.awaitConnected(ctx)
}

// awaitConnected waits until every user is connected. After connectAllTimeout it returns an error.
func (c *group) awaitConnected(ctx context.Context) error {
	err := until(ctx, connectAllTimeout, func() bool { return c.runStats.connected.Load() == int64(len(c.users)) })
	if err != nil {
		return fmt.Errorf("only %d of %d users are connected (%v): %w", c.runStats.connected.Load(), len(c.users), c.runStats.failures(), err)
	}
	return nil
}

const connectAllTimeout = 90 * time.Second

// endAll ends every user.
func (c *group) endAll() {
	c.over.Store(true)
	c.stop()
	c.all.Wait()
}

// until checks every 5 ms whether the condition holds. It returns an error if the timeout passes first, or ctx ends.
func until(ctx context.Context, repeatTimeout time.Duration, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, repeatTimeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("condition not met within %v: %w", repeatTimeout, ctx.Err())
		}
	}
	return nil
}

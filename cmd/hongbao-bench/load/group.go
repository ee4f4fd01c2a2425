package load

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/web/wire"
)

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
		err := c.target.command(ctx, u, "create_room", wire.CreateRoomRequest{Key: c.key("room", before+i), Name: name}, &made)
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

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

// crew is the users of one run, and all they share.
type crew struct {
	target *Target
	plan   Plan
	run    string // in all names and keys, so that runs against one installation do not meet
	epoch  time.Time
	board  *board
	checks *checks
	gate   gate

	users []*user
	rooms []*room
	pots  []*pot
	last  map[*room]int64 // what everybody must have heard in the end

	said atomic.Int64 // commands of the load
	open atomic.Int64 // those that are not answered
	over atomic.Bool
	stop context.CancelFunc
	all  sync.WaitGroup // of the users' goroutines
}

// assemble names the users, and gives each his token.
func assemble(t *Target, p Plan) (*crew, error) {
	c := &crew{
		target: t, plan: p, run: strings.ToLower(rand.Text()[:6]), epoch: time.Now(), board: newBoard(), checks: &checks{}, stop: func() {},
	}
	for i := range p.Users {
		id, token, err := t.Passes.user(c.run, i)
		if err != nil {
			return nil, err
		}
		c.users = append(c.users, &user{crew: c, number: i, id: id, token: token})
	}
	return c, nil
}

// each does something for all, many at once.
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

// makeRooms makes so many rooms more; owner says whose.
func (c *crew) makeRooms(ctx context.Context, n int, owner func(i int) *user) error {
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

// join has a user in a room, which he has made himself or goes to now.
func (c *crew) join(ctx context.Context, u *user, r *room) error {
	u.journals = append(u.journals, &journal{room: r, user: u.id})
	if r.owner == u {
		return nil
	}
	return c.target.command(ctx, u, "join", wire.JoinRequest{Room: r.id}, nil)
}

// key of a command that is no part of the load.
func (c *crew) key(what string, i int) string {
	return "load-" + c.run + "-" + what + "-" + strconv.Itoa(i)
}

// timedKey is the key of a message, which tells everybody who reads it when it was due.
func (c *crew) timedKey(number int, due time.Time) []byte {
	b := append(make([]byte, 0, 48), c.run...)
	b = strconv.AppendInt(append(b, '.'), int64(number), 10)
	return strconv.AppendInt(append(b, '.'), int64(due.Sub(c.epoch)), 10)
}

// dueOf is the time in such a key.
func (c *crew) dueOf(key []byte) (time.Time, bool) {
	if !bytes.HasPrefix(key, []byte(c.run)) {
		return time.Time{}, false
	}
	since := int64(0)
	for _, digit := range key[bytes.LastIndexByte(key, '.')+1:] {
		since = since*10 + int64(digit-'0')
	}
	return c.epoch.Add(time.Duration(since)), true
}

// come has everybody connect, spread over the ramp, and returns when all are in.
func (c *crew) come(ctx context.Context) error {
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
	return c.allIn(ctx)
}

// allIn waits until everybody is connected.
func (c *crew) allIn(ctx context.Context) error {
	err := until(ctx, comePatience, func() bool { return c.board.connected.Load() == int64(len(c.users)) })
	if err != nil {
		failures, _ := c.board.failures()
		return fmt.Errorf("only %d of %d users are in (%v): %w", c.board.connected.Load(), len(c.users), failures, err)
	}
	return nil
}

const comePatience = 90 * time.Second

// dismiss ends everybody.
func (c *crew) dismiss() {
	c.over.Store(true)
	c.stop()
	c.all.Wait()
}

// until waits for something to be so. Who waits here is no part of what is measured.
func until(ctx context.Context, patience time.Duration, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %w", patience, ctx.Err())
		}
	}
	return nil
}

package load

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// chat is the scenario in which users send messages in rooms. The seed decides which user sends the next one. In a closed loop,
// each user first sends one message.
type chat struct{}

func (chat) prepare(ctx context.Context, c *group) error { return c.fillRooms(ctx) }

// fillRooms makes rooms of at most the plan's size. Every user joins one.
func (c *group) fillRooms(ctx context.Context) error {
	rooms := (len(c.users) + c.plan.RoomSize - 1) / c.plan.RoomSize
	if err := c.makeRooms(ctx, rooms, func(i int) *user { return c.users[i] }); err != nil {
		return err
	}
	return each(ctx, c.users, func(ctx context.Context, i int, u *user) error { return c.join(ctx, u, c.rooms[i%rooms]) })
}

func (chat) play(ctx context.Context, c *group) error {
	random := rand.New(rand.NewPCG(c.plan.Seed, 0))
	n := max(int(c.plan.Rate*c.plan.Duration.Seconds()), closedPicks)
	speakers := make([]int, n)
	for i := range speakers {
		speakers[i] = random.IntN(len(c.users))
	}
	if c.plan.Closed {
		closedLoop(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			u := c.users[i%len(c.users)]
			if i >= len(c.users) { // the first message of each user comes first; then the seed chooses
				u = c.users[speakers[i%n]]
			}
			c.sendText(u, i, due, answered)
			return true
		})
		return ctx.Err()
	}
	newSchedule(time.Now(), c.plan.Rate, c.plan.Duration).follow(ctx, func(i int, due time.Time) {
		c.sendText(c.users[speakers[i]], i, due, func() {})
	})
	return ctx.Err()
}

// closedPicks is the least number of random users that a closed loop chooses before it repeats the choices.
const closedPicks = 1 << 12

// sendText sends a message of a user.
func (c *group) sendText(u *user, number int, due time.Time, answered func()) {
	r := u.journals[len(u.journals)-1].room
	key := c.timedKey(number, due)
	c.sent.Add(1)
	c.open.Add(1)
	u.send(&call{method: "send", data: textOf(r.id, key), due: due, answered: func(now time.Time, data []byte, failed *refusal) {
		defer answered()
		c.open.Add(-1)
		if failed != nil {
			c.checks.fault(checkAnswered, "%s: send: %s", u.id, failed.word)
			return
		}
		c.runStats.sent.note(now.Sub(due))
		s, ok := readSent(data)
		if !ok || s.seq < 1 || !r.acknowledge(s, key) {
			c.checks.fault(checkAcked, "%s: unexpected reply to a send: %s", u.id, data)
		}
	}})
}

// textOf returns a send request of about 120 bytes.
func textOf(room string, key []byte) []byte {
	return fmt.Appendf(nil, `{"room":%q,"key":%q,"text":%q}`, room, key, Saying)
}

// Saying is the text that users send.
const Saying = "each of us says this much at a time"

// storm is the scenario that breaks all connections. It sends messages in every room while all users are disconnected. Then
// all users reconnect at the same time and recover the messages.
type storm struct{}

func (storm) prepare(ctx context.Context, c *group) error { return c.fillRooms(ctx) }

func (storm) play(ctx context.Context, c *group) error {
	c.gate.close()
	for _, u := range c.users {
		u.disconnect()
	}
	if err := until(ctx, connectAllTimeout, func() bool { return c.runStats.connected.Load() == 0 }); err != nil {
		return err
	}
	err := each(ctx, c.rooms, func(ctx context.Context, i int, r *room) error {
		for n := range c.plan.Missed {
			if err := c.sendTextOverHTTP(ctx, r, i*c.plan.Missed+n); err != nil {
				return err
			}
		}
		return nil
	})
	c.gate.open()
	if err != nil {
		return err
	}
	return c.awaitConnected(ctx)
}

// sendTextOverHTTP sends a message over HTTP.
func (c *group) sendTextOverHTTP(ctx context.Context, r *room, number int) error {
	var answer struct {
		Seq int64  `json:"seq"`
		ID  string `json:"id"`
		At  int64  `json:"at"`
	}
	key := c.timedKey(number, time.Now())
	if err := c.target.command(ctx, r.owner, "send", json.RawMessage(textOf(r.id, key)), &answer); err != nil {
		return err
	}
	if !r.acknowledge(sent{seq: answer.Seq, id: []byte(answer.ID), at: answer.At}, key) {
		c.checks.fault(checkAcked, "entry %d of %s was acknowledged for two messages", answer.Seq, r.id)
	}
	return nil
}

// idle is the scenario in which every user sends one command, and then only answers pings. Each user is in a room of their own,
// and all are in one common room.
type idle struct{}

func (idle) prepare(ctx context.Context, c *group) error {
	if err := c.makeRooms(ctx, 1+len(c.users), func(i int) *user { return c.users[max(i-1, 0)] }); err != nil {
		return err
	}
	return each(ctx, c.users, func(ctx context.Context, i int, u *user) error {
		if err := c.join(ctx, u, c.rooms[0]); err != nil {
			return err
		}
		return c.join(ctx, u, c.rooms[1+i])
	})
}

func (idle) play(ctx context.Context, c *group) error {
	for _, u := range c.users {
		c.look(u)
	}
	if err := until(ctx, repeatTimeout, func() bool { return c.open.Load() == 0 }); err != nil {
		return err
	}
	before := c.runStats.lost.Load()
	pause(ctx, c.plan.Duration)
	c.checks.saw(checkStayed, int64(len(c.users)))
	if lost := c.runStats.lost.Load() - before; lost > 0 {
		c.checks.fault(checkStayed, "%d connections were lost", lost)
	}
	return ctx.Err()
}

// look sends the one command: it reads the history of the user's own room.
func (c *group) look(u *user) {
	c.sent.Add(1)
	c.open.Add(1)
	data := []byte(`{"room":"` + u.journals[len(u.journals)-1].room.id + `","limit":1}`)
	u.send(&call{method: "history", data: data, due: time.Now(), answered: func(_ time.Time, _ []byte, failed *refusal) {
		c.open.Add(-1)
		if failed != nil {
			c.checks.fault(checkAnswered, "%s: history: %s", u.id, failed.word)
		}
	}})
}

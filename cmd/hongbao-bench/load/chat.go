package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// chat has people talk in rooms: any of them at any time, by the seed.
type chat struct{}

func (chat) prepare(ctx context.Context, c *crew) error { return c.fillRooms(ctx) }

// fillRooms makes rooms of the plan's size and has everybody join one.
func (c *crew) fillRooms(ctx context.Context) error {
	rooms := (len(c.users) + c.plan.RoomSize - 1) / c.plan.RoomSize
	if err := c.makeRooms(ctx, rooms, func(i int) *user { return c.users[i] }); err != nil {
		return err
	}
	return each(ctx, c.users, func(ctx context.Context, i int, u *user) error { return c.join(ctx, u, c.rooms[i%rooms]) })
}

func (chat) play(ctx context.Context, c *crew) error {
	random := rand.New(rand.NewPCG(c.plan.Seed, 0))
	n := max(int(c.plan.Rate*c.plan.Duration.Seconds()), closedPicks)
	speakers := make([]int, n)
	for i := range speakers {
		speakers[i] = random.IntN(len(c.users))
	}
	if c.plan.Closed {
		chase(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			u := c.users[i%len(c.users)]
			if i >= len(c.users) { // after the first word it is by the seed
				u = c.users[speakers[i%n]]
			}
			c.speak(u, i, due, answered)
			return true
		})
		return ctx.Err()
	}
	newSchedule(time.Now(), c.plan.Rate, c.plan.Duration).follow(ctx, func(i int, due time.Time) {
		c.speak(c.users[speakers[i]], i, due, func() {})
	})
	return ctx.Err()
}

// closedPicks is how many picks a closed loop goes round in.
const closedPicks = 1 << 12

// speak has a user say something in his room.
func (c *crew) speak(u *user, number int, due time.Time, answered func()) {
	r := u.journals[len(u.journals)-1].room
	key := c.timedKey(number, due)
	c.said.Add(1)
	c.open.Add(1)
	u.say(&call{method: "send", data: textOf(r.id, key), due: due, answered: func(now time.Time, data []byte, failed *refusal) {
		defer answered()
		c.open.Add(-1)
		if failed != nil {
			c.checks.fault(checkAnswered, "%s: send: %s", u.id, failed.word)
			return
		}
		c.board.sent.note(now.Sub(due))
		s, ok := readSent(data)
		if !ok || s.seq < 1 || !r.acknowledge(s, key) {
			c.checks.fault(checkAcked, "%s: an answer to a send: %s", u.id, data)
		}
	}})
}

// textOf is a message of about 200 bytes with all that is around it.
func textOf(room string, key []byte) []byte {
	return fmt.Appendf(nil, `{"room":%q,"key":%q,"text":%q}`, room, key, saying)
}

const saying = "each of us says this much at a time"

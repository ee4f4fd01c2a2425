package load

import (
	"context"
	"fmt"
	"time"
)

// Finished drains a packet that has shares for half of the users, and returns a repeater for each user. A user that has a share gets
// "already" for each further grab, any other user gets "empty".
func Finished(ctx context.Context, t *Target, users int) (already, empty []*Repeater, err error) {
	c, err := newGroup(t, Plan{Scenario: "grab", Users: users, Packets: 1, Shares: users / 2, Closed: true})
	if err != nil {
		return nil, nil, err
	}
	if err := (grab{}).prepare(ctx, c); err != nil {
		return nil, nil, err
	}
	for _, u := range c.users {
		a, err := c.repeater(ctx, u)
		if err != nil {
			return already, empty, err
		}
		g, err := a.ask()
		if err != nil {
			return already, empty, err
		}
		a.answer = nil // the first answer differs from the later ones
		switch g.outcome {
		case "won":
			a.want, already = "already", append(already, a)
		case "empty":
			a.want, empty = "empty", append(empty, a)
		default:
			return already, empty, fmt.Errorf("the outcome of a first grab is %q", g.outcome)
		}
	}
	return already, empty, c.drained(ctx, c.packetLogs[0])
}

// repeater connects a user and returns its repeater, which grabs the first packet.
func (c *group) repeater(ctx context.Context, u *user) (*Repeater, error) {
	s, err := dial(ctx, c.target.socketURL(u.number))
	if err != nil {
		return nil, err
	}
	if err := u.sendConnect(s); err != nil {
		return nil, err
	}
	for in := false; !in && err == nil; {
		err = s.receive(func(text []byte, _ time.Time) error {
			var l message
			in = in || l.read(text) && l.kind == reply && l.id == 1
			return nil
		})
	}
	request := fmt.Appendf(nil, `{"id":%d,"rpc":{"method":"grab","data":{"packet":%q}}}`, repeaterID, c.packetLogs[0].id)
	return &Repeater{socket: s, request: framed(request)}, err
}

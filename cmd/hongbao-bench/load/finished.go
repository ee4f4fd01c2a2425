package load

import (
	"context"
	"fmt"
	"time"
)

// Finished are askers about a packet that is drained: those who have won half of its grabs ask again and hear that, the
// others hear that nothing is left.
func Finished(ctx context.Context, t *Target, users int) (already, empty []*Asker, err error) {
	c, err := assemble(t, Plan{Scenario: "grab", Users: users, Packets: 1, Shares: users / 2, Closed: true})
	if err != nil {
		return nil, nil, err
	}
	if err := (grab{}).prepare(ctx, c); err != nil {
		return nil, nil, err
	}
	for _, u := range c.users {
		a, err := c.asker(ctx, u)
		if err != nil {
			return already, empty, err
		}
		g, err := a.ask()
		if err != nil {
			return already, empty, err
		}
		a.answer = nil // the first one is another
		switch g.outcome {
		case "won":
			a.want, already = "already", append(already, a)
		case "empty":
			a.want, empty = "empty", append(empty, a)
		default:
			return already, empty, fmt.Errorf("a first grab hears %q", g.outcome)
		}
	}
	return already, empty, c.drained(ctx, c.pots[0])
}

// asker is a user's socket, connected.
func (c *crew) asker(ctx context.Context, u *user) (*Asker, error) {
	s, err := dial(ctx, c.target.socketURL(u.number))
	if err != nil {
		return nil, err
	}
	if err := u.greet(s); err != nil {
		return nil, err
	}
	for in := false; !in && err == nil; {
		err = s.receive(func(text []byte, _ time.Time) error {
			var l line
			in = in || l.read(text) && l.kind == reply && l.id == 1
			return nil
		})
	}
	request := fmt.Appendf(nil, `{"id":%d,"rpc":{"method":"grab","data":{"packet":%q}}}`, askedID, c.pots[0].id)
	return &Asker{socket: s, request: framed(request)}, err
}

// Handshakes opens so many sockets, one after the other in some lanes, and closes them.
func Handshakes(ctx context.Context, t *Target, n int) error {
	return each(ctx, make([]struct{}, n), func(ctx context.Context, i int, _ struct{}) error {
		s, err := dial(ctx, t.socketURL(i))
		if err == nil {
			s.close()
		}
		return err
	})
}

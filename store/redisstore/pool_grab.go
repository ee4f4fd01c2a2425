package redisstore

import (
	"context"
	"slices"
	"sync"

	"hongbao/redpacket"
)

// batch is how many attempts or entries one script call takes: it bounds how long Redis is busy with it, and what
// Lua has to unpack.
const batch = 512

// group is the attempts on one packet in one call.
type group struct {
	ref   redpacket.Ref
	seats []seat
}

// seat is the place of an attempt in its ask.
type seat struct {
	ask *ask
	i   int
}

func (s seat) attempt() *redpacket.Attempt { return &s.ask.attempts[s.i] }

// grab answers attempts, each by its own node.
func (p *Pool) grab(ctx context.Context, attempts []redpacket.Attempt, answers []redpacket.Answer) error {
	if len(attempts) == 1 {
		w, err := p.runway(ctx, attempts[0].Ref)
		if err != nil {
			return err
		}
		if ctx.Done() != nil {
			attempts = []redpacket.Attempt{attempts[0]} // he may leave, and take his own along
		}
		a := &ask{attempts: attempts, answers: answers}
		return w.fly(ctx, a)
	}
	asks := map[*runway]*ask{}
	places := map[*ask][]int{}
	for i := range attempts {
		w, err := p.runway(ctx, attempts[i].Ref)
		if err != nil {
			return err
		}
		a := asks[w]
		if a == nil {
			a = &ask{}
			asks[w] = a
		}
		a.attempts = append(a.attempts, attempts[i])
		places[a] = append(places[a], i)
	}
	if err := flyAll(ctx, asks); err != nil {
		return err
	}
	for a, places := range places {
		for i, place := range places {
			answers[place] = a.answers[i]
		}
	}
	return nil
}

// flyAll has several asks of one caller answered.
func flyAll(ctx context.Context, asks map[*runway]*ask) error {
	var wg sync.WaitGroup
	failed := make(chan error, len(asks))
	for w, a := range asks {
		a.answers = make([]redpacket.Answer, len(a.attempts))
		wg.Go(func() {
			if err := w.fly(ctx, a); err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func (p *Pool) runway(ctx context.Context, r redpacket.Ref) (*runway, error) {
	node, err := p.nodes.of(ctx, p.keys(r.Partition).due)
	if err != nil {
		return nil, err
	}
	return p.runways.of(p, node), nil
}

// grabCalls makes the calls that answer the attempts of all asks: packets of one partition share a call.
func (p *Pool) grabCalls(asks []*ask) (calls []*call) {
	if len(asks) == 1 && len(asks[0].attempts) == 1 { // a lone caller: quick
		r := asks[0].attempts[0].Ref
		return []*call{p.grabCall(p.keys(r.Partition), []*group{{ref: r, seats: []seat{{asks[0], 0}}}}, 1)}
	}
	groups := map[string]*group{}
	var partitions [redpacket.Partitions][]*group
	for _, a := range asks {
		for i := range a.attempts {
			r := a.attempts[i].Ref
			g := groups[r.ID]
			if g == nil || len(g.seats) == batch {
				g = &group{ref: r}
				groups[r.ID] = g
				at := uint(r.Partition) % redpacket.Partitions
				partitions[at] = append(partitions[at], g)
			}
			g.seats = append(g.seats, seat{a, i})
		}
	}
	for at, groups := range partitions {
		for len(groups) > 0 {
			n, seats := 0, 0
			for n < len(groups) && (n == 0 || seats+len(groups[n].seats) <= batch) {
				seats += len(groups[n].seats)
				n++
			}
			calls = append(calls, p.grabCall(&p.partitions[at], groups[:n], seats))
			groups = groups[n:]
		}
	}
	return calls
}

func (p *Pool) grabCall(k *partitionKeys, groups []*group, seats int) *call {
	c := newCall(p.scripts.grab, 3+len(groups), 1+3*len(groups)+seats)
	c.groups = groups
	c.add(k.due, k.out, k.acks)
	for _, g := range groups {
		c.add(k.image + g.ref.ID)
	}
	c.add(p.outboxCap)
	for _, g := range groups {
		c.add(g.ref.ID, len(g.seats), g.against())
		for _, s := range g.seats {
			c.add(&s.attempt().User)
			if n := len(c.asks); n == 0 || c.asks[n-1] != s.ask {
				c.asks = append(c.asks, s.ask)
			}
		}
	}
	return c
}

// against is a digit for each attempt, or nothing when nothing is held against any.
func (g *group) against() string {
	if !slices.ContainsFunc(g.seats, func(s seat) bool { return s.attempt().May != redpacket.MayGrab }) {
		return ""
	}
	digits := make([]byte, len(g.seats))
	for i, s := range g.seats {
		digits[i] = '0' + byte(s.attempt().May)
	}
	return string(digits)
}

// answer reads the reply of a grab and fills in the answers.
func (c *call) answer() error {
	if c.groups == nil {
		return nil // an ack has none
	}
	reply, err := c.cmd.Slice()
	r := reader{items: reply, err: err}
	for _, g := range c.groups {
		if taken := r.int(); taken >= 0 {
			g.answer(taken, &r)
		}
	}
	return r.err
}

const (
	lastGranted = redpacket.Granted + 1 // of a code: granted, and it was the last share
	shareFrom   = 16                    // of a code: one share more
)

func (g *group) answer(taken int, r *reader) {
	entry := r.text()
	for _, s := range g.seats {
		code := r.int()
		ans := &s.ask.answers[s.i]
		ans.Decision, ans.Taken = redpacket.Decision(code%shareFrom), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareFrom
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(entry) // there is no entry of a closed one
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareFrom, taken, entry
		}
	}
}

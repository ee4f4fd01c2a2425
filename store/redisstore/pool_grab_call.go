package redisstore

import "hongbao/redpacket"

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

// grabCalls makes the calls that answer the attempts of all asks.
func (p *Pool) grabCalls(asks []*ask) (calls []*call) {
	if len(asks) == 1 && len(asks[0].attempts) == 1 { // a lone caller: quick
		r := asks[0].attempts[0].Ref
		g := &group{ref: r, seats: []seat{{asks[0], 0}}}
		return []*call{p.grabCall([]share{{p.keys(r.Partition), []*group{g}, 1}})}
	}
	var now []share // what the next call is about
	size := 0
	for at, groups := range p.groups(asks) {
		for len(groups) > 0 {
			some := share{keys: &p.partitions[at]}
			for len(groups) > 0 && (size == 0 || size+len(groups[0].seats) <= batch) {
				size += len(groups[0].seats)
				some.add(groups[0])
				groups = groups[1:]
			}
			if some.groups != nil {
				now = append(now, some)
			}
			if now != nil && (len(groups) > 0 || p.nodes.sharded()) {
				calls = append(calls, p.grabCall(now))
				now, size = nil, 0
			}
		}
	}
	if now != nil {
		calls = append(calls, p.grabCall(now))
	}
	return calls
}

// groups gathers the attempts of all asks by packet, and the packets by partition.
func (p *Pool) groups(asks []*ask) (partitions [redpacket.Partitions][]*group) {
	byPacket := map[string]*group{}
	for _, a := range asks {
		for i := range a.attempts {
			r := a.attempts[i].Ref
			g := byPacket[r.ID]
			if g == nil || len(g.seats) == batch {
				g = &group{ref: r}
				byPacket[r.ID] = g
				at := uint(r.Partition) % redpacket.Partitions
				partitions[at] = append(partitions[at], g)
			}
			g.seats = append(g.seats, seat{a, i})
		}
	}
	return partitions
}

// share is what a call has to do with one partition.
type share struct {
	keys   *partitionKeys
	groups []*group
	seats  int
}

func (s *share) add(g *group) {
	s.groups = append(s.groups, g)
	s.seats += len(g.seats)
}

func (p *Pool) grabCall(shares []share) *call {
	keys, room := 0, 1
	for _, s := range shares {
		keys += 3 + len(s.groups)
		room += 2 + len(s.groups) + s.seats
	}
	c := newCall(p.scripts.grab, keys, room)
	for _, s := range shares {
		c.add(s.keys.due, s.keys.out, s.keys.held)
		for _, g := range s.groups {
			c.add(s.keys.image + g.ref.ID)
		}
	}
	c.add(p.outboxCap)
	for _, s := range shares {
		c.groups = append(c.groups, s.groups...)
		c.add(len(s.groups), s.seats)
		for _, g := range s.groups {
			c.add(g.against())
			for _, s := range g.seats {
				c.add(&s.attempt().User)
				if n := len(c.asks); n == 0 || c.asks[n-1] != s.ask {
					c.asks = append(c.asks, s.ask)
				}
			}
		}
	}
	return c
}

// against is a digit for each attempt: what is held against it.
func (g *group) against() any {
	if len(g.seats) == 1 && g.seats[0].attempt().May == redpacket.MayGrab {
		return "0" // the usual, and no garbage
	}
	digits := make([]byte, len(g.seats))
	for i, s := range g.seats {
		digits[i] = '0' + byte(s.attempt().May)
	}
	return string(digits)
}

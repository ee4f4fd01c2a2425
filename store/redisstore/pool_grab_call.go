package redisstore

import "hongbao/redpacket"

// maxCall is the most attempts or entries in one script call. It bounds how long one call keeps Redis busy, and how
// many values Lua has to unpack.
const maxCall = 512

// group holds the attempts on one packet in one call.
type group struct {
	ref       redpacket.Ref
	positions []position
}

// position locates an attempt, and its answer, in a request.
type position struct {
	request *request
	i       int
}

func (p position) attempt() *redpacket.Attempt { return &p.request.attempts[p.i] }

func (p position) answer() *redpacket.Answer { return &p.request.answers[p.i] }

// grabCalls returns the calls that answer the attempts of all requests.
func (p *Pool) grabCalls(requests []*request) (calls []*call) {
	if len(requests) == 1 && len(requests[0].attempts) == 1 { // a single grab: avoid the maps
		r := requests[0].attempts[0].Ref
		g := &group{ref: r, positions: []position{{requests[0], 0}}}
		return []*call{p.grabCall([]grabPortion{{p.keys(r.Partition), []*group{g}, 1}})}
	}
	var portions []grabPortion // of the next call
	size := 0
	for partition, groups := range p.groups(requests) {
		for len(groups) > 0 {
			portion := grabPortion{keys: &p.partitions[partition]}
			for len(groups) > 0 && (size == 0 || size+len(groups[0].positions) <= maxCall) {
				size += len(groups[0].positions)
				portion.add(groups[0])
				groups = groups[1:]
			}
			if portion.groups != nil {
				portions = append(portions, portion)
			}
			if portions != nil && (len(groups) > 0 || p.nodes.sharded()) {
				calls = append(calls, p.grabCall(portions))
				portions, size = nil, 0
			}
		}
	}
	if portions != nil {
		calls = append(calls, p.grabCall(portions))
	}
	return calls
}

// groups collects the attempts of all requests by packet, and the packets by partition. No group exceeds maxCall.
func (p *Pool) groups(requests []*request) (partitions [redpacket.Partitions][]*group) {
	byPacket := map[string]*group{}
	for _, r := range requests {
		for i := range r.attempts {
			ref := r.attempts[i].Ref
			g := byPacket[ref.ID]
			if g == nil || len(g.positions) == maxCall {
				g = &group{ref: ref}
				byPacket[ref.ID] = g
				partition := uint(ref.Partition) % redpacket.Partitions
				partitions[partition] = append(partitions[partition], g)
			}
			g.positions = append(g.positions, position{r, i})
		}
	}
	return partitions
}

// grabPortion is the part of a call that is about one partition.
type grabPortion struct {
	keys     *partitionKeys
	groups   []*group
	attempts int
}

func (s *grabPortion) add(g *group) {
	s.groups = append(s.groups, g)
	s.attempts += len(g.positions)
}

func (p *Pool) grabCall(portions []grabPortion) *call {
	keys, argCount := 0, 1
	for _, s := range portions {
		keys += 3 + len(s.groups)
		argCount += 2 + len(s.groups) + s.attempts
	}
	c := newCall(p.scripts.grab, keys, argCount)
	for _, s := range portions {
		c.add(s.keys.due, s.keys.out, s.keys.held)
		for _, g := range s.groups {
			c.add(s.keys.image + g.ref.ID)
		}
	}
	c.add(p.outboxCap)
	for _, s := range portions {
		c.groups = append(c.groups, s.groups...)
		c.add(len(s.groups), s.attempts)
		for _, g := range s.groups {
			c.add(g.permissions())
			for _, at := range g.positions {
				c.add(&at.attempt().User)
				if n := len(c.requests); n == 0 || c.requests[n-1] != at.request {
					c.requests = append(c.requests, at.request)
				}
			}
		}
	}
	return c
}

// permissions returns one digit for each attempt: its redpacket.May.
func (g *group) permissions() any {
	if len(g.positions) == 1 && g.positions[0].attempt().May == redpacket.MayGrab {
		return "0" // the usual case, without an allocation
	}
	digits := make([]byte, len(g.positions))
	for i, at := range g.positions {
		digits[i] = '0' + byte(at.attempt().May)
	}
	return string(digits)
}

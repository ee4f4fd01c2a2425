package load

import (
	"fmt"
	"sync"
)

// pot is one packet, and what everybody was told of it.
type pot struct {
	id      string
	request []byte // to grab it
	owner   *user
	total   int64
	count   int

	mu      sync.Mutex
	winners map[string]share // guarded by mu: by user
	ranks   []string         // guarded by mu: who has it; those of nobody are empty
	given   int              // guarded by mu: how many anybody has
}

// share of a packet.
type share struct {
	amount int64
	rank   int
}

func newPot(id string, owner *user, total int64, count int) *pot {
	return &pot{id: id, request: []byte(`{"packet":"` + id + `"}`), owner: owner, total: total, count: count}
}

// told notes an answer to a user, and checks it beside all others.
func (p *pot) told(user string, g grabbed, c *checks) {
	switch g.outcome {
	case "won", "already":
		if fault := p.give(user, share{g.amount, g.rank}); fault != "" {
			c.fault(checkShare, "packet %s: %s", p.id, fault)
		}
	case "empty":
		if g.claimed < p.count {
			c.fault(checkLeft, "packet %s: %s hears empty after %d of %d shares", p.id, user, g.claimed, p.count)
		}
	case "expired":
		c.fault(checkLeft, "packet %s: %s hears expired, long before it is", p.id, user)
	}
}

// drained tells whether every share is somebody's.
func (p *pot) drained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given == p.count
}

// give notes a share; what is wrong with it comes back.
func (p *pot) give(user string, s share) (fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.winners == nil {
		p.winners, p.ranks = make(map[string]share, p.count), make([]string, p.count+1)
	}
	before, has := p.winners[user]
	switch {
	case has && before == s:
		return ""
	case has:
		return fmt.Sprintf("%s has %+v, and now %+v", user, before, s)
	case s.rank < 1 || s.rank > p.count || s.amount < 1:
		return fmt.Sprintf("%s has share %d of %d, of %d", user, s.rank, p.count, s.amount)
	case p.ranks[s.rank] != "":
		return fmt.Sprintf("%s and %s both have share %d", p.ranks[s.rank], user, s.rank)
	}
	p.winners[user], p.ranks[s.rank] = s, user
	p.given++
	return ""
}

// add compares what was told with what is stored: the same winners have the same shares, and a drained packet is paid
// out whole. When some were never answered, more may be stored than was told.
func (p *pot) add(stored map[string]share, drained, answered bool, c *checks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for user, s := range stored {
		sum += s.amount
		if told, ok := p.winners[user]; told != s && (ok || answered) {
			c.fault(checkSums, "packet %s: %s was told %+v, %+v is stored", p.id, user, told, s)
		}
	}
	for user, s := range p.winners {
		if _, ok := stored[user]; !ok {
			c.fault(checkSums, "packet %s: %s was told %+v, nothing is stored", p.id, user, s)
		}
	}
	switch {
	case len(stored) > p.count || sum > p.total:
		c.fault(checkSums, "packet %s: %d shares of together %d are stored, it has %d of %d", p.id, len(stored), sum, p.count, p.total)
	case drained && (len(stored) != p.count || sum != p.total):
		c.fault(checkSums, "packet %s: drained with %d shares of together %d, it had %d of %d", p.id, len(stored), sum, p.count, p.total)
	}
}

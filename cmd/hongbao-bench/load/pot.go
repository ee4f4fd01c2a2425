package load

import (
	"fmt"
	"sync"
)

// pot is one packet, and what everybody was told of it.
type pot struct {
	id    string
	owner *user
	total int64
	count int

	mu      sync.Mutex
	winners map[string]share // guarded by mu: by user
	ranks   map[int]string   // guarded by mu: who has it
}

// share of a packet.
type share struct {
	amount int64
	rank   int
}

func newPot(id string, owner *user, total int64, count int) *pot {
	return &pot{id: id, owner: owner, total: total, count: count, winners: map[string]share{}, ranks: map[int]string{}}
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

// given is how many shares anybody has.
func (p *pot) given() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ranks)
}

// give notes a share; what is wrong with it comes back.
func (p *pot) give(user string, s share) (fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, has := p.winners[user]
	holder, taken := p.ranks[s.rank]
	switch {
	case has && before != s:
		return fmt.Sprintf("%s has %+v, and now %+v", user, before, s)
	case taken && holder != user:
		return fmt.Sprintf("%s and %s both have share %d", holder, user, s.rank)
	case s.rank < 1 || s.rank > p.count || s.amount < 1:
		return fmt.Sprintf("%s has share %d of %d, of %d", user, s.rank, p.count, s.amount)
	}
	p.winners[user], p.ranks[s.rank] = s, user
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

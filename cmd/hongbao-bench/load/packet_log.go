package load

import (
	"fmt"
	"sync"
)

// packetLog is one packet of the load, with the shares that its winners were answered.
type packetLog struct {
	id      string
	request []byte // the grab request
	owner   *user
	total   int64
	count   int

	mu      sync.Mutex
	winners map[string]share // guarded by mu: by user
	ranks   []string         // guarded by mu; by rank: the user that has this share; empty: none yet
	given   int              // guarded by mu; number of shares that a user has
}

// share is the share of a winner, as answered or as stored.
type share struct {
	amount int64
	rank   int
}

func newPacketLog(id string, owner *user, total int64, count int) *packetLog {
	return &packetLog{id: id, request: []byte(`{"packet":"` + id + `"}`), owner: owner, total: total, count: count}
}

// record records the share in an answer, if it has one, and checks that the answer does not contradict earlier ones.
func (p *packetLog) record(user string, g grabbed, c *checks) {
	switch g.outcome {
	case "won", "already":
		if fault := p.give(user, share{g.amount, g.rank}); fault != "" {
			c.fault(checkShare, "packet %s: %s", p.id, fault)
		}
	case "empty":
		if g.claimed < p.count {
			c.fault(checkLeft, "packet %s: %s got empty after %d of %d shares", p.id, user, g.claimed, p.count)
		}
	case "expired":
		c.fault(checkLeft, "packet %s: %s got expired long before the deadline", p.id, user)
	}
}

// drained reports whether every share has a user, by the answers so far.
func (p *packetLog) drained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given == p.count
}

// give records a share and returns a fault, if there is one.
func (p *packetLog) give(user string, s share) (fault string) {
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

// add compares the answers with the stored claims. Both must have the same winners and shares, and a drained packet
// must be paid out completely. If some grabs were never answered, SQL may have more claims than were answered.
func (p *packetLog) add(stored map[string]share, drained, answered bool, c *checks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for user, s := range stored {
		sum += s.amount
		if record, ok := p.winners[user]; record != s && (ok || answered) {
			c.fault(checkSums, "packet %s: %s got the answer %+v, %+v is stored", p.id, user, record, s)
		}
	}
	for user, s := range p.winners {
		if _, ok := stored[user]; !ok {
			c.fault(checkSums, "packet %s: %s got the answer %+v, nothing is stored", p.id, user, s)
		}
	}
	switch {
	case len(stored) > p.count || sum > p.total:
		c.fault(checkSums, "packet %s: %d shares with a sum of %d are stored, it has %d with a sum of %d", p.id, len(stored), sum, p.count, p.total)
	case drained && (len(stored) != p.count || sum != p.total):
		c.fault(checkSums, "packet %s: drained with %d shares and a sum of %d, it had %d and %d", p.id, len(stored), sum, p.count, p.total)
	}
}

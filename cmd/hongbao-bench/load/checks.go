package load

import (
	"fmt"
	"sync"
)

// The checks, as they are named to people.
const (
	checkOrder    = "each journal in order"
	checkOnce     = "no entry twice in a journal"
	checkComplete = "each journal complete"
	checkAgree    = "all journals agree"
	checkStored   = "journals hold what is stored"
	checkAcked    = "what was acknowledged is there once"
	checkShare    = "no share to two, no two shares to one"
	checkLeft     = "nobody sent away while shares are left"
	checkSums     = "winners and sums as stored"
	checkAnswered = "every command answered"
	checkStayed   = "idle sockets stay"
	checkBooks    = "the books balance"
)

// Check is one thing that must hold, and what was seen when it did not.
type Check struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Seen   int64  `json:"seen"`   // how much was looked at
	Faults int64  `json:"faults"` // how often it did not hold
	Detail string `json:"detail,omitempty"`
}

// checks are noted by everybody.
type checks struct {
	mu   sync.Mutex
	list []*Check // guarded by mu, in the order in which they came
}

// saw notes that so much was looked at.
func (c *checks) saw(name string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named(name).Seen += n
}

// fault notes that a check did not hold. The first is told in words.
func (c *checks) fault(name, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.named(name)
	if one.Faults++; one.Faults == 1 {
		one.Held, one.Detail = false, fmt.Sprintf(format, args...)
	}
}

func (c *checks) named(name string) *Check {
	for _, one := range c.list {
		if one.Name == name {
			return one
		}
	}
	one := &Check{Name: name, Held: true}
	c.list = append(c.list, one)
	return one
}

// all checks as they stand.
func (c *checks) all() []Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Check, len(c.list))
	for i, one := range c.list {
		list[i] = *one
	}
	return list
}

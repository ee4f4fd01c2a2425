package load

import (
	"fmt"
	"sync"
)

// Names of the checks in reports.
const (
	checkOrder    = "each journal in order"
	checkOnce     = "no entry twice in a journal"
	checkComplete = "each journal complete"
	checkAgree    = "all journals agree"
	checkStored   = "journals equal the stored entries"
	checkAcked    = "acknowledged entries are stored once"
	checkShare    = "one user a share, one share a user"
	checkLeft     = "no refusal while shares are left"
	checkSums     = "winners and sums as stored"
	checkAnswered = "every command answered"
	checkStayed   = "idle sockets stay"
	checkBooks    = "the books balance"
)

// Check is a condition that must hold, with the number of its violations and the first one in words.
type Check struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Seen   int64  `json:"seen"`   // items that were checked
	Faults int64  `json:"faults"` // violations of the condition
	Detail string `json:"detail,omitempty"`
}

// checks collects the checks of a run.
type checks struct {
	mu   sync.Mutex
	list []*Check // guarded by mu; in the order of their first use
}

// saw counts n checked items of a check.
func (c *checks) saw(name string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named(name).Seen += n
}

// fault counts a violation of a check. The words of the first one are kept.
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

// all returns the checks so far.
func (c *checks) all() []Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Check, len(c.list))
	for i, one := range c.list {
		list[i] = *one
	}
	return list
}

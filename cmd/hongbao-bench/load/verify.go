package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hongbao/web/wire"
)

// settle waits until every command is answered, and every user has received each entry that any user has received or that was
// acknowledged. If that takes too long, settle returns nevertheless, and verify reports the missing answers and entries.
func (c *group) settle(ctx context.Context) {
	_ = until(ctx, 2*repeatTimeout, func() bool { return c.open.Load() == 0 })
	last := map[*room]int64{}
	for _, r := range c.rooms {
		last[r] = r.last()
	}
	c.await(ctx, last)
}

// rest waits until every user has received all stored entries, but at most repeatTimeout: verify finds what is missing. Some
// entries are not sent by users: a drained packet adds one.
func (c *group) rest(ctx context.Context) error {
	err := each(ctx, c.packetLogs, func(ctx context.Context, _ int, p *packetLog) error {
		if !p.drained() {
			return nil
		}
		return c.drained(ctx, p)
	})
	if err != nil {
		return err
	}
	c.last = map[*room]int64{}
	var mu sync.Mutex
	err = each(ctx, c.rooms, func(ctx context.Context, _ int, r *room) error {
		last, err := c.target.last(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		c.last[r] = last
		return err
	})
	c.await(ctx, c.last)
	return err
}

// drained waits until all shares of the packet are taken. After repeatTimeout it returns an error.
func (c *group) drained(ctx context.Context, p *packetLog) error {
	for began := time.Now(); time.Since(began) < repeatTimeout; pause(ctx, again/5) {
		var now wire.PacketReply
		if err := c.target.command(ctx, p.owner, "packet", wire.PacketRequest{Packet: p.id}, &now); err != nil {
			return err
		}
		if now.State.Status == "drained" {
			return nil
		}
	}
	return fmt.Errorf("packet %s is not drained", p.id)
}

// await waits until all users are connected and have received the last entry of each of their rooms, but at most
// repeatTimeout.
func (c *group) await(ctx context.Context, last map[*room]int64) {
	_ = until(ctx, repeatTimeout, func() bool {
		if c.runStats.connected.Load() != int64(len(c.users)) {
			return false
		}
		for _, u := range c.users {
			for _, j := range u.journals {
				if j.last.Load() < last[j.room] {
					return false
				}
			}
		}
		return true
	})
}

// verify makes the checks that need the whole run: journals are complete and equal the stored entries, packets add up,
// the books are right. Call it after the users have ended. What it finds is recorded in c.checks; an error means that a
// check could not be made.
func (c *group) verify(ctx context.Context) error {
	if n := c.open.Load(); n > 0 {
		c.checks.fault(checkAnswered, "%d commands were never answered", n)
	}
	c.checks.saw(checkAnswered, c.sent.Load())
	c.verifyJournals()
	if err := each(ctx, c.rooms, func(ctx context.Context, _ int, r *room) error { return c.compare(ctx, r) }); err != nil {
		return err
	}
	if len(c.packetLogs) > 0 {
		if err := c.addUp(ctx); err != nil {
			return err
		}
		n := int64(len(c.packetLogs))
		c.checks.saw(checkShare, n)
		c.checks.saw(checkLeft, n)
		c.checks.saw(checkSums, n)
	}
	return c.balance(ctx)
}

func (c *group) verifyJournals() {
	var entries int64
	for _, u := range c.users {
		for _, j := range u.journals {
			entries += j.last.Load()
			j.finish(c.last[j.room], c.checks)
		}
	}
	for _, name := range []string{checkOrder, checkOnce, checkComplete, checkAgree} {
		c.checks.saw(name, entries)
	}
}

// compare reads a room's history from the server. It must equal the entries that users received, and have each
// acknowledged entry once.
func (c *group) compare(ctx context.Context, r *room) error {
	var stored []mark
	for {
		page, err := c.target.history(ctx, r.owner, r.id, int64(len(stored)))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			if page[i].seq != int64(len(stored))+1 {
				c.checks.fault(checkStored, "the history of %s has entry %d after %d", r.id, page[i].seq, len(stored))
			}
			stored = append(stored, page[i].mark())
		}
	}
	r.compare(stored, c.checks)
	return nil
}

// balance lets the installation check its books.
func (c *group) balance(ctx context.Context) error {
	a, err := c.target.audit(ctx)
	if err != nil {
		return err
	}
	c.checks.saw(checkBooks, int64(a.Transfers))
	if !a.OK || a.Funded != a.InWallets+a.InPackets {
		c.checks.fault(checkBooks, "funded %d, in wallets %d, in packets %d, differences %v", a.Funded, a.InWallets, a.InPackets, a.Differences)
	}
	return nil
}

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

// addUp compares the answers with the stored claims.
func (c *group) addUp(ctx context.Context) error {
	answered := c.open.Load() == 0
	return each(ctx, c.packetLogs, func(ctx context.Context, _ int, p *packetLog) error {
		stored := map[string]share{}
		for rank := 0; ; {
			var page wire.PacketReply
			if err := c.target.command(ctx, p.owner, "packet", wire.PacketRequest{Packet: p.id, AfterRank: rank, Limit: 100}, &page); err != nil {
				return err
			}
			for _, claim := range page.Claims {
				if _, twice := stored[claim.User.ID]; twice || claim.Rank <= rank {
					c.checks.fault(checkShare, "packet %s: %s is stored with share %d after share %d", p.id, claim.User.ID, claim.Rank, rank)
				}
				stored[claim.User.ID], rank = share{claim.Amount, claim.Rank}, claim.Rank
			}
			if !page.More {
				p.add(stored, page.State.Status == "drained", answered, c.checks)
				return nil
			}
			if len(page.Claims) == 0 {
				return errors.New("an empty page of claims says that more follow")
			}
		}
	})
}

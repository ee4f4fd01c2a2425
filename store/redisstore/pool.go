package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/redpacket/meter"
)

// poolOptions are the options of a Pool.
type poolOptions struct {
	OutboxCap int         // most claims in the outbox of one partition; default 10,000
	Checks    *nodeChecks // of the client's nodes; nil: every node may be used
}

// Pool implements redpacket.Pool.
type Pool struct {
	// immutable after newPool
	nodes      nodes
	scripts    poolScripts
	outboxCap  int
	partitions [redpacket.Partitions]partitionKeys

	batchers batchers
	batches  *meter.Batches
}

var _ redpacket.Pool = (*Pool)(nil)

// partitionKeys are the keys that all packets of a partition share. One hash tag keeps them in one slot.
type partitionKeys struct{ due, out, held, image string }

func newPool(client redis.UniversalClient, o poolOptions) *Pool {
	p := &Pool{nodes: nodes{client, o.Checks}, scripts: newPoolScripts(), outboxCap: cmp.Or(o.OutboxCap, 10_000), batches: meter.NewBatches()}
	for i := range p.partitions {
		tag := fmt.Sprintf("rp:{p%02d}:", i)
		p.partitions[i] = partitionKeys{due: tag + "due", out: tag + "outbox", held: tag + "held", image: tag + "k:"}
	}
	return p
}

// keys returns the keys of the partition. A number out of range, which no valid ledger holds, is taken modulo Partitions,
// so that it causes no panic.
func (p *Pool) keys(partition int) *partitionKeys {
	return &p.partitions[uint(partition)%redpacket.Partitions]
}

// Grab implements redpacket.Pool.
func (p *Pool) Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	answers := make([]redpacket.Answer, len(attempts))
	if err := p.grab(ctx, attempts, answers); err != nil {
		return nil, unavailable("grab", err)
	}
	return answers, nil
}

// Ack implements redpacket.Pool.
func (p *Pool) Ack(ctx context.Context, claims []redpacket.Claim) error {
	if err := p.ack(ctx, claims); err != nil {
		return unavailable("ack", err)
	}
	return nil
}

// Load implements redpacket.Pool.
func (p *Pool) Load(ctx context.Context, i redpacket.Image) error {
	k := p.keys(i.Partition)
	c := newCall(p.scripts.load, 4, 4+2*len(i.Grants))
	c.add(k.due, k.out, k.held, k.image+i.ID, i.ID, i.Count, i.Deadline.UnixMilli(), string(i.Status))
	for g := range i.Grants {
		c.add(&i.Grants[g].User, i.Grants[g].Share)
	}
	if p.nodes.run(ctx, c); c.err() != nil {
		return unavailable("load", c.err())
	}
	return nil
}

// Clocks implements redpacket.Pool. A cluster has one clock for each master.
func (p *Pool) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	if err := p.nodes.checks.err(); err != nil {
		return nil, unavailable("read the clock", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var mu sync.Mutex
	var all []redpacket.ClockDifference
	err := eachMaster(ctx, p.nodes.client, func(ctx context.Context, node *redis.Client) error {
		d, err := redpacket.CompareClock(p.nodes.name(node), now, func() (time.Time, error) { return node.Time(ctx).Result() })
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, d)
		return nil
	})
	slices.SortFunc(all, func(a, b redpacket.ClockDifference) int { return cmp.Compare(a.Clock, b.Clock) })
	if err != nil {
		return all, unavailable("read the clock", err)
	}
	return all, nil
}

// name names a node for logs and errors.
func (n nodes) name(node *redis.Client) string {
	if n.checks != nil && !n.sharded() {
		return n.checks.name // behind sentinels the client knows no address
	}
	return "Redis at " + node.Options().Addr
}

// grab sends each attempt to the node of its packet and fills in the answers.
func (p *Pool) grab(ctx context.Context, attempts []redpacket.Attempt, answers []redpacket.Answer) error {
	if len(attempts) == 1 {
		q, err := p.batcher(ctx, attempts[0].Ref)
		if err != nil {
			return err
		}
		if ctx.Done() != nil {
			attempts = []redpacket.Attempt{attempts[0]} // the caller may return early and reuse its slice
		}
		return q.do(ctx, &request{attempts: attempts, answers: answers})
	}
	requests := map[*batcher]*request{}
	indexes := map[*request][]int{} // into attempts
	for i := range attempts {
		q, err := p.batcher(ctx, attempts[i].Ref)
		if err != nil {
			return err
		}
		r := requests[q]
		if r == nil {
			r = &request{}
			requests[q] = r
		}
		r.attempts = append(r.attempts, attempts[i])
		indexes[r] = append(indexes[r], i)
	}
	if err := doAll(ctx, requests); err != nil {
		return err
	}
	for r, indexes := range indexes {
		for n, i := range indexes {
			answers[i] = r.answers[n]
		}
	}
	return nil
}

// doAll sends several requests of one caller, one to each node, and waits for all answers. It returns one of the
// errors.
func doAll(ctx context.Context, requests map[*batcher]*request) error {
	failed := make(chan error, len(requests))
	var wg sync.WaitGroup
	for q, r := range requests {
		r.answers = make([]redpacket.Answer, len(r.attempts))
		if len(requests) == 1 {
			return q.do(ctx, r)
		}
		wg.Go(func() {
			if err := q.do(ctx, r); err != nil {
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

// batcher returns the batcher of the packet's node.
func (p *Pool) batcher(ctx context.Context, r redpacket.Ref) (*batcher, error) {
	node, err := p.nodes.of(ctx, p.keys(r.Partition).due)
	if err != nil {
		return nil, err
	}
	return p.batchers.of(p, node), nil
}

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

// answer decodes the reply of a grab and fills in the answers of its requests. For an ack it does nothing.
func (c *call) answer() error {
	if c.groups == nil {
		return nil
	}
	if text, ok := c.cmd.Val().(string); ok {
		return c.parseSingleGrant(text)
	}
	reply, err := c.cmd.Slice()
	r := reader{items: reply, err: err}
	entry := r.text()
	for _, g := range c.groups {
		switch n := r.int(); {
		case n <= allGranted:
			g.grantAll(allGranted-n, entry)
		case n >= 0:
			g.answerEach(n, entry, &r)
		}
	}
	return r.err
}

// parseSingleGrant decodes the script's short reply to a call with one attempt: "entry share".
func (c *call) parseSingleGrant(text string) error {
	entry, share, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(share, 10, 31)
	if err != nil || len(c.groups) != 1 || len(c.groups[0].positions) != 1 {
		return fmt.Errorf("unexpected reply: %q", text)
	}
	c.groups[0].grantAll(int(n), entry)
	return nil
}

// Numbers in the reply of a grab.
const (
	allGranted  = -2                    // all attempts of a group are granted, from share 0 on; -3: from share 1 on, …
	lastGranted = redpacket.Granted + 1 // decision in a code: granted, and it was the packet's last share
	shareUnit   = 16                    // a code is decision + shareUnit * share
)

// grantAll answers all attempts of the group as granted, with consecutive shares from number taken on.
func (g *group) grantAll(taken int, entry string) {
	for i, at := range g.positions {
		*at.answer() = redpacket.Answer{Decision: redpacket.Granted, Share: taken + i, Taken: taken + i + 1, Entry: entry}
	}
}

// answerEach decodes one code for each attempt of the group.
func (g *group) answerEach(taken int, entry string, r *reader) {
	reason := r.text()
	for _, at := range g.positions {
		code := r.int()
		ans := at.answer()
		ans.Decision, ans.Taken = redpacket.Decision(code%shareUnit), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareUnit
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(reason)
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareUnit, taken, entry
		}
	}
}

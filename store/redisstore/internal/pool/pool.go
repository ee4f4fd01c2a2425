package pool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/store/redisstore/internal/nodes"
)

// Options are the options of a Pool.
type Options struct {
	OutboxCap int // most claims in the outbox of one partition; default 10,000
}

// Pool implements redpacket.Pool.
type Pool struct {
	// immutable after New
	nodes      nodes.Set
	scripts    poolScripts
	outboxCap  int
	partitions [redpacket.Partitions]partitionKeys

	batchers batchers
	batches  *meter.Batches
}

var _ redpacket.Pool = (*Pool)(nil)

// partitionKeys are the keys of a partition. image is the prefix of the keys of its packets' images. One hash tag keeps all
// of them in one slot.
type partitionKeys struct{ due, out, held, image string }

// New returns the Pool on these nodes.
func New(on nodes.Set, o Options) *Pool {
	p := &Pool{nodes: on, scripts: newPoolScripts(), outboxCap: cmp.Or(o.OutboxCap, 10_000), batches: meter.NewBatches()}
	for i := range p.partitions {
		tag := fmt.Sprintf("rp:{p%02d}:", i)
		p.partitions[i] = partitionKeys{due: tag + "due", out: tag + "outbox", held: tag + "held", image: tag + "k:"}
	}
	return p
}

// Meters returns what the Pool measures.
func (p *Pool) Meters() meter.Work {
	return p.batches.Work("redis", "grabs", p.batchers.waiting())
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
		return nil, nodes.Unavailable("grab", err)
	}
	return answers, nil
}

// Ack implements redpacket.Pool.
func (p *Pool) Ack(ctx context.Context, claims []redpacket.Claim) error {
	if err := p.ack(ctx, claims); err != nil {
		return nodes.Unavailable("ack", err)
	}
	return nil
}

// Load implements redpacket.Pool.
func (p *Pool) Load(ctx context.Context, i redpacket.Image) error {
	c := p.loadCall(i)
	if p.nodes.Run(ctx, &c); c.Err() != nil {
		return nodes.Unavailable("load", c.Err())
	}
	return nil
}

func (p *Pool) loadCall(i redpacket.Image) nodes.Call {
	k := p.keys(i.Partition)
	c := nodes.NewCall(p.scripts.load, 4, 7+2*len(i.Grants))
	c.Add(k.due, k.out, k.held, k.image+i.ID, i.ID, i.Count, i.Deadline.UnixMilli(), string(i.Status), millis(i.OpensAt), millis(i.Hold.Until), held(i.Hold))
	for g := range i.Grants {
		c.Add(&i.Grants[g].User, i.Grants[g].Share)
	}
	return c
}

// millis returns an optional time of the load script, in ms: 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// held returns the users for whom shares are held, and their shares: "user share user share …".
func held(h redpacket.Hold) string {
	var text []byte
	for _, g := range h.For {
		text = append(append(append(text, g.User...), ' '), strconv.Itoa(g.Share)+" "...)
	}
	return string(text)
}

// readyPacket is the id of a packet that only Ready loads. No real packet has it.
const readyPacket = "ready"

// Ready fails unless each partition can do what a grab needs: load a packet, which needs memory, and grab a share of it. Before the grab,
// the packet is loaded as ended. So nothing is granted, nothing comes due, and Redis forgets the packet after an hour.
func (p *Pool) Ready(ctx context.Context) error {
	attempts := make([]redpacket.Attempt, redpacket.Partitions)
	for i := range attempts {
		attempts[i].Ref = redpacket.Ref{ID: readyPacket, Partition: i}
	}
	for _, status := range []redpacket.Status{redpacket.Open, redpacket.Expired} {
		calls := make([]*nodes.Call, redpacket.Partitions)
		for i := range calls {
			c := p.loadCall(redpacket.Image{Ref: attempts[i].Ref, Count: 1, Deadline: time.Now().Add(365 * 24 * time.Hour), Status: status})
			calls[i] = &c
		}
		p.nodes.Run(ctx, calls...)
		for _, c := range calls {
			if err := c.Err(); err != nil {
				return fmt.Errorf("load a packet: %w", err)
			}
		}
	}
	_, err := p.Grab(ctx, attempts)
	return err
}

// Clocks implements redpacket.Pool. A cluster has one clock for each master.
func (p *Pool) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	if err := p.nodes.Checks.Err(); err != nil {
		return nil, nodes.Unavailable("read the clock", err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.nodes.Limit())
	defer cancel()
	var mu sync.Mutex
	var all []redpacket.ClockDifference
	err := nodes.EachMaster(ctx, p.nodes.Client, func(ctx context.Context, node *redis.Client) error {
		d, err := redpacket.CompareClock(p.nodes.Name(node), now, func() (time.Time, error) { return node.Time(ctx).Result() })
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
		return all, nodes.Unavailable("read the clock", err)
	}
	return all, nil
}

//go:embed grab.lua
var grabLua string

//go:embed load.lua
var loadLua string

//go:embed close.lua
var closeLua string

//go:embed ack.lua
var ackLua string

//go:embed due.lua
var dueLua string

//go:embed unsettled.lua
var unsettledLua string

//go:embed recount.lua
var recountLua string

// poolScripts are the Pool's scripts.
type poolScripts struct{ grab, load, close, ack, due, unsettled, recount *nodes.Script }

func newPoolScripts() poolScripts {
	return poolScripts{
		grab: nodes.NewScript(grabLua), load: nodes.NewScript(loadLua), close: nodes.NewScript(closeLua),
		ack: nodes.NewScript(ackLua), due: nodes.NewScript(dueLua), unsettled: nodes.NewScript(unsettledLua), recount: nodes.NewScript(recountLua),
	}
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
	node, err := p.nodes.Of(ctx, p.keys(r.Partition).due)
	if err != nil {
		return nil, err
	}
	return p.batchers.of(p, node), nil
}

// call is one script call of a batch. It has the grabs, or the acks, of one or more requests.
type call struct {
	nodes.Call

	requests []*request // requests that the reply answers
	groups   []*group   // of a grab: its attempts by packet, in the order of the reply
	retried  bool       // is retried outside the batch
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
			if portions != nil && (len(groups) > 0 || nodes.Sharded(p.nodes.Client)) {
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
	c := &call{Call: nodes.NewCall(p.scripts.grab, keys, argCount)}
	for _, s := range portions {
		c.Add(s.keys.due, s.keys.out, s.keys.held)
		for _, g := range s.groups {
			c.Add(s.keys.image + g.ref.ID)
		}
	}
	c.Add(p.outboxCap)
	for _, s := range portions {
		c.groups = append(c.groups, s.groups...)
		c.Add(len(s.groups), s.attempts)
		for _, g := range s.groups {
			c.Add(g.permissions())
			for _, at := range g.positions {
				c.Add(&at.attempt().User)
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
	if text, ok := c.Cmd.Val().(string); ok {
		return c.parseSingleGrant(text)
	}
	reply, err := c.Cmd.Slice()
	r := nodes.Reader{Items: reply, Err: err}
	entry := r.Text()
	for _, g := range c.groups {
		switch n := r.Int(); {
		case n <= allGranted:
			g.grantAll(allGranted-n, entry)
		case n >= 0:
			g.answerEach(n, entry, &r)
		}
	}
	return r.Err
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
func (g *group) answerEach(taken int, entry string, r *nodes.Reader) {
	reason := r.Text()
	for _, at := range g.positions {
		code := r.Int()
		ans := at.answer()
		ans.Decision, ans.Taken = redpacket.Decision(code%shareUnit), taken
		switch ans.Decision {
		case redpacket.Yours:
			ans.Share = code / shareUnit
		case redpacket.IsClosed:
			ans.Reason = redpacket.Status(reason)
		case redpacket.AllHeld:
			ans.Waiting = code / shareUnit
		case redpacket.Granted, lastGranted:
			taken++
			ans.Last = ans.Decision == lastGranted
			ans.Decision, ans.Share, ans.Taken, ans.Entry = redpacket.Granted, code/shareUnit, taken, entry
		}
	}
}

// everywhere makes one call for each partition. It returns the replies of the nodes that answer, and fails only if
// none does.
func (p *Pool) everywhere(ctx context.Context, build func(k *partitionKeys) *nodes.Call) (replies [redpacket.Partitions]nodes.Reader, err error) {
	calls := make([]*nodes.Call, len(p.partitions))
	for i := range p.partitions {
		calls[i] = build(&p.partitions[i])
	}
	p.nodes.Run(ctx, calls...)
	failed := 0
	for i, c := range calls {
		reply, failure := c.Cmd.Slice()
		if failure != nil {
			err = failure
			failed++
		}
		replies[i] = nodes.Reader{Items: reply}
	}
	if failed < len(calls) {
		err = nil
	}
	return replies, err
}

// Due implements redpacket.Pool.
func (p *Pool) Due(ctx context.Context, limit int) ([]redpacket.Ref, error) {
	replies, err := p.everywhere(ctx, func(k *partitionKeys) *nodes.Call {
		c := nodes.NewCall(p.scripts.due, 1, 1)
		c.Add(k.due, limit)
		return &c
	})
	type dated struct {
		ref redpacket.Ref
		at  int
	}
	var found [redpacket.Partitions][]dated
	for i := range replies {
		for r := &replies[i]; r.More(); {
			found[i] = append(found[i], dated{redpacket.Ref{ID: r.Text(), Partition: i}, r.Number()})
			err = cmp.Or(err, r.Err)
		}
	}
	if err != nil {
		return nil, nodes.Unavailable("list what is due", err)
	}
	var refs []redpacket.Ref
	for _, due := range redpacket.Fairly(found, limit, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref.ID, b.ref.ID))
	}) {
		refs = append(refs, due.ref)
	}
	return refs, nil
}

// Unsettled implements redpacket.Pool. A partition whose node does not answer is skipped until the next pass.
func (p *Pool) Unsettled(ctx context.Context, age time.Duration, from *redpacket.OutboxCursor, limit int) ([]redpacket.Claim, error) {
	var asked []*nodes.Call
	var partitions []int
	portion := from.Portion(limit)
	for i := range from {
		if mark := &from[i]; !mark.Done {
			c := nodes.NewCall(p.scripts.unsettled, 1, 3)
			c.Add(p.partitions[i].out, age.Milliseconds(), portion, cmp.Or(mark.After, "-inf"))
			asked, partitions = append(asked, &c), append(partitions, i)
		}
	}
	p.nodes.Run(ctx, asked...)
	var claims []redpacket.Claim
	var failed error
	answered := 0
	for n, c := range asked {
		mark := &from[partitions[n]]
		items, err := c.Cmd.Slice()
		r := nodes.Reader{Items: items, Err: err}
		for mark.After = r.Text(); r.More(); {
			if more, foreign := p.appendClaims(claims, partitions[n], r.Text()); foreign == nil { // a member that no grab wrote is no claim
				claims = more
			}
		}
		if mark.Done = r.Err != nil || mark.After == ""; r.Err != nil {
			failed = cmp.Or(failed, r.Err)
			continue
		}
		answered++
	}
	if answered == 0 && failed != nil {
		return nil, nodes.Unavailable("list what is unsettled", failed)
	}
	slices.SortStableFunc(claims, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) })
	return claims, nil
}

// Recount implements redpacket.Pool.
func (p *Pool) Recount(ctx context.Context, partitions ...int) error {
	calls := make([]*nodes.Call, len(partitions))
	for i, partition := range partitions {
		k := p.keys(partition)
		c := nodes.NewCall(p.scripts.recount, 2, 1)
		c.Add(k.out, k.held, k.image)
		calls[i] = &c
	}
	p.nodes.Run(ctx, calls...)
	for i, c := range calls {
		if err := c.Err(); err != nil {
			return nodes.Unavailable(fmt.Sprintf("recount partition %d", partitions[i]), err)
		}
	}
	return nil
}

// Outbox implements redpacket.Pool.
func (p *Pool) Outbox(ctx context.Context) (claims int, oldest time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.nodes.Limit())
	defer cancel()
	pipe := p.nodes.Client.Pipeline()
	var held [redpacket.Partitions]*redis.StringCmd
	var first [redpacket.Partitions]*redis.StringSliceCmd
	for i := range p.partitions {
		held[i], first[i] = pipe.Get(ctx, p.partitions[i].held), pipe.ZRange(ctx, p.partitions[i].out, 0, 0)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i := range p.partitions {
		n, err := held[i].Int()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		if err = cmp.Or(err, first[i].Err()); err != nil {
			return 0, time.Time{}, nodes.Unavailable("count the outbox", err)
		}
		claims += n
		for _, entry := range first[i].Val() {
			name, _, _ := strings.Cut(entry, " ")
			if at, ours := entryTime(name); ours && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	return claims, oldest, nil
}

// Close implements redpacket.Pool.
func (p *Pool) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	k := p.keys(r.Partition)
	c := nodes.NewCall(p.scripts.close, 2, 2)
	c.Add(k.due, k.image+r.ID, r.ID, int(why))
	p.nodes.Run(ctx, &c)
	closing, err := readClosing(c.Cmd)
	if err != nil {
		return redpacket.Closing{}, nodes.Unavailable("close", err)
	}
	return closing, nil
}

func readClosing(cmd *redis.Cmd) (closing redpacket.Closing, err error) {
	reply, err := cmd.Slice()
	if err != nil || len(reply) == 0 {
		return redpacket.Closing{Missing: true}, err
	}
	r := nodes.Reader{Items: reply}
	closing.Refused = r.Int() == 0
	closing.Reason = redpacket.Status(r.Text())
	if closing.Refused {
		return closing, r.Err
	}
	fields := nodes.Reader{Items: r.List()}
	closing.Grants = make([]redpacket.Grant, 0, len(fields.Items)/2)
	for fields.More() {
		if name, value := fields.Text(), fields.Text(); !strings.HasPrefix(name, "#") {
			share, err := strconv.Atoi(value)
			if err != nil {
				return closing, err
			}
			closing.Grants = append(closing.Grants, redpacket.Grant{User: name, Share: share})
		}
	}
	slices.SortFunc(closing.Grants, func(a, b redpacket.Grant) int { return cmp.Compare(a.Share, b.Share) })
	return closing, cmp.Or(r.Err, fields.Err)
}

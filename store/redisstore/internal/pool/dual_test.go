package pool

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/memstore"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

const (
	dualSeeds = 3_000 // in make nightly; make test runs fewDuals
	fewDuals  = 60
	dualSteps = 30
	dualCap   = 20 // limit of claims in an outbox: small, so that it becomes full
)

// TestDualRun runs random histories both on the Lua scripts and on memstore, which serves as the specification. Every
// answer of the two must be equal.
func TestDualRun(t *testing.T) {
	t.Parallel()
	runs, last := 1, uint64(fewDuals)
	if enginetest.Tonight("waits") {
		runs, last = 2, dualSeeds
	}
	for run := range runs { // each run has a server of its own, because it deletes all data
		t.Run("", func(t *testing.T) {
			t.Parallel()
			f := newManualClockPool(t, redistest.Dial(t, storetest.Redis(t).URL()), dualCap)
			var counts outcomeCounts
			for n := uint64(run + 1); n <= last && !t.Failed(); n += uint64(runs) {
				newDual(t, f, n, &counts).run()
			}
			t.Log(counts)
			for decision, n := range counts.decisions {
				if n == 0 && redpacket.Decision(decision) != lastGranted {
					t.Errorf("no attempt met decision %d", decision)
				}
			}
		})
	}
}

// outcomeCounts counts the outcomes of all histories. A test that never meets some outcome proves little about it.
type outcomeCounts struct {
	decisions                                   [redpacket.AllHeld + 1]int
	refused, missing, closed, due, claims, lost int
}

// dual is one random history: the Pools of Redis and memstore, the state of SQL, and the claims that may still be
// acked.
type dual struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	lua     *manualClockPool
	mem     *memstore.Pool
	counts  *outcomeCounts
	packets []*dualPacket
	granted [][2]redpacket.Claim // the same claim as each Pool names it: Redis, memstore
	entries map[string]string    // entry name of memstore -> entry name of Redis
	log     []string
}

// dualPacket is a packet with its image in SQL, and that image's earlier versions.
type dualPacket struct {
	image redpacket.Image
	past  []redpacket.Image
}

func newDual(t *testing.T, f *manualClockPool, seed uint64, counts *outcomeCounts) *dual {
	f.Restart()
	d := &dual{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), lua: f, counts: counts,
		mem: memstore.NewPool(memstore.Options{Now: f.Now, OutboxCap: dualCap}), entries: map[string]string{},
	}
	for n := range 2 + d.rng.IntN(3) {
		count := 1 + d.rng.IntN(6)
		if d.rng.IntN(8) == 0 {
			count = 30 + d.rng.IntN(60)
		}
		var opens time.Time
		if d.rng.IntN(3) == 0 {
			opens = f.Now().Add(time.Duration(d.rng.IntN(6)) * time.Second / 2)
		}
		d.packets = append(d.packets, &dualPacket{image: redpacket.Image{
			Ref:   redpacket.Ref{ID: fmt.Sprintf("p%d", n), Partition: d.rng.IntN(2)},
			Count: count, OpensAt: opens, Hold: d.hold(count), Deadline: f.Now().Add(time.Duration(1+d.rng.IntN(20)) * time.Second / 2), Status: redpacket.Open,
		}})
	}
	return d
}

// hold returns what a packet holds: nothing, or shares for some of the users.
func (d *dual) hold(count int) (h redpacket.Hold) {
	if d.rng.IntN(2) == 0 {
		return h
	}
	h.Until = d.lua.Now().Add(time.Duration(1+d.rng.IntN(12)) * time.Second / 2)
	for n, share := range d.rng.Perm(count)[:1+d.rng.IntN(count)] {
		h.For = append(h.For, redpacket.Grant{User: fmt.Sprintf("u%d", n), Share: share})
	}
	slices.SortFunc(h.For, func(a, b redpacket.Grant) int { return cmp.Compare(a.User, b.User) })
	return h
}

func (d *dual) run() {
	for _, p := range d.packets {
		d.load(p)
	}
	for range dualSteps {
		p := d.packets[d.rng.IntN(len(d.packets))]
		switch n := d.rng.IntN(100); {
		case n < 45:
			d.grab()
		case n < 57:
			d.load(p)
		case n < 66:
			d.settle(p)
		case n < 68:
			d.end(p)
		case n < 77:
			d.close(p)
		case n < 84:
			d.ack()
		case n < 94:
			d.pass()
		case n < 96:
			d.lose(p)
		case n < 97:
			d.drift(p)
		case n < 99:
			d.step("new generation")
			d.lua.NewGeneration()
			d.mem.NewGeneration()
		default:
			d.step("forget")
			d.lua.Forget()
			d.mem.Forget()
			d.granted = nil
		}
		if d.rng.IntN(5) == 0 {
			d.compareDue()
			d.compareUnsettled()
			d.compareHeld()
		}
	}
	d.compareDue()
	d.compareUnsettled()
	d.compareHeld()
}

func (d *dual) step(format string, args ...any) {
	d.log = append(d.log, fmt.Sprintf(format, args...))
}

// same compares the results of both Pools. If they differ, it fails the test and prints the whole history.
func (d *dual) same(what string, lua, mem any, luaErr, memErr error) {
	d.t.Helper()
	if a, b := fmt.Sprintf("%+v", lua), fmt.Sprintf("%+v", mem); a != b || luaErr != nil || memErr != nil {
		d.t.Fatalf("seed %d: %s\nLua    %s %v\nmemory %s %v\nafter\n%s", d.seed, what, a, luaErr, b, memErr, strings.Join(d.log, "\n"))
	}
}

func (d *dual) grab() {
	attempts := make([]redpacket.Attempt, 1+d.rng.IntN(6))
	if d.rng.IntN(10) == 0 {
		attempts = make([]redpacket.Attempt, 40)
	}
	// A call about several packets is avoided near the limit of the outbox: the order in which the Pools fill it is
	// free.
	packets := d.packets
	if waiting := storetest.Unsettled(d.t, d.mem, 0); len(waiting)+len(attempts) > dualCap {
		packets = packets[:1]
	}
	for i := range attempts {
		p := packets[d.rng.IntN(len(packets))]
		attempts[i] = redpacket.Attempt{Ref: p.image.Ref, User: fmt.Sprintf("u%d", d.rng.IntN(4+p.image.Count)), May: redpacket.May(max(0, d.rng.IntN(8)-5))}
	}
	d.step("grab %+v", attempts)
	lua, err := d.lua.Grab(context.Background(), attempts)
	mem, err2 := d.mem.Grab(context.Background(), attempts)
	for i := range min(len(lua), len(mem)) {
		d.counts.decisions[mem[i].Decision]++
		if lua[i].Decision != redpacket.Granted || mem[i].Decision != redpacket.Granted {
			continue
		}
		if d.entries[mem[i].Entry] == "" {
			d.entries[mem[i].Entry] = lua[i].Entry
		}
		c := redpacket.Claim{Ref: attempts[i].Ref, User: attempts[i].User, Share: mem[i].Share}
		both := [2]redpacket.Claim{c, c}
		both[0].Entry, both[1].Entry = lua[i].Entry, mem[i].Entry
		d.granted = append(d.granted, both)
		mem[i].Entry = d.entries[mem[i].Entry]
	}
	d.same("answers", lua, mem, err, err2)
}

// load loads the packet's image into both Pools: the present one, or an earlier version.
func (d *dual) load(p *dualPacket) {
	i := p.image
	if len(p.past) > 0 && d.rng.IntN(3) == 0 {
		i = p.past[d.rng.IntN(len(p.past))]
	}
	i.Grants = slices.Clone(i.Grants)
	d.step("load %+v", i)
	d.same("load", nil, nil, d.lua.Load(context.Background(), i), d.mem.Load(context.Background(), i))
}

// settle adds one claim to the packet in SQL: one that was granted, or one that the Pools do not know.
func (d *dual) settle(p *dualPacket) {
	if p.image.Status != redpacket.Open {
		return
	}
	g := redpacket.Grant{User: fmt.Sprintf("u%d", d.rng.IntN(4+p.image.Count)), Share: d.rng.IntN(p.image.Count)}
	if len(d.granted) > 0 && d.rng.IntN(3) > 0 {
		c := d.granted[d.rng.IntN(len(d.granted))][1]
		if c.Ref != p.image.Ref {
			return
		}
		g = redpacket.Grant{User: c.User, Share: c.Share}
	}
	if slices.ContainsFunc(p.image.Grants, func(o redpacket.Grant) bool { return o.User == g.User || o.Share == g.Share }) {
		return
	}
	p.past = append(p.past, p.image)
	p.image.Grants = append(slices.Clone(p.image.Grants), g)
	d.step("SQL has %+v of %s", g, p.image.ID)
}

// end closes the packet in SQL.
func (d *dual) end(p *dualPacket) {
	if p.image.Status == redpacket.Open {
		p.past = append(p.past, p.image)
		p.image.Status = []redpacket.Status{redpacket.Drained, redpacket.Expired, redpacket.Cancelled}[d.rng.IntN(3)]
		d.step("SQL has closed %s: %s", p.image.ID, p.image.Status)
	}
}

func (d *dual) close(p *dualPacket) {
	why := []redpacket.CloseReason{redpacket.CloseDue, redpacket.CloseDue, redpacket.CloseCancel, redpacket.CloseEarly}[d.rng.IntN(4)]
	d.step("close %s, why %d", p.image.ID, why)
	lua, err := d.lua.Close(context.Background(), p.image.Ref, why)
	mem, err2 := d.mem.Close(context.Background(), p.image.Ref, why)
	d.same("closing", lua, mem, err, err2)
	switch {
	case mem.Missing:
		d.counts.missing++
	case mem.Refused:
		d.counts.refused++
	default:
		d.counts.closed++
	}
}

func (d *dual) ack() {
	if len(d.granted) == 0 {
		return
	}
	var lua, mem []redpacket.Claim
	for range 1 + d.rng.IntN(6) {
		c := d.granted[d.rng.IntN(len(d.granted))]
		if d.rng.IntN(10) == 0 { // a claim of another user
			c[0].User, c[1].User = "x", "x"
		}
		lua, mem = append(lua, c[0]), append(mem, c[1])
	}
	d.step("ack %+v", mem)
	d.same("ack", nil, nil, d.lua.Ack(context.Background(), lua), d.mem.Ack(context.Background(), mem))
}

func (d *dual) pass() {
	by := time.Duration(1+d.rng.IntN(8)) * time.Second / 2
	if d.rng.IntN(10) == 0 {
		by = time.Hour - time.Duration(d.rng.IntN(3))*time.Second
	}
	d.step("%s pass", by)
	d.lua.Advance(by)
}

// lose deletes one packet's image from both Pools, as if Redis had lost it.
func (d *dual) lose(p *dualPacket) {
	d.step("lose %s", p.image.ID)
	d.counts.lost++
	d.mem.ForgetPacket(p.image.Ref)
	k := d.lua.keys(p.image.Partition)
	if err := d.lua.nodes.Client.Del(context.Background(), k.image+p.image.ID).Err(); err != nil {
		d.t.Fatal(err)
	}
	if err := d.lua.nodes.Client.ZRem(context.Background(), k.due, p.image.ID).Err(); err != nil {
		d.t.Fatal(err)
	}
}

// drift sets the counter held of a partition to a wrong number, and lets Recount repair it.
func (d *dual) drift(p *dualPacket) {
	d.step("the count of partition %d drifts", p.image.Partition)
	if err := d.lua.nodes.Client.Set(context.Background(), d.lua.keys(p.image.Partition).held, d.rng.IntN(2*dualCap)-dualCap, 0).Err(); err != nil {
		d.t.Fatal(err)
	}
	d.same("recount", nil, nil, d.lua.Recount(context.Background(), p.image.Partition), nil)
}

func (d *dual) compareDue() {
	limit := 1 + d.rng.IntN(5)
	lua, err := d.lua.Due(context.Background(), limit)
	mem, err2 := d.mem.Due(context.Background(), limit)
	d.same("due", lua, mem, err, err2)
	d.counts.due += len(mem)
}

// compareHeld checks that the counter held equals the number of claims in the outbox.
func (d *dual) compareHeld() {
	claims := storetest.Unsettled(d.t, d.lua, 0)
	for partition := range 2 {
		n, _ := d.lua.nodes.Client.Get(context.Background(), d.lua.keys(partition).held).Int() // a missing key counts as 0
		for _, c := range claims {
			if c.Partition == partition {
				n--
			}
		}
		d.same("held, and not in the outbox", n, 0, nil, nil)
	}
}

// compareUnsettled checks that both Pools list the same claims, page by page. Claims of the same time may be in any
// order.
func (d *dual) compareUnsettled() {
	age := time.Duration(d.rng.IntN(6)) * time.Second / 2
	limit := 1 + d.rng.IntN(3*redpacket.Partitions)
	var lua, mem []redpacket.Claim
	for a, b := new(redpacket.OutboxCursor), new(redpacket.OutboxCursor); !a.Done() || !b.Done(); {
		luaPage, err := d.lua.Unsettled(context.Background(), age, a, limit)
		memPage, err2 := d.mem.Unsettled(context.Background(), age, b, limit)
		d.same("unsettled", nil, nil, err, err2)
		lua, mem = append(lua, luaPage...), append(mem, memPage...)
	}
	for i := range mem {
		mem[i].Entry = d.entries[mem[i].Entry]
	}
	for _, claims := range [][]redpacket.Claim{lua, mem} {
		slices.SortFunc(claims, func(a, b redpacket.Claim) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.User, b.User), cmp.Compare(a.Entry, b.Entry))
		})
		for i := range claims {
			claims[i].At = claims[i].At.UTC()
		}
	}
	d.same("unsettled", lua, mem, nil, nil)
	d.counts.claims += len(mem)
}

package memstore

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// clock is a clock that only tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestPool(t *testing.T) {
	storetest.TestPool(t, func(*testing.T) storetest.PoolUnderTest {
		const outboxCap = 60
		c := &clock{now: time.Date(2026, 2, 17, 0, 0, 0, 0, time.UTC)}
		p := NewPool(Options{Now: c.Now, OutboxCap: outboxCap})
		return storetest.PoolUnderTest{
			Pool: p, OutboxCap: outboxCap, Now: c.Now, Advance: c.Advance,
			Forget: p.Forget, NewGeneration: p.NewGeneration,
		}
	})
}

// TestPoolCostFollowsClaims loads a large packet with few claims. The memory must depend on the claims, not on the
// count.
func TestPoolCostFollowsClaims(t *testing.T) {
	p := NewPool(Options{})
	packet := redpacket.Ref{ID: "p", Partition: 7}
	load(t, p, redpacket.Image{Ref: packet, Count: 10_000, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open,
		Grants: []redpacket.Grant{{User: "x", Share: 9_000}}})
	grab(t, p, packet, "a", "b")
	im := p.partitions[7].images["p"]
	if len(im.users) != 3 || len(im.free) != 2 {
		t.Errorf("3 claims of 10,000 shares are kept as %d users and %d spans of free ones", len(im.users), len(im.free))
	}
}

// TestPoolReleasesMemory lets the images of many closed packets expire. Later calls must drop them.
func TestPoolReleasesMemory(t *testing.T) {
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	p := NewPool(Options{Now: c.Now})
	for n := range 1_000 {
		packet := redpacket.Ref{ID: strconv.Itoa(n), Partition: n % redpacket.Partitions}
		load(t, p, redpacket.Image{Ref: packet, Count: 1, Deadline: c.Now().Add(time.Minute), Status: redpacket.Open})
		answers := grab(t, p, packet, "u")
		for range 2 { // the second time the image is in the queue already
			load(t, p, redpacket.Image{Ref: packet, Count: 1, Status: redpacket.Drained})
		}
		claim := redpacket.Claim{Ref: packet, User: "u", Share: answers[0].Share, Entry: answers[0].Entry}
		if err := p.Ack(t.Context(), []redpacket.Claim{claim}); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(RetiredFor)
	if _, err := p.Due(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for i := range p.partitions {
		pt := &p.partitions[i]
		if len(pt.images)+len(pt.due)+len(pt.retired)+len(pt.outbox.byID)+pt.outbox.order.Len()+pt.outbox.held > 0 {
			t.Fatalf("partition %d still holds %d images, %d due, %d retired, %d entries, %d claims", i,
				len(pt.images), len(pt.due), len(pt.retired), len(pt.outbox.byID), pt.outbox.held)
		}
	}
}

// TestPoolBadPartition uses partition numbers out of range. Each is always mapped to the same valid partition.
func TestPoolBadPartition(t *testing.T) {
	p := NewPool(Options{})
	for _, partition := range []int{-1, redpacket.Partitions, 1 << 40} {
		packet := redpacket.Ref{ID: strconv.Itoa(partition), Partition: partition}
		load(t, p, redpacket.Image{Ref: packet, Count: 1, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open})
		if got := grab(t, p, packet, "u")[0].Decision; got != redpacket.Granted {
			t.Errorf("partition %d: decision %d", partition, got)
		}
	}
}

func BenchmarkGrabWin(b *testing.B) {
	const batch = 100
	p := NewPool(Options{OutboxCap: 1 << 40})
	attempts := make([]redpacket.Attempt, batch)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		packet := redpacket.Ref{ID: strconv.Itoa(n / 100), Partition: n / 100 % redpacket.Partitions}
		if n%100 == 0 { // a packet of 10,000 shares
			load(b, p, redpacket.Image{Ref: packet, Count: 100 * batch, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open})
		}
		for i := range attempts {
			attempts[i] = redpacket.Attempt{Ref: packet, User: strconv.Itoa(n*batch + i)}
		}
		answers, _ := p.Grab(b.Context(), attempts)
		if answers[batch-1].Decision != redpacket.Granted {
			b.Fatalf("%+v", answers[batch-1])
		}
		claims := make([]redpacket.Claim, batch)
		for i := range claims {
			claims[i] = redpacket.Claim{Ref: packet, User: attempts[i].User, Share: answers[i].Share, Entry: answers[i].Entry}
		}
		_ = p.Ack(b.Context(), claims)
	}
	b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "grabs/s")
}

func BenchmarkGrabEmpty(b *testing.B) {
	p := NewPool(Options{})
	packet := redpacket.Ref{ID: "p"}
	load(b, p, redpacket.Image{Ref: packet, Count: 1, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open})
	grab(b, p, packet, "winner")
	attempts := []redpacket.Attempt{{Ref: packet, User: "loser"}}
	b.ReportAllocs()
	for b.Loop() {
		if answers, _ := p.Grab(b.Context(), attempts); answers[0].Decision != redpacket.IsEmpty {
			b.Fatalf("%+v", answers[0])
		}
	}
}

func load(tb testing.TB, p *Pool, i redpacket.Image) {
	tb.Helper()
	if err := p.Load(tb.Context(), i); err != nil {
		tb.Fatal(err)
	}
}

func grab(tb testing.TB, p *Pool, packet redpacket.Ref, users ...string) []redpacket.Answer {
	tb.Helper()
	attempts := make([]redpacket.Attempt, len(users))
	for i, user := range users {
		attempts[i] = redpacket.Attempt{Ref: packet, User: user}
	}
	answers, err := p.Grab(tb.Context(), attempts)
	if err != nil {
		tb.Fatal(err)
	}
	return answers
}

package storetest

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hongbao/redpacket"
)

// PoolUnderTest is a Pool with the handles to move its clock and to break it.
type PoolUnderTest struct {
	Pool      redpacket.Pool
	OutboxCap int // claims that the outbox of one partition holds, as the engine was opened
	// Now is the Pool's clock; nil: time.Now. Advance moves it; nil: real time, which the suite waits for,
	// though not for an hour.
	Now     func() time.Time
	Advance func(time.Duration)
	// Forget loses everything; NewGeneration makes every image Missing until it is loaded again.
	Forget        func()
	NewGeneration func()
}

// TestPool runs the contract of redpacket.Pool against an engine.
func TestPool(t *testing.T, open func(t *testing.T) PoolUnderTest) {
	all := slices.Concat(grabTests(), loadTests(), closeTests(), outboxTests(), propertyTests())
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			b := &poolBench{PoolUnderTest: open(t), TB: t, t: t}
			if b.Now == nil {
				b.Now = time.Now
			}
			test.run(b)
		})
	}
}

type poolTest struct {
	name string
	run  func(b *poolBench)
}

// poolBench is the bench an engine lies on: a call that the engine fails, fails the test.
type poolBench struct {
	PoolUnderTest
	rapid.TB            // of the test, or of one run of a property
	t        *testing.T // of the test
	packets  int
}

// packet makes the image of a new packet, open and without claims, in a partition of its own.
func (b *poolBench) packet(count int) redpacket.Image {
	b.packets++
	return redpacket.Image{
		Ref:   redpacket.Ref{ID: "packet-" + strconv.Itoa(b.packets), Partition: b.packets % redpacket.Partitions},
		Count: count, Deadline: b.Now().Add(time.Hour), Status: redpacket.Open,
	}
}

// loaded makes a packet and loads it.
func (b *poolBench) loaded(count int) redpacket.Image {
	i := b.packet(count)
	b.load(i)
	return i
}

// soon is when a short packet ends.
const soon = redpacket.CloseLease / 2

// short makes a packet that ends soon, and loads it.
func (b *poolBench) short(count int) redpacket.Image {
	i := b.packet(count)
	i.Deadline = b.Now().Add(soon)
	b.load(i)
	return i
}

// pass lets time pass on the Pool's clock.
func (b *poolBench) pass(d time.Duration) {
	b.Helper()
	switch {
	case b.Advance != nil:
		b.Advance(d)
	case d > time.Minute:
		b.Skip("this engine's clock cannot be moved")
	default:
		<-time.After(d)
	}
}

func (b *poolBench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("the engine failed: %v", err)
	}
}

func (b *poolBench) load(i redpacket.Image) {
	b.Helper()
	b.must(b.Pool.Load(context.Background(), i))
}

// retire tells the Pool that SQL has closed the packet.
func (b *poolBench) retire(i redpacket.Image) {
	b.Helper()
	i.Status = redpacket.Expired
	b.load(i)
}

func (b *poolBench) close(i redpacket.Image, cancel bool) redpacket.Closing {
	b.Helper()
	c, err := b.Pool.Close(context.Background(), i.Ref, cancel)
	b.must(err)
	slices.SortFunc(c.Grants, byShare)
	return c
}

func byShare(x, y redpacket.Grant) int { return x.Share - y.Share }

func (b *poolBench) call(attempts ...redpacket.Attempt) []redpacket.Answer {
	b.Helper()
	answers, err := b.Pool.Grab(context.Background(), attempts)
	b.must(err)
	if len(answers) != len(attempts) {
		b.Fatalf("%d answers to %d attempts", len(answers), len(attempts))
	}
	return answers
}

// ask makes one attempt of one user.
func (b *poolBench) ask(i redpacket.Image, user string, may redpacket.May) redpacket.Answer {
	b.Helper()
	return b.call(redpacket.Attempt{Ref: i.Ref, User: user, May: may})[0]
}

// grab makes one call in which each user grabs, and all of them win.
func (b *poolBench) grab(i redpacket.Image, users ...string) []redpacket.Claim {
	b.Helper()
	attempts := make([]redpacket.Attempt, len(users))
	for n, user := range users {
		attempts[n] = redpacket.Attempt{Ref: i.Ref, User: user}
	}
	claims := make([]redpacket.Claim, len(users))
	for n, ans := range b.call(attempts...) {
		if ans.Decision != redpacket.Granted {
			b.Fatalf("grab of %s: got %+v, want Granted", users[n], ans)
		}
		claims[n] = redpacket.Claim{Ref: i.Ref, Share: ans.Share, User: users[n], Entry: ans.Entry}
	}
	return claims
}

func (b *poolBench) ack(claims ...redpacket.Claim) {
	b.Helper()
	b.must(b.Pool.Ack(context.Background(), claims))
}

func (b *poolBench) unsettled(age time.Duration, limit int) []redpacket.Claim {
	b.Helper()
	claims, err := b.Pool.Unsettled(context.Background(), age, limit)
	b.must(err)
	return claims
}

func (b *poolBench) due(limit int) []redpacket.Ref {
	b.Helper()
	refs, err := b.Pool.Due(context.Background(), limit)
	b.must(err)
	return refs
}

// wantDue checks that exactly these packets are due, in this order.
func (b *poolBench) wantDue(when string, packets ...redpacket.Image) {
	b.Helper()
	var want []redpacket.Ref
	for _, i := range packets {
		want = append(want, i.Ref)
	}
	if got := b.due(100); !slices.Equal(got, want) {
		b.Fatalf("%s: due %v, want %v", when, got, want)
	}
}

// want checks all of an answer but its outbox entry, which is there exactly when a share was granted.
func (b *poolBench) want(when string, got, want redpacket.Answer) {
	b.Helper()
	if (got.Entry != "") != (got.Decision == redpacket.Granted) {
		b.Fatalf("%s: decision %d with entry %q", when, got.Decision, got.Entry)
	}
	got.Entry = ""
	if got != want {
		b.Fatalf("%s:\ngot  %+v\nwant %+v", when, got, want)
	}
}

// wantHolders checks who has which share, by share; "" is a share that nobody has. It leaves no trace: the
// users ask as non-members.
func (b *poolBench) wantHolders(when string, i redpacket.Image, users ...string) {
	b.Helper()
	taken := 0
	for _, user := range users {
		if user != "" {
			taken++
		}
	}
	for share, user := range users {
		if user != "" {
			b.want(when+": "+user, b.ask(i, user, redpacket.NotMember),
				redpacket.Answer{Decision: redpacket.Yours, Share: share, Taken: taken})
		}
	}
	b.want(when+": a stranger", b.ask(i, "stranger", redpacket.NotMember),
		redpacket.Answer{Decision: redpacket.Outsider, Taken: taken})
}

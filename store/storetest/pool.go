package storetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hongbao/redpacket"
)

// PoolUnderTest is a Pool, with functions that move its clock and inject faults.
type PoolUnderTest struct {
	Pool      redpacket.Pool
	OutboxCap int // limit of claims in the outbox of one partition with which the engine was opened
	// Now is the Pool's clock; nil: time.Now. Advance moves the clock. If Advance is nil, the suite waits for real
	// time. Then it skips tests that would wait longer than a minute at once, and the random histories.
	Now     func() time.Time
	Advance func(time.Duration)
	// Forget deletes all data. NewGeneration makes every image Missing until it is loaded again, as a failover does.
	Forget        func()
	NewGeneration func()
}

// TestPool checks that an engine keeps the contract of redpacket.Pool.
func TestPool(t *testing.T, open func(t *testing.T) PoolUnderTest) {
	all := slices.Concat(grabTests(), earlyTests(), holdTests(), loadTests(), closeTests(), outboxTests(), propertyTests())
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			for tries := 1; ; tries++ {
				b := &poolBench{PoolUnderTest: open(t), TB: t, t: t, begun: time.Now(), last: tries == 3}
				if b.Now == nil {
					b.Now = time.Now
				}
				if b.ends(test.run) {
					return
				}
				t.Log("run again: the machine was too busy for real time")
			}
		})
	}
}

type poolTest struct {
	name string
	run  func(b *poolBench)
}

// poolBench holds an engine under test. Its helpers fail the test if the engine fails.
type poolBench struct {
	PoolUnderTest
	rapid.TB            // of the test, or of one run of a property
	t        *testing.T // of the test
	packets  int

	// With real time: when the test began, how much of it pass has waited, and whether the test depends on the clock.
	begun  time.Time
	waited time.Duration
	timed  bool
	last   bool // the test is not run again
}

// errLate is what Fatalf and Errorf panic with if the calls of a test with real time have taken so long that packets may have
// expired between them. The test is run again then.
var errLate = errors.New("too late for real time")

// ends runs the test, and reports whether it has ended without errLate.
func (b *poolBench) ends(run func(b *poolBench)) (ended bool) {
	defer func() {
		if p := recover(); p != nil && p != any(errLate) {
			panic(p)
		}
	}()
	run(b)
	return true
}

// Fatalf fails the test, or panics with errLate.
func (b *poolBench) Fatalf(format string, args ...any) {
	b.Helper()
	b.panicIfLate()
	b.TB.Fatalf(format, args...)
}

// Errorf fails the test, or panics with errLate.
func (b *poolBench) Errorf(format string, args ...any) {
	b.Helper()
	b.panicIfLate()
	b.TB.Errorf(format, args...)
}

func (b *poolBench) panicIfLate() {
	if b.timed && !b.last && time.Since(b.begun)-b.waited > soon/2 {
		panic(errLate)
	}
}

// packet returns the image of a new packet, open and without claims, in the next of the 64 partitions.
func (b *poolBench) packet(count int) redpacket.Image {
	b.packets++
	return redpacket.Image{
		Ref:   redpacket.Ref{ID: "packet-" + strconv.Itoa(b.packets), Partition: b.packets % redpacket.Partitions},
		Count: count, Deadline: b.Now().Add(time.Hour), Status: redpacket.Open,
	}
}

// loaded returns the image of a new packet after loading it.
func (b *poolBench) loaded(count int) redpacket.Image {
	i := b.packet(count)
	b.load(i)
	return i
}

// soon is the time until the packets of the helper short expire.
const soon = redpacket.CloseLease / 2

// short returns the image of a new packet that expires soon, after loading it.
func (b *poolBench) short(count int) redpacket.Image {
	b.timed = b.Advance == nil
	i := b.packet(count)
	i.Deadline = b.Now().Add(soon)
	b.load(i)
	return i
}

// pass lets time pass on the Pool's clock. If the clock cannot be moved, pass waits, or skips the test if d is longer than a
// minute.
func (b *poolBench) pass(d time.Duration) {
	b.Helper()
	switch {
	case b.Advance != nil:
		b.Advance(d)
	case d > time.Minute:
		b.Skip("this engine's clock cannot be moved")
	default:
		b.timed = true
		b.waited += d
		<-time.After(d)
	}
}

func (b *poolBench) must(err error) {
	b.Helper()
	if err != nil {
		b.TB.Fatalf("the engine failed: %v", err)
	}
}

func (b *poolBench) load(i redpacket.Image) {
	b.Helper()
	b.must(b.Pool.Load(context.Background(), i))
}

// retire loads the packet with a final status, as after SQL has closed it.
func (b *poolBench) retire(i redpacket.Image) {
	b.Helper()
	i.Status = redpacket.Expired
	b.load(i)
}

func (b *poolBench) close(i redpacket.Image, why redpacket.CloseReason) redpacket.Closing {
	b.Helper()
	c, err := b.Pool.Close(context.Background(), i.Ref, why)
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

// ask makes one attempt and returns its answer. may says whether the user may grab.
func (b *poolBench) ask(i redpacket.Image, user string, may redpacket.May) redpacket.Answer {
	b.Helper()
	return b.call(redpacket.Attempt{Ref: i.Ref, User: user, May: may})[0]
}

// grab makes one call with an attempt of each user, and returns the claims. Each attempt must be granted.
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

func (b *poolBench) unsettled(age time.Duration) []redpacket.Claim {
	b.Helper()
	return Unsettled(b, b.Pool, age)
}

// Unsettled returns all claims that have been in the pool's outbox for at least this age, oldest first. It reads
// small pages.
func Unsettled(tb interface {
	Helper()
	Fatal(args ...any)
}, p redpacket.Pool, age time.Duration) (all []redpacket.Claim) {
	tb.Helper()
	for from := new(redpacket.OutboxCursor); !from.Done(); {
		claims, err := p.Unsettled(context.Background(), age, from, 100)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, claims...)
	}
	slices.SortStableFunc(all, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) })
	return all
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

// want compares an answer, without its outbox entry. The entry must be set if and only if a share was granted.
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

// wantHolders checks which user has share 0, 1 and so on; "" is a free share. It changes nothing, because the users
// ask as non-members.
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

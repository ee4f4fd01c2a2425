package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/redpacket"
)

func outboxTests() []poolTest {
	return []poolTest{
		{"Outbox/holds each claim until it is acked", outboxHolds},
		{"Outbox/acks repeat, and unknown ones are nothing", outboxAcks},
		{"Outbox/acks of parts, of several packets at once", outboxParts},
		{"Outbox/oldest first, by age", outboxAge},
		{"Outbox/some of each partition", outboxFairly},
		{"Outbox/each claim once, page by page", outboxPages},
		{"Outbox/outlives its packet's end and a join that disproves it", outboxOutlives},
		{"Outbox/is counted, with the oldest claim", outboxCounted},
		{"Outbox/is full at its cap, for its own partition", outboxFull},
	}
}

// wantClaims checks that the outbox holds exactly these claims, in any order.
func (b *poolBench) wantClaims(when string, want ...redpacket.Claim) {
	b.Helper()
	got := b.unsettled(0)
	if len(got) != len(want) {
		b.Fatalf("%s: the outbox holds %+v, want %+v", when, got, want)
	}
	for _, c := range got {
		c.At = time.Time{}
		if !slices.Contains(want, c) {
			b.Fatalf("%s: the outbox holds %+v, want %+v", when, c, want)
		}
	}
}

func outboxCounted(b *poolBench) {
	count := func(when string, want int) (oldest time.Time) {
		b.Helper()
		claims, oldest, err := b.Pool.Outbox(context.Background())
		b.must(err)
		if claims != want || oldest.IsZero() != (want == 0) {
			b.Fatalf("%s: %d claims, the oldest of %v, want %d", when, claims, oldest, want)
		}
		return oldest
	}
	count("before the first grab", 0)
	x, y := b.loaded(5), b.loaded(5)
	first := b.grab(x, "a", "b")
	b.pass(10 * time.Millisecond)
	second := b.grab(y, "a")
	listed := b.unsettled(0)
	if oldest := count("with three", 3); !oldest.Equal(listed[0].At) {
		b.Errorf("the oldest claim is of %v, want %v", oldest, listed[0].At)
	}
	b.ack(first...)
	if oldest := count("without the first two", 1); !oldest.Equal(listed[2].At) {
		b.Errorf("the oldest claim is of %v, want %v", oldest, listed[2].At)
	}
	b.ack(second...)
	count("after the last", 0)
}

func outboxHolds(b *poolBench) {
	x, y := b.loaded(5), b.loaded(5)
	from := b.Now()
	claims := slices.Concat(b.grab(x, "a", "b"), b.grab(x, "c"), b.grab(y, "a"))
	until := b.Now()
	for _, c := range b.unsettled(0) {
		// Redis stores times in milliseconds.
		if c.At.Before(from.Add(-time.Millisecond)) || c.At.After(until.Add(time.Millisecond)) {
			b.Errorf("granted between %v and %v, but the outbox says %v", from, until, c.At)
		}
	}
	for len(claims) > 0 {
		b.wantClaims("before an ack", claims...)
		b.ack(claims[0])
		claims = claims[1:]
	}
	b.wantClaims("after the last")
	b.wantHolders("acked", x, "a", "b", "c", "", "")
}

func outboxAcks(b *poolBench) {
	i, j := b.loaded(5), b.packet(5)
	j.Partition = i.Partition
	b.load(j)
	claims := b.grab(i, "a", "b")
	other := b.grab(j, "a")
	strange := claims[0]
	strange.User = "nobody"
	wrong := claims[0]
	wrong.Share = 3
	none := claims[0]
	none.Entry = ""
	unknown := claims[0]
	unknown.Entry = other[0].Entry
	b.ack(strange, wrong, none, unknown)
	b.wantClaims("nothing acked", claims[0], claims[1], other[0])
	b.ack()
	b.ack(claims[0], claims[0])
	b.ack(claims[0])
	b.wantClaims("one acked", claims[1], other[0])
	b.ack(claims...)
	b.ack(claims...)
	b.wantClaims("its entry gone", other[0])
}

func outboxParts(b *poolBench) {
	var attempts []redpacket.Attempt
	for n := range 6 {
		i := b.packet(9)
		i.Partition = n % 2 // two outboxes
		b.load(i)
		for _, user := range []string{"a", "b", "c"} {
			attempts = append(attempts, redpacket.Attempt{Ref: i.Ref, User: user})
		}
	}
	claims := make([]redpacket.Claim, len(attempts))
	for n, ans := range b.call(attempts...) {
		claims[n] = redpacket.Claim{Ref: attempts[n].Ref, Share: ans.Share, User: attempts[n].User, Entry: ans.Entry}
	}
	of := func(users ...string) (some []redpacket.Claim) {
		for _, c := range claims {
			if slices.Contains(users, c.User) {
				some = append(some, c)
			}
		}
		return some
	}
	for range 2 {
		b.ack(of("b")...)
		b.wantClaims("one of three is acked", of("a", "c")...)
	}
	b.ack(slices.Concat(of("c", "b"), of("c"))...)
	b.wantClaims("two are", of("a")...)
	b.ack(of("a", "b", "c")...)
	b.wantClaims("all are")
}

// outboxFairly leaves claims of one partition in the outbox, as if they could not be settled. They must not hide claims of
// other partitions.
func outboxFairly(b *poolBench) {
	i, j := b.loaded(9), b.loaded(9)
	for _, user := range []string{"a", "b", "c"} {
		b.grab(i, user)
		b.pass(time.Millisecond)
	}
	b.pass(20 * time.Millisecond)
	b.grab(j, "d")
	var pages []string
	for from := new(redpacket.OutboxCursor); !from.Done(); {
		pages = append(pages, b.page(from, 2))
	}
	if len(pages) < 2 || !strings.HasPrefix(pages[0], i.ID+"/a ") || !strings.Contains(pages[0], j.ID+"/d") ||
		strings.Join(pages, "") != pages[0]+i.ID+"/b "+i.ID+"/c " {
		b.Errorf("pages of two claims: %q", pages)
	}
}

// page returns the claims of the next page as a text, "packet/user " for each.
func (b *poolBench) page(from *redpacket.OutboxCursor, limit int) string {
	b.Helper()
	claims, err := b.Pool.Unsettled(context.Background(), 0, from, limit)
	b.must(err)
	var names strings.Builder
	for _, c := range claims {
		names.WriteString(c.ID + "/" + c.User + " ")
	}
	return names.String()
}

// outboxPages reads all pages while claims are acked and granted. Each claim must be listed once, except that the last one
// may be missing, because it is acked meanwhile. Each page after the first may exceed its limit by two claims: a page does
// not split an entry, and an entry has up to three claims here.
func outboxPages(b *poolBench) {
	const entries = 30
	i := b.loaded(10 * entries)
	seen := map[string]int{}
	var claims []redpacket.Claim
	for n := range entries {
		users := make([]string, 1+n%3)
		for k := range users {
			users[k] = fmt.Sprintf("%d-%d", n, k)
		}
		claims = append(claims, b.grab(i, users...)...)
		b.pass(time.Millisecond)
	}
	last, pages := claims[len(claims)-1], 0
	for from := new(redpacket.OutboxCursor); !from.Done(); pages++ {
		got, err := b.Pool.Unsettled(context.Background(), 0, from, 7)
		b.must(err)
		if len(got) > 7+2 && pages > 0 {
			b.Errorf("a page of 7 has %d claims", len(got))
		}
		for _, c := range got {
			seen[c.User]++
		}
		if len(got) > 0 && pages%2 == 0 {
			b.ack(got[0], last) // one claim on a page already read, and one on a page to come
		}
		if pages == 1 {
			claims = append(claims, b.grab(i, "new")...)
		}
	}
	for _, c := range claims {
		if times := seen[c.User]; times != 1 && c != last || times > 1 {
			b.Errorf("%s is listed %d times", c.User, times)
		}
	}
	if pages < 5 {
		b.Errorf("%d claims came in %d pages", len(claims), pages)
	}
}

func outboxAge(b *poolBench) {
	const step = 2 * time.Second // longer than the checks take on a busy machine
	i, j := b.loaded(9), b.loaded(9)
	first := b.grab(i, "a", "b")
	b.pass(step)
	second := b.grab(j, "a")
	b.pass(step)
	b.grab(i, "c")
	users := func(age time.Duration) (users []string) {
		for _, c := range b.unsettled(age) {
			users = append(users, c.ID+"/"+c.User)
		}
		return users
	}
	check := func(got []string, want ...string) {
		b.Helper()
		if !slices.Equal(got, want) {
			b.Errorf("unsettled %v, want %v", got, want)
		}
	}
	a, bb, c, d := i.ID+"/a", i.ID+"/b", j.ID+"/a", i.ID+"/c"
	check(users(0), a, bb, c, d)
	check(users(step), a, bb, c)
	check(users(2*step), a, bb)
	check(users(time.Minute))
	b.ack(first[0], second[0])
	check(users(step), bb)
}

func outboxOutlives(b *poolBench) {
	i := b.loaded(2)
	claims := b.grab(i, "a", "b")
	i.Grants = []redpacket.Grant{{User: "z", Share: 0}}
	b.load(i)
	b.close(i, redpacket.CloseDue)
	b.retire(i)
	b.NewGeneration()
	b.wantClaims("still", claims...)
	b.ack(claims...)
	b.wantClaims("acked")
}

func outboxFull(b *poolBench) {
	i := b.loaded(b.OutboxCap + 5)
	other := b.packet(1)
	other.Partition = (i.Partition + 1) % redpacket.Partitions
	b.load(other)
	users := make([]string, b.OutboxCap-1)
	for n := range users {
		users[n] = strconv.Itoa(n)
	}
	claims := b.grab(i, users...)
	got := b.call(redpacket.Attempt{Ref: i.Ref, User: "fits"}, redpacket.Attempt{Ref: i.Ref, User: "over"}, redpacket.Attempt{Ref: i.Ref, User: "fits"})
	n := b.OutboxCap
	b.want("the last place", got[0], redpacket.Answer{Decision: redpacket.Granted, Share: n - 1, Taken: n})
	b.want("over the cap", got[1], redpacket.Answer{Decision: redpacket.Busy, Taken: n})
	b.want("a holder", got[2], redpacket.Answer{Decision: redpacket.Yours, Share: n - 1, Taken: n})
	b.grab(other, "over")
	b.ack(claims[0])
	b.want("a place again", b.ask(i, "over", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: n, Taken: n + 1})
	for range 3 { // a refused attempt takes no space in the outbox
		b.want("full again", b.ask(i, "more", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Busy, Taken: n + 1})
	}
	b.ack(claims[1])
	b.want("one more place", b.ask(i, "more", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: n + 1, Taken: n + 2})
	b.ack(claims[2])
	got = b.call(redpacket.Attempt{Ref: i.Ref, User: "x"}, redpacket.Attempt{Ref: i.Ref, User: "y"})
	b.want("one place", got[0], redpacket.Answer{Decision: redpacket.Granted, Share: n + 2, Taken: n + 3})
	b.want("for two", got[1], redpacket.Answer{Decision: redpacket.Busy, Taken: n + 3})
}

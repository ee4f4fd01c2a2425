package storetest

import (
	"cmp"
	"flag"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
)

func propertyTests() []poolTest {
	return []poolTest{
		{"Property/loads commute and repeat", loadsCommute},
		{"Property/any history answers as the model does", historiesAgree},
	}
}

// LimitHistories makes the properties of TestPool the same in each run: they are tested on this many inputs, which are the same
// each time. In make nightly, and if flags of the test binary say so, they are tested on more, and on others each time. A package
// calls it in TestMain, before it parses flags.
func LimitHistories(checks int) {
	if enginetest.Tonight("waits") {
		return
	}
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "1"} {
		if err := flag.Set(name, value); err != nil {
			panic(err) // package rapid has no such flag any more
		}
	}
}

func users() []string { return []string{"a", "b", "c", "d", "e", "f", "g"} }

// check tests a property on many random inputs, on one engine, with new packets each time.
func (b *poolBench) check(property func(rt *rapid.T, b *poolBench)) {
	rapid.Check(b.t, func(rt *rapid.T) {
		run := *b
		run.TB = rt
		property(rt, &run)
		b.packets = run.packets
	})
}

// drawClaims draws the claims that SQL finally holds of a packet: each user and each share at most once. Each prefix
// of the list is what SQL held at an earlier time.
func drawClaims(rt *rapid.T, count int) []redpacket.Grant {
	shares := make([]int, count)
	for share := range shares {
		shares[share] = share
	}
	shares = rapid.Permutation(shares).Draw(rt, "shares")
	claimants := rapid.Permutation(users()).Draw(rt, "claimants")
	claims := make([]redpacket.Grant, rapid.IntRange(0, min(count, len(claimants))).Draw(rt, "claims"))
	for n := range claims {
		claims[n] = redpacket.Grant{User: claimants[n], Share: shares[n]}
	}
	return claims
}

// drawHistory returns the states of a packet in SQL over time: claims are only added, and a closed packet stays closed.
func drawHistory(rt *rapid.T, i redpacket.Image) []redpacket.Image {
	claims := drawClaims(rt, i.Count)
	var history []redpacket.Image
	for n := range len(claims) + 1 {
		i.Grants = slices.Clone(claims[:n])
		history = append(history, i)
	}
	if rapid.Bool().Draw(rt, "closed in SQL") {
		i.Status = rapid.SampledFrom([]redpacket.Status{redpacket.Drained, redpacket.Expired, redpacket.Cancelled}).Draw(rt, "status")
		history = append(history, i)
	}
	return history
}

// drawHold draws for which of the users shares are held.
func drawHold(rt *rapid.T, count int, until time.Time) redpacket.Hold {
	h := redpacket.Hold{Until: until, For: drawClaims(rt, count)}
	slices.SortFunc(h.For, func(x, y redpacket.Grant) int { return cmp.Compare(x.User, y.User) })
	if len(h.For) == 0 {
		return redpacket.Hold{}
	}
	return h
}

func drawCloseReason(rt *rapid.T) redpacket.CloseReason {
	return rapid.SampledFrom([]redpacket.CloseReason{redpacket.CloseDue, redpacket.CloseCancel, redpacket.CloseEarly}).Draw(rt, "why")
}

// loadsCommute loads the same images of two equal packets in different orders, some of them repeatedly. Both packets
// must end in the same state.
func loadsCommute(b *poolBench) {
	b.check(func(rt *rapid.T, b *poolBench) {
		count := rapid.IntRange(1, 6).Draw(rt, "count")
		x, y := b.packet(count), b.packet(count)
		if b.Advance != nil { // by the real clock, the deadline must not pass between two calls
			x.Deadline = b.Now().Add(redpacket.CloseLease)
		}
		y.Deadline = x.Deadline
		if rapid.Bool().Draw(rt, "held") {
			b.load(x)
			b.load(y)
			for _, user := range users()[:rapid.IntRange(0, 7).Draw(rt, "grabs")] {
				b.ask(x, user, redpacket.MayGrab)
				b.ask(y, user, redpacket.MayGrab)
			}
			switch rapid.IntRange(0, 3).Draw(rt, "then") {
			case 0:
				why := drawCloseReason(rt)
				b.close(x, why)
				b.close(y, why)
			case 1:
				b.NewGeneration()
			}
		}
		history := drawHistory(rt, x)
		order := make([]int, len(history))
		for n := range order {
			order[n] = n
		}
		again := rapid.SliceOf(rapid.SampledFrom(order))
		for _, n := range slices.Concat(again.Draw(rt, "before"), rapid.Permutation(order).Draw(rt, "order"), again.Draw(rt, "after")) {
			b.load(history[n])
		}
		for _, i := range history {
			i.Ref = y.Ref
			b.load(i)
		}
		for _, may := range []redpacket.May{redpacket.NotMember, redpacket.Denied, redpacket.MayGrab} {
			for _, user := range users() {
				want := b.ask(y, user, may)
				want.Entry = ""
				b.want(user, b.ask(x, user, may), want)
			}
		}
		if b.Advance != nil {
			b.pass(redpacket.CloseLease)
		}
		b.wantClosing("close", b.close(x, redpacket.CloseDue), b.close(y, redpacket.CloseDue))
		b.Forget()
	})
}

// historiesAgree runs random histories of two packets on the engine and on packetModel. Both must always agree.
func historiesAgree(b *poolBench) {
	if b.Advance == nil {
		b.Skip("a history needs a clock that can be moved")
	}
	b.check(func(rt *rapid.T, b *poolBench) {
		b.Forget()
		h := &poolHistory{b: b}
		for n := range 2 {
			i := b.packet(rapid.IntRange(1, 5).Draw(rt, "count"))
			i.Deadline = b.Now().Add(time.Duration(1+2*n) * redpacket.CloseLease)
			if rapid.Bool().Draw(rt, "early") {
				i.OpensAt = b.Now().Add(time.Duration(rapid.IntRange(0, 6).Draw(rt, "opens")) * redpacket.CloseLease / 4)
			}
			if rapid.Bool().Draw(rt, "held") {
				i.Hold = drawHold(rt, i.Count, b.Now().Add(time.Duration(rapid.IntRange(0, 8).Draw(rt, "until"))*redpacket.CloseLease/4))
			}
			h.packets = append(h.packets, i)
			h.said = append(h.said, drawHistory(rt, i))
			h.models = append(h.models, &packetModel{})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"grab":  h.grab,
			"load":  h.load,
			"close": h.close,
			"pass": func(rt *rapid.T) {
				h.b.pass(time.Duration(rapid.IntRange(1, 10).Draw(rt, "quarters")) * redpacket.CloseLease / 4)
			},
			"new generation": func(*rapid.T) {
				h.b.NewGeneration()
				for _, m := range h.models {
					m.stale = true
				}
			},
			"forget": func(*rapid.T) {
				h.b.Forget()
				for _, m := range h.models {
					*m = packetModel{}
				}
				h.granted = nil
			},
			"ack": h.ack,
			"":    h.agree,
		})
	})
}

// poolHistory is one history: the engine, a packetModel for each packet, and the packets' states in SQL over time.
type poolHistory struct {
	b       *poolBench
	packets []redpacket.Image
	said    [][]redpacket.Image
	models  []*packetModel
	granted []redpacket.Claim // claims granted and not acked yet
}

func (h *poolHistory) draw(rt *rapid.T) int {
	return rapid.IntRange(0, len(h.packets)-1).Draw(rt, "packet")
}

func (h *poolHistory) grab(rt *rapid.T) {
	attempts := make([]redpacket.Attempt, rapid.IntRange(1, 5).Draw(rt, "attempts"))
	want := make([]redpacket.Answer, len(attempts))
	for n := range attempts {
		p := h.draw(rt)
		attempts[n] = redpacket.Attempt{Ref: h.packets[p].Ref, User: rapid.SampledFrom(users()).Draw(rt, "user"),
			May: redpacket.May(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "may"))}
		want[n] = h.models[p].grab(attempts[n].User, attempts[n].May, h.b.Now())
	}
	for n, got := range h.b.call(attempts...) {
		h.b.want(attempts[n].User, got, want[n])
		if got.Decision == redpacket.Granted {
			h.granted = append(h.granted, redpacket.Claim{Ref: attempts[n].Ref, Share: got.Share, User: attempts[n].User, Entry: got.Entry})
		}
	}
}

func (h *poolHistory) load(rt *rapid.T) {
	n := h.draw(rt)
	i := rapid.SampledFrom(h.said[n]).Draw(rt, "image")
	h.b.load(i)
	h.models[n].load(i, h.b.Now())
}

func (h *poolHistory) close(rt *rapid.T) {
	n, why := h.draw(rt), drawCloseReason(rt)
	want := h.models[n].close(why, h.b.Now())
	h.b.wantClosing("close", h.b.close(h.packets[n], why), want)
}

func (h *poolHistory) ack(rt *rapid.T) {
	if len(h.granted) == 0 {
		return
	}
	n := rapid.IntRange(0, len(h.granted)-1).Draw(rt, "claim")
	h.b.ack(h.granted[n])
	h.granted = slices.Delete(h.granted, n, n+1)
}

// agree compares the engine with the models, without a change of either: the users' shares, the answer to a stranger, the due
// packets and the outbox.
func (h *poolHistory) agree(*rapid.T) {
	var due []redpacket.Image
	for n, m := range h.models {
		for _, user := range users() {
			h.b.want(user, h.b.ask(h.packets[n], user, redpacket.NotMember), m.grab(user, redpacket.NotMember, h.b.Now()))
		}
		h.b.want("a stranger", h.b.ask(h.packets[n], "stranger", redpacket.Denied), m.grab("stranger", redpacket.Denied, h.b.Now()))
		if m.loaded && !m.retired && !h.b.Now().Before(m.due) {
			due = append(due, h.packets[n])
		}
	}
	slices.SortFunc(due, func(x, y redpacket.Image) int {
		return cmp.Or(h.models[h.index(x)].due.Compare(h.models[h.index(y)].due), cmp.Compare(x.ID, y.ID))
	})
	h.b.wantDue("agree", due...)
	h.b.wantClaims("agree", h.granted...)
}

func (h *poolHistory) index(i redpacket.Image) int {
	return slices.IndexFunc(h.packets, func(p redpacket.Image) bool { return p.ID == i.ID })
}

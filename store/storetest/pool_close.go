package storetest

import (
	"slices"
	"time"

	"hongbao/redpacket"
)

func closeTests() []poolTest {
	return []poolTest{
		{"Close/missing", closeMissing},
		{"Close/says why and returns every grant", closeReasons},
		{"Close/the first reason stays", closeFirstReason},
		{"Close/is a lease", closeLease},
		{"Close/an early one is refused, and due at the deadline again", closeEarly},
		{"Close/a cancel that came too late is refused", cancelRefused},
		{"Close/a cancel again is the same cancel", cancelAgain},
		{"Retire/out of the index, still answering", retireAnswers},
		{"Retire/gone after an hour", retireGone},
		{"Due/earliest first, up to the limit", dueInOrder},
		{"Due/some of each partition", dueFairly},
	}
}

func (b *poolBench) wantClosing(when string, got, want redpacket.Closing) {
	b.Helper()
	if got.Missing != want.Missing || got.Refused != want.Refused || got.Reason != want.Reason || !slices.Equal(got.Grants, want.Grants) {
		b.Fatalf("%s:\ngot  %+v\nwant %+v", when, got, want)
	}
}

func closeMissing(b *poolBench) {
	i := b.packet(1)
	b.wantClosing("close", b.close(i, false), redpacket.Closing{Missing: true})
	b.wantClosing("cancel", b.close(i, true), redpacket.Closing{Missing: true})
	b.load(i)
	b.grab(i, "u")
}

func closeReasons(b *poolBench) {
	none, some, all, cancelled := b.short(2), b.short(5), b.loaded(2), b.loaded(2)
	some.Grants = []redpacket.Grant{{User: "z", Share: 3}}
	b.load(some)
	b.grab(some, "a")
	b.grab(all, "a", "b")
	b.pass(soon)
	b.wantClosing("nobody", b.close(none, false), redpacket.Closing{Reason: redpacket.Expired})
	b.wantClosing("some", b.close(some, false), redpacket.Closing{Reason: redpacket.Expired,
		Grants: []redpacket.Grant{{User: "a", Share: 0}, {User: "z", Share: 3}}})
	b.wantClosing("all", b.close(all, false), redpacket.Closing{Reason: redpacket.Drained,
		Grants: []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}}})
	b.wantClosing("cancel", b.close(cancelled, true), redpacket.Closing{Reason: redpacket.Cancelled})
	for reason, i := range map[redpacket.Status]redpacket.Image{redpacket.Expired: none, redpacket.Cancelled: cancelled} {
		b.want("grab after", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: reason})
	}
}

func closeFirstReason(b *poolBench) {
	i := b.short(1)
	b.pass(soon)
	b.close(i, false)
	i.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.load(i) // all taken now
	b.wantClosing("again", b.close(i, false), redpacket.Closing{Reason: redpacket.Expired, Grants: i.Grants})
	j := b.loaded(1)
	b.close(j, true)
	b.wantClosing("after a cancel", b.close(j, false), redpacket.Closing{Reason: redpacket.Cancelled})
}

func closeLease(b *poolBench) {
	i, early := b.packet(1), b.loaded(1)
	i.Deadline = b.Now()
	b.load(i)
	b.wantDue("at the deadline", i)
	for range 2 {
		b.close(i, false)
		b.wantDue("closing")
		b.pass(redpacket.CloseLease)
		b.wantDue("its closer died", i)
	}
	b.close(i, false)
	b.close(early, true)
	b.pass(redpacket.CloseLease)
	if got := b.due(10); len(got) != 2 {
		b.Errorf("due %v, want both", got)
	}
}

// closeEarly closes a packet that was drained, and so due, until SQL disproved a grant.
func closeEarly(b *poolBench) {
	early, i := b.loaded(1), b.packet(2)
	i.Deadline = b.Now().Add(3 * redpacket.CloseLease)
	b.load(i)
	b.grab(i, "a", "b")
	i.Grants = []redpacket.Grant{{User: "a", Share: 1}}
	b.load(i)
	b.pass(redpacket.CloseLease)
	b.wantDue("drained once", i)
	refused := redpacket.Closing{Refused: true, Reason: redpacket.Open}
	for _, open := range []redpacket.Image{i, early} {
		b.wantClosing("before the deadline", b.close(open, false), refused)
	}
	b.wantDue("refused")
	b.want("still open", b.ask(i, "c", redpacket.Denied), redpacket.Answer{Decision: redpacket.IsDenied, Taken: 1})
	b.pass(redpacket.CloseLease)
	b.wantDue("half-way")
	b.pass(redpacket.CloseLease)
	b.wantDue("at the deadline", i)
	b.wantClosing("at the deadline", b.close(i, false), redpacket.Closing{Reason: redpacket.Expired, Grants: i.Grants})
}

func cancelRefused(b *poolBench) {
	grabbed, paid, closed, late := b.loaded(2), b.packet(2), b.packet(2), b.packet(2)
	closed.Deadline = b.Now()
	b.load(closed)
	b.grab(grabbed, "a")
	paid.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.load(paid)
	b.close(closed, false)
	late.Deadline = b.Now()
	b.load(late)
	refused := redpacket.Closing{Refused: true, Reason: redpacket.Open}
	b.wantClosing("a share granted", b.close(grabbed, true), refused)
	b.wantClosing("a share paid", b.close(paid, true), refused)
	b.wantClosing("due", b.close(late, true), refused)
	b.wantClosing("expired", b.close(closed, true), redpacket.Closing{Refused: true, Reason: redpacket.Expired})
	b.want("refused changes nothing", b.ask(grabbed, "b", redpacket.MayGrab),
		redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true})
	b.wantDue("refused changes nothing", late)
}

func cancelAgain(b *poolBench) {
	i := b.loaded(2)
	cancelled := redpacket.Closing{Reason: redpacket.Cancelled}
	b.wantClosing("first", b.close(i, true), cancelled)
	b.wantClosing("again", b.close(i, true), cancelled)
	b.pass(redpacket.CloseLease)
	b.wantClosing("after the lease", b.close(i, true), cancelled)
	i.Grants = []redpacket.Grant{{User: "a", Share: 1}} // that the pool had lost
	b.load(i)
	cancelled.Grants = i.Grants
	b.wantClosing("with a claim", b.close(i, true), cancelled)
}

func retireAnswers(b *poolBench) {
	i := b.short(2)
	b.grab(i, "a")
	b.pass(soon)
	want := b.close(i, false)
	for range 2 {
		b.retire(i)
		b.wantHolders("retired", i, "a", "")
		b.want("retired", b.ask(i, "u", redpacket.MayGrab),
			redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired, Taken: 1})
	}
	b.wantClosing("a second closer", b.close(i, false), want)
	b.load(i) // read before SQL closed it
	b.pass(2 * redpacket.CloseLease)
	b.wantDue("retired")
}

func retireGone(b *poolBench) {
	retired, ended := b.short(2), b.loaded(2)
	b.grab(retired, "a")
	b.pass(10 * time.Minute)
	b.close(retired, false)
	b.retire(retired)
	ended.Status, ended.Grants = redpacket.Expired, []redpacket.Grant{{User: "a", Share: 0}}
	b.load(ended)
	b.pass(59 * time.Minute)
	b.wantHolders("within the hour", retired, "a", "")
	b.wantHolders("within the hour", ended, "a", "")
	b.pass(time.Minute)
	for _, i := range []redpacket.Image{retired, ended} {
		b.want("after it", b.ask(i, "a", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Missing})
	}
	if got := b.unsettled(0, 10); len(got) != 1 {
		b.Errorf("the outbox outlives the image, yet holds %+v", got)
	}
}

// dueFairly: packets that nobody can close stay due, and must not hide those of other partitions.
func dueFairly(b *poolBench) {
	late := func(partition int, by time.Duration) redpacket.Image {
		i := b.packet(1)
		i.Partition, i.Deadline = partition, b.Now().Add(-by)
		b.load(i)
		return i
	}
	stuck := late(1, 9*time.Second)
	second := late(1, 8*time.Second)
	for range 3 {
		late(1, 7*time.Second)
	}
	other, last := late(2, 2*time.Second), late(3, time.Second)
	if got := b.due(4); !slices.Equal(got, []redpacket.Ref{stuck.Ref, second.Ref, other.Ref, last.Ref}) {
		b.Errorf("four of seven: %v", got)
	}
}

func dueInOrder(b *poolBench) {
	packets := make([]redpacket.Image, 5)
	for _, place := range []int{3, 0, 4, 1, 2} {
		i := b.packet(1)
		i.Deadline = b.Now().Add(time.Duration(place-3) * 100 * time.Millisecond)
		b.load(i)
		packets[place] = i
	}
	b.wantDue("with the one of now", packets[:4]...)
	if got := b.due(2); !slices.Equal(got, []redpacket.Ref{packets[0].Ref, packets[1].Ref}) {
		b.Errorf("the first two due: %v", got)
	}
	b.pass(100 * time.Millisecond)
	b.wantDue("a moment later", packets...)
}

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
		{"Close/of a deleted room, whatever is left of it", closeDeleted},
		{"Close/a late cancel is refused", cancelRefused},
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
	b.wantClosing("close", b.close(i, redpacket.CloseDue), redpacket.Closing{Missing: true})
	b.wantClosing("cancel", b.close(i, redpacket.CloseCancel), redpacket.Closing{Missing: true})
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
	b.wantClosing("no grant", b.close(none, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Expired})
	b.wantClosing("some", b.close(some, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Expired,
		Grants: []redpacket.Grant{{User: "a", Share: 0}, {User: "z", Share: 3}}})
	b.wantClosing("all", b.close(all, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Drained,
		Grants: []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}}})
	b.wantClosing("cancel", b.close(cancelled, redpacket.CloseCancel), redpacket.Closing{Reason: redpacket.Cancelled})
	for reason, i := range map[redpacket.Status]redpacket.Image{redpacket.Expired: none, redpacket.Cancelled: cancelled} {
		b.want("grab after", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: reason})
	}
}

func closeFirstReason(b *poolBench) {
	i := b.short(1)
	b.pass(soon)
	b.close(i, redpacket.CloseDue)
	i.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.load(i) // all shares are taken now
	b.wantClosing("again", b.close(i, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Expired, Grants: i.Grants})
	j := b.loaded(1)
	b.close(j, redpacket.CloseCancel)
	b.wantClosing("after a cancel", b.close(j, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Cancelled})
}

func closeLease(b *poolBench) {
	i, early := b.packet(1), b.loaded(1)
	i.Deadline = b.Now()
	b.load(i)
	b.wantDue("at the deadline", i)
	for range 2 {
		b.close(i, redpacket.CloseDue)
		b.wantDue("closing")
		b.pass(redpacket.CloseLease)
		b.wantDue("its closer died", i)
	}
	b.close(i, redpacket.CloseDue)
	b.close(early, redpacket.CloseCancel)
	b.pass(redpacket.CloseLease)
	if got := b.due(10); len(got) != 2 {
		b.Errorf("due %v, want both", got)
	}
}

// closeEarly closes two open packets before their deadline, which must be refused. One of them is due, because it was
// drained until SQL contradicted a grant.
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
		b.wantClosing("before the deadline", b.close(open, redpacket.CloseDue), refused)
	}
	b.wantDue("refused")
	b.want("still open", b.ask(i, "c", redpacket.Denied), redpacket.Answer{Decision: redpacket.IsDenied, Taken: 1})
	b.pass(redpacket.CloseLease)
	b.wantDue("half-way")
	b.pass(redpacket.CloseLease)
	b.wantDue("at the deadline", i)
	b.wantClosing("at the deadline", b.close(i, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Expired, Grants: i.Grants})
}

// closeDeleted closes packets with CloseEarly, as when their room is deleted. It closes a missing, an untouched, a grabbed, a
// drained and a cancelled packet, and one at its deadline. A packet that SQL has closed must not be due again.
func closeDeleted(b *poolBench) {
	untouched, grabbed, drained, cancelled := b.loaded(2), b.loaded(3), b.loaded(1), b.loaded(2)
	b.grab(grabbed, "a", "b")
	b.grab(drained, "a")
	b.close(cancelled, redpacket.CloseCancel)
	b.wantClosing("missing", b.close(b.packet(1), redpacket.CloseEarly), redpacket.Closing{Missing: true})
	ab := []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}}
	for _, when := range []string{"first", "again"} {
		b.wantClosing(when+" untouched", b.close(untouched, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Expired})
		b.wantClosing(when+" grabbed", b.close(grabbed, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Expired, Grants: ab})
		b.wantClosing(when+" drained", b.close(drained, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Drained, Grants: ab[:1]})
		b.wantClosing(when+" cancelled", b.close(cancelled, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Cancelled})
	}
	b.wantHolders("winners hear of their share", grabbed, "a", "b", "")
	b.want("a grab after", b.ask(grabbed, "c", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired, Taken: 2})
	b.wantClosing("a cancel after", b.close(untouched, redpacket.CloseCancel), redpacket.Closing{Refused: true, Reason: redpacket.Expired})
	b.load(untouched) // this image was read from SQL before its room was deleted
	b.want("nothing reopens", b.ask(untouched, "c", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired})
	b.wantDue("closing")
	expired := b.short(1)
	b.pass(soon)
	b.wantClosing("at its deadline", b.close(expired, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Expired})
	b.retire(grabbed)
	b.pass(redpacket.CloseLease)
	if got := b.due(10); len(got) != 4 || slices.Contains(got, grabbed.Ref) {
		b.Errorf("due when the closer has died: %v, want all four but %s, which has ended", got, grabbed.ID)
	}
}

func cancelRefused(b *poolBench) {
	grabbed, paid, closed, late := b.loaded(2), b.packet(2), b.packet(2), b.packet(2)
	closed.Deadline = b.Now()
	b.load(closed)
	b.grab(grabbed, "a")
	paid.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.load(paid)
	b.close(closed, redpacket.CloseDue)
	late.Deadline = b.Now()
	b.load(late)
	refused := redpacket.Closing{Refused: true, Reason: redpacket.Open}
	b.wantClosing("a share granted", b.close(grabbed, redpacket.CloseCancel), refused)
	b.wantClosing("a share paid", b.close(paid, redpacket.CloseCancel), refused)
	b.wantClosing("due", b.close(late, redpacket.CloseCancel), refused)
	b.wantClosing("expired", b.close(closed, redpacket.CloseCancel), redpacket.Closing{Refused: true, Reason: redpacket.Expired})
	b.want("refused changes nothing", b.ask(grabbed, "b", redpacket.MayGrab),
		redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true})
	b.wantDue("refused changes nothing", late)
}

func cancelAgain(b *poolBench) {
	i := b.loaded(2)
	cancelled := redpacket.Closing{Reason: redpacket.Cancelled}
	b.wantClosing("first", b.close(i, redpacket.CloseCancel), cancelled)
	b.wantClosing("again", b.close(i, redpacket.CloseCancel), cancelled)
	b.pass(redpacket.CloseLease)
	b.wantClosing("after the lease", b.close(i, redpacket.CloseCancel), cancelled)
	i.Grants = []redpacket.Grant{{User: "a", Share: 1}} // a grant that only SQL knows: the pool has lost it
	b.load(i)
	cancelled.Grants = i.Grants
	b.wantClosing("with a claim", b.close(i, redpacket.CloseCancel), cancelled)
}

func retireAnswers(b *poolBench) {
	i := b.short(2)
	b.grab(i, "a")
	b.pass(soon)
	want := b.close(i, redpacket.CloseDue)
	for range 2 {
		b.retire(i)
		b.wantHolders("retired", i, "a", "")
		b.want("retired", b.ask(i, "u", redpacket.MayGrab),
			redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired, Taken: 1})
	}
	b.wantClosing("a second closer", b.close(i, redpacket.CloseDue), want)
	b.load(i) // an image that was read before SQL closed the packet
	b.pass(2 * redpacket.CloseLease)
	b.wantDue("retired")
}

func retireGone(b *poolBench) {
	retired, ended := b.short(2), b.loaded(2)
	b.grab(retired, "a")
	b.pass(10 * time.Minute)
	b.close(retired, redpacket.CloseDue)
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
	if got := b.unsettled(0); len(got) != 1 {
		b.Errorf("the outbox outlives the image, yet holds %+v", got)
	}
}

// dueFairly has packets that stay due, because they cannot be closed. These packets must not hide due packets of
// other partitions.
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
	const step = 2 * time.Second // longer than the checks take on a busy machine: the last packet must not be due yet
	at, packets := b.Now(), make([]redpacket.Image, 5)
	for _, place := range []int{3, 0, 4, 1, 2} {
		i := b.packet(1)
		i.Deadline = at.Add(time.Duration(place-3) * step)
		b.load(i)
		packets[place] = i
	}
	b.wantDue("including the present one", packets[:4]...)
	if got := b.due(2); !slices.Equal(got, []redpacket.Ref{packets[0].Ref, packets[1].Ref}) {
		b.Errorf("the first two due: %v", got)
	}
	b.pass(step)
	b.wantDue("a moment later", packets...)
}

package storetest

import (
	"slices"
	"strconv"

	"hongbao/redpacket"
)

func holdTests() []poolTest {
	return []poolTest{
		{"Hold/each of these users gets the own share, others the rest", holdKeeps},
		{"Hold/is free to all afterwards", holdEnds},
		{"Hold/of a packet that opens later", holdEarly},
		{"Hold/is lost and loaded again", holdAgain},
		{"Hold/a share that SQL has given to another user", holdGone},
		{"Hold/closes like an open packet", holdCloses},
		{"Hold/many in one call", holdMany},
	}
}

// holding returns the image of a new packet that holds these shares for some time, after loading it.
func (b *poolBench) holding(count int, held ...redpacket.Grant) redpacket.Image {
	b.timed = b.Advance == nil
	i := b.packet(count)
	i.Hold = redpacket.Hold{Until: b.Now().Add(soon), For: held}
	b.load(i)
	return i
}

func granted(share, taken int) redpacket.Answer {
	return redpacket.Answer{Decision: redpacket.Granted, Share: share, Taken: taken}
}

func allHeld(taken, waiting int) redpacket.Answer {
	return redpacket.Answer{Decision: redpacket.AllHeld, Taken: taken, Waiting: waiting}
}

func holdKeeps(b *poolBench) {
	i := b.holding(5, redpacket.Grant{User: "v", Share: 3}, redpacket.Grant{User: "w", Share: 0})
	b.want("the first one that is not held", b.ask(i, "a", redpacket.MayGrab), granted(1, 1))
	b.want("the own one", b.ask(i, "v", redpacket.MayGrab), granted(3, 2))
	b.want("again", b.ask(i, "v", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Yours, Share: 3, Taken: 2})
	b.want("the next one", b.ask(i, "b", redpacket.MayGrab), granted(2, 3))
	b.want("behind a held one that is gone", b.ask(i, "c", redpacket.MayGrab), granted(4, 4))
	b.want("none but a held one", b.ask(i, "d", redpacket.MayGrab), allHeld(4, 1))
	b.want("denied", b.ask(i, "d", redpacket.Denied), allHeld(4, 1))
	b.want("outsider", b.ask(i, "d", redpacket.NotMember), redpacket.Answer{Decision: redpacket.Outsider, Taken: 4})
	b.want("its user, denied", b.ask(i, "w", redpacket.Denied), redpacket.Answer{Decision: redpacket.IsDenied, Taken: 4})
	b.wantDue("a share waits")
	b.want("its user", b.ask(i, "w", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: 0, Taken: 5, Last: true})
	b.want("all are gone", b.ask(i, "d", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsEmpty, Taken: 5})
	b.wantHolders("after all", i, "w", "a", "b", "v", "c")
	b.wantClosing("close", b.close(i, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Drained, Grants: []redpacket.Grant{
		{User: "w", Share: 0}, {User: "a", Share: 1}, {User: "b", Share: 2}, {User: "v", Share: 3}, {User: "c", Share: 4}}})
}

func holdEnds(b *poolBench) {
	i := b.holding(4, redpacket.Grant{User: "v", Share: 2}, redpacket.Grant{User: "w", Share: 1})
	b.grab(i, "a", "b")
	b.want("held", b.ask(i, "c", redpacket.MayGrab), allHeld(2, 2))
	b.pass(soon)
	b.want("the lowest", b.ask(i, "c", redpacket.MayGrab), granted(1, 3))
	b.want("a user that comes late", b.ask(i, "w", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: 2, Taken: 4, Last: true})
	b.want("another one", b.ask(i, "v", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsEmpty, Taken: 4})
	b.wantHolders("after all", i, "a", "c", "w", "b")
}

func holdEarly(b *poolBench) {
	i := b.packet(2)
	b.timed = b.Advance == nil
	i.OpensAt = b.Now().Add(soon)
	i.Hold = redpacket.Hold{Until: i.OpensAt.Add(soon), For: []redpacket.Grant{{User: "w", Share: 0}}}
	b.load(i)
	b.want("early", b.ask(i, "w", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.NotYet})
	b.pass(soon)
	b.want("open", b.ask(i, "a", redpacket.MayGrab), granted(1, 1))
	b.want("held", b.ask(i, "b", redpacket.MayGrab), allHeld(1, 1))
	b.pass(soon)
	b.want("free", b.ask(i, "b", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Taken: 2, Last: true})
}

func holdAgain(b *poolBench) {
	i := b.holding(3, redpacket.Grant{User: "w", Share: 1})
	for _, lose := range []func(){func() { b.load(i) }, b.NewGeneration, b.Forget} {
		lose()
		b.load(i)
		b.want("held", b.ask(i, "x", redpacket.Denied), redpacket.Answer{Decision: redpacket.IsDenied})
	}
	b.want("the first", b.ask(i, "a", redpacket.MayGrab), granted(0, 1))
	b.want("the third", b.ask(i, "b", redpacket.MayGrab), granted(2, 2))
	i.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.Forget() // the grant of b is not in SQL yet
	b.load(i)
	b.want("the third again", b.ask(i, "c", redpacket.MayGrab), granted(2, 2))
	b.want("held", b.ask(i, "d", redpacket.MayGrab), allHeld(2, 1))
	b.pass(soon)
	b.Forget()
	b.load(i)
	b.want("lost when it was free", b.ask(i, "d", redpacket.MayGrab), granted(1, 2))
}

func holdGone(b *poolBench) {
	i := b.holding(4, redpacket.Grant{User: "v", Share: 0}, redpacket.Grant{User: "w", Share: 1})
	i.Grants = []redpacket.Grant{{User: "a", Share: 1}}
	b.load(i)
	b.want("its user gets another one", b.ask(i, "w", redpacket.MayGrab), granted(2, 2))
	b.want("the other user's stays", b.ask(i, "v", redpacket.MayGrab), granted(0, 3))
}

func holdCloses(b *poolBench) {
	i := b.holding(2, redpacket.Grant{User: "w", Share: 1})
	b.wantClosing("not due", b.close(i, redpacket.CloseDue), redpacket.Closing{Refused: true, Reason: redpacket.Open})
	b.grab(i, "a")
	b.want("held", b.ask(i, "b", redpacket.MayGrab), allHeld(1, 1))
	b.wantDue("a share waits")
	b.wantClosing("still not due", b.close(i, redpacket.CloseDue), redpacket.Closing{Refused: true, Reason: redpacket.Open})
	b.wantClosing("a late cancel", b.close(i, redpacket.CloseCancel), redpacket.Closing{Refused: true, Reason: redpacket.Open})
	b.wantClosing("of a deleted room", b.close(i, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Expired, Grants: []redpacket.Grant{{User: "a", Share: 0}}})
	j := b.holding(2, redpacket.Grant{User: "w", Share: 1})
	b.wantClosing("cancel", b.close(j, redpacket.CloseCancel), redpacket.Closing{Reason: redpacket.Cancelled})
	b.want("cancelled", b.ask(j, "w", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Cancelled})
}

// holdMany holds each second share of many, and lets all users grab in one call.
func holdMany(b *poolBench) {
	const count = 40
	var held []redpacket.Grant
	var attempts []redpacket.Attempt
	i := b.packet(count)
	for n := range count {
		user := "u" + strconv.Itoa(100+n)
		if n%2 == 1 {
			held = append(held, redpacket.Grant{User: user, Share: count - n})
		}
		attempts = append(attempts, redpacket.Attempt{Ref: i.Ref, User: user})
	}
	b.timed = b.Advance == nil
	i.Hold = redpacket.Hold{Until: b.Now().Add(soon), For: held}
	b.load(i)
	attempts = slices.Insert(attempts, 0, redpacket.Attempt{Ref: i.Ref, User: "first"})
	answers := b.call(attempts...)
	for n, ans := range answers {
		switch user := attempts[n].User; {
		case i.Hold.ShareOf(user) >= 0 && (ans.Decision != redpacket.Granted || ans.Share != i.Hold.ShareOf(user)):
			b.Errorf("%s, whose share is held: %+v", user, ans)
		case n == len(answers)-2 && ans.Decision != redpacket.AllHeld:
			b.Errorf("%s comes too late: %+v", user, ans)
		case i.Hold.ShareOf(user) < 0 && n < len(answers)-2 && (ans.Decision != redpacket.Granted || ans.Share%2 != 0):
			b.Errorf("%s, whose share is not held: %+v", user, ans)
		}
	}
	if last := answers[len(answers)-1]; !last.Last {
		b.Errorf("the last one: %+v", last)
	}
}

package storetest

import "hongbao/redpacket"

func earlyTests() []poolTest {
	return []poolTest{
		{"Early/refuses until it opens", earlyRefuses},
		{"Early/is closed like an open packet", earlyCloses},
		{"Early/stays early when it is loaded again", earlyAgain},
	}
}

// early returns the image of a new packet that opens soon, after loading it.
func (b *poolBench) early(count int) redpacket.Image {
	b.timed = b.Advance == nil
	i := b.packet(count)
	i.OpensAt = b.Now().Add(soon)
	b.load(i)
	return i
}

func earlyRefuses(b *poolBench) {
	i := b.early(2)
	refused := redpacket.Answer{Decision: redpacket.NotYet}
	b.want("early", b.ask(i, "u", redpacket.MayGrab), refused)
	b.want("denied", b.ask(i, "u", redpacket.Denied), refused)
	b.want("outsider", b.ask(i, "u", redpacket.NotMember), redpacket.Answer{Decision: redpacket.Outsider})
	for n, ans := range b.call(redpacket.Attempt{Ref: i.Ref, User: "u"}, redpacket.Attempt{Ref: i.Ref, User: "v"}) {
		b.want("together "+string(rune('0'+n)), ans, refused)
	}
	b.wantDue("early")
	b.pass(soon)
	b.want("open, and denied", b.ask(i, "x", redpacket.Denied), redpacket.Answer{Decision: redpacket.IsDenied})
	b.want("open", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Taken: 1})
	b.want("again", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Yours, Taken: 1})
	b.load(i)
	b.want("the last", b.ask(i, "v", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true})
	b.wantHolders("after all", i, "u", "v")
	b.wantClosing("close", b.close(i, redpacket.CloseDue), redpacket.Closing{Reason: redpacket.Drained,
		Grants: []redpacket.Grant{{User: "u", Share: 0}, {User: "v", Share: 1}}})
}

func earlyCloses(b *poolBench) {
	i := b.early(2)
	b.wantClosing("not due", b.close(i, redpacket.CloseDue), redpacket.Closing{Refused: true, Reason: redpacket.Open})
	b.wantClosing("cancel", b.close(i, redpacket.CloseCancel), redpacket.Closing{Reason: redpacket.Cancelled})
	b.want("cancelled", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Cancelled})
	j := b.early(2)
	b.wantClosing("of a deleted room", b.close(j, redpacket.CloseEarly), redpacket.Closing{Reason: redpacket.Expired})
	k := b.early(2)
	b.retire(k)
	b.want("retired", b.ask(k, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired})
}

func earlyAgain(b *poolBench) {
	i := b.early(2)
	b.load(i)
	b.want("loaded twice", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.NotYet})
	b.NewGeneration()
	b.want("another generation", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Missing})
	b.load(i)
	b.want("loaded by it", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.NotYet})
	b.Forget()
	b.load(i)
	b.want("lost and loaded", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.NotYet})
	i.Grants = []redpacket.Grant{{User: "w", Share: 0}} // the clock was set back
	b.load(i)
	b.want("a winner", b.ask(i, "w", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Yours, Taken: 1})
	b.pass(soon)
	b.Forget()
	b.load(i)
	b.want("lost when it was open", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true})
}

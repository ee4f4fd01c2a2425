package storetest

import "hongbao/redpacket"

func loadTests() []poolTest {
	return []poolTest{
		{"Load/SQL's grants have users, the other shares are free, gaps first", loadHoles},
		{"Load/a grant held stays if its user and share are both free", loadKeepsGrants},
		{"Load/a grant held gives way to SQL", loadDropsGrants},
		{"Load/never reopens a packet closed in the Pool", loadKeepsClosed},
		{"Load/takes over SQL's status", loadClosed},
		{"Load/an old image of an open packet changes nothing after SQL has closed it", loadStale},
		{"Load/the due date is the deadline, and sooner if all is taken", loadDue},
		{"Load/of a closed packet keeps the lease", loadLeavesLease},
		{"Load/makes a new generation whole again", loadGeneration},
		{"Load/restores a lost packet", loadForgotten},
	}
}

func loadHoles(b *poolBench) {
	i := b.packet(6)
	i.Grants = []redpacket.Grant{{User: "d", Share: 4}, {User: "b", Share: 1}, {User: "c", Share: 2}}
	b.load(i)
	b.wantHolders("loaded", i, "", "b", "c", "", "d", "")
	for n, share := range []int{0, 3, 5} {
		b.want("grab", b.ask(i, string(rune('v'+n)), redpacket.MayGrab),
			redpacket.Answer{Decision: redpacket.Granted, Share: share, Taken: 4 + n, Last: n == 2})
	}
	b.wantHolders("grabbed", i, "v", "b", "c", "w", "d", "x")
}

func loadKeepsGrants(b *poolBench) {
	i := b.loaded(4)
	b.grab(i, "a", "b")
	i.Grants = []redpacket.Grant{{User: "b", Share: 1}, {User: "d", Share: 3}}
	for range 3 {
		b.load(i)
		b.wantHolders("loaded", i, "a", "b", "", "d")
	}
	b.load(redpacket.Image{Ref: i.Ref, Count: 4, Deadline: i.Deadline, Status: redpacket.Open})
	b.wantHolders("an older image", i, "a", "b", "", "d")
}

func loadDropsGrants(b *poolBench) {
	i := b.loaded(4)
	b.grab(i, "a", "b", "c")
	i.Grants = []redpacket.Grant{{User: "z", Share: 0}, {User: "b", Share: 3}} // z has the share of a, and b has another one than in the pool
	b.load(i)
	b.wantHolders("loaded", i, "z", "", "c", "b")
	b.want("a again", b.ask(i, "a", redpacket.MayGrab),
		redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 4, Last: true})
}

func loadKeepsClosed(b *poolBench) {
	i := b.short(2)
	b.grab(i, "a")
	b.pass(soon)
	b.close(i, redpacket.CloseDue)
	b.load(i)
	expired := redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Expired, Taken: 1}
	b.want("SQL has it open", b.ask(i, "u", redpacket.MayGrab), expired)
	i.Status, i.Grants = redpacket.Drained, []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}}
	b.load(i)
	expired.Taken = 2
	b.want("SQL has another reason", b.ask(i, "u", redpacket.MayGrab), expired)
	b.wantHolders("SQL has another reason", i, "a", "b")
}

func loadClosed(b *poolBench) {
	for _, status := range []redpacket.Status{redpacket.Drained, redpacket.Expired, redpacket.Cancelled} {
		fresh, held := b.packet(2), b.loaded(2)
		b.grab(held, "a")
		for _, i := range []redpacket.Image{fresh, held} {
			i.Status, i.Grants = status, []redpacket.Grant{{User: "a", Share: 0}}
			b.load(i)
			b.want("closed in SQL", b.ask(i, "u", redpacket.MayGrab),
				redpacket.Answer{Decision: redpacket.IsClosed, Reason: status, Taken: 1})
			b.wantHolders("closed in SQL", i, "a", "")
		}
	}
	b.pass(2 * redpacket.CloseLease)
	b.wantDue("out of the index")
}

func loadStale(b *poolBench) {
	i := b.packet(2)
	i.Deadline = b.Now().Add(redpacket.CloseLease / 2)
	b.load(i)
	done := i
	done.Status = redpacket.Cancelled
	b.load(done)
	b.load(i)
	b.want("stale", b.ask(i, "u", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Cancelled})
	b.pass(2 * redpacket.CloseLease)
	b.wantDue("stale")
}

func loadDue(b *poolBench) {
	late, all, soon := b.packet(1), b.packet(1), b.packet(1)
	late.Deadline = b.Now()
	soon.Deadline = b.Now().Add(redpacket.CloseLease / 2)
	all.Grants = []redpacket.Grant{{User: "a", Share: 0}}
	b.load(late)
	b.load(all)
	b.load(soon)
	b.wantDue("loaded", late)
	b.pass(redpacket.CloseLease / 2)
	b.load(all) // a second Load does not delay the packet's due date
	b.wantDue("at the deadline", late, soon)
	b.pass(redpacket.CloseLease / 2)
	b.wantDue("after a lease", late, soon, all)
}

func loadLeavesLease(b *poolBench) {
	i := b.packet(1)
	i.Deadline = b.Now()
	b.load(i)
	b.close(i, redpacket.CloseDue)
	b.load(i)
	b.wantDue("closing")
	b.pass(redpacket.CloseLease / 2)
	b.load(i)
	b.pass(redpacket.CloseLease / 2)
	b.wantDue("after the lease", i)
}

func loadGeneration(b *poolBench) {
	i, closed := b.loaded(2), b.loaded(2)
	claims := b.grab(i, "a")
	b.close(closed, redpacket.CloseCancel)
	b.NewGeneration()
	b.want("a holder", b.ask(i, "a", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Missing})
	if c := b.close(i, redpacket.CloseDue); !c.Missing || c.Refused || len(c.Grants) > 0 {
		b.Errorf("close of an image of an older generation: %+v", c)
	}
	if got := b.unsettled(0); len(got) != 1 || got[0].Entry != claims[0].Entry {
		b.Errorf("the outbox belongs to no generation, yet holds %+v", got)
	}
	b.load(i)
	b.load(closed)
	b.wantHolders("loaded", i, "a", "")
	b.want("closed before", b.ask(closed, "u", redpacket.MayGrab),
		redpacket.Answer{Decision: redpacket.IsClosed, Reason: redpacket.Cancelled})
	b.want("goes on", b.ask(i, "b", redpacket.MayGrab),
		redpacket.Answer{Decision: redpacket.Granted, Share: 1, Taken: 2, Last: true})
}

func loadForgotten(b *poolBench) {
	i := b.loaded(3)
	old := b.grab(i, "a", "b")
	b.Forget()
	b.want("forgotten", b.ask(i, "a", redpacket.MayGrab), redpacket.Answer{Decision: redpacket.Missing})
	if c := b.close(i, redpacket.CloseDue); !c.Missing {
		b.Errorf("close of a forgotten packet: %+v", c)
	}
	if got := b.unsettled(0); len(got) > 0 {
		b.Errorf("the outbox still holds %+v", got)
	}
	i.Grants = []redpacket.Grant{{User: "b", Share: 1}}
	b.load(i)
	b.wantHolders("loaded", i, "", "b", "")
	again := b.grab(i, "a") // the same user and share, in the first entry after the loss
	b.ack(old...)
	b.wantClaims("an ack from before the loss", again...)
}

package storetest

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
)

// TestFundings checks that an engine keeps the contract of redpacket.Fundings, and that of Ledger.Send for funded packets. At the end
// of each test, the audit must find no difference.
func TestFundings(t *testing.T, open func(t *testing.T) (redpacket.Fundings, EventsUnderTest)) {
	for _, test := range []struct {
		name string
		run  func(b *fundingBench)
	}{
		{"a funded packet is credited and sent once", fundedOnce},
		{"a part may come from the wallet", fundedInPart},
		{"a refused packet leaves the funding as it is", refusedLeavesFunding},
		{"a reversed funding sends nothing", reversedSendsNothing},
		{"a sent funding is not reversed", sentNotReversed},
		{"the same request finds its funding", sameRequest},
		{"a funding is dropped only if the host was asked once", droppedOnce},
		{"a host's key funds once", hostKeyOnce},
		{"sending and reversing at once", sendAndReverse},
		{"old fundings are listed", oldListed},
		{"an audit finds forged fundings", forgedFundings},
	} {
		t.Run(test.name, func(t *testing.T) {
			fundings, u := open(t)
			u.UseEvents(allKinds())
			b := &fundingBench{fundings: fundings, eventsBench: &eventsBench{
				ledgerBench: &ledgerBench{T: t, ledger: u.Ledger, rooms: u.Rooms, ctx: t.Context(), now: time.UnixMilli(1_700_000_000_000).UTC()}, u: u,
			}}
			b.furnish()
			test.run(b)
			b.balanced()
		})
	}
}

type fundingBench struct {
	*eventsBench

	fundings redpacket.Fundings
}

// open returns a packet of member(1) that is not sent yet, and its funding by the host in the state asked.
func (b *fundingBench) open(total, amount redpacket.Money) (redpacket.UnsealedPacket, redpacket.Funded) {
	b.Helper()
	o := b.order(member(1), total, 2)
	f, err := b.fundings.OpenFunding(b.ctx, redpacket.Funding{
		ID: b.id("funding"), User: member(1), Room: theRoom, Key: o.Packet.Key, Total: total, State: redpacket.FundingAsked, AskedAt: b.now, Asks: 1,
	})
	b.must(err)
	funded := redpacket.Funded{Funding: f, Amount: amount, HostKey: b.id("debit")}
	o.Funded = &funded
	return o, funded
}

func (b *fundingBench) reverse(f redpacket.Funded, want bool) {
	b.Helper()
	done, err := b.fundings.ReverseFunding(b.ctx, f, b.now)
	b.must(err)
	equal(b.ledgerBench, "reversed now", done, want)
}

func (b *fundingBench) notSent(o redpacket.UnsealedPacket, want error) {
	b.Helper()
	if _, err := b.ledger.Send(b.ctx, o); !errors.Is(err, want) {
		b.Fatalf("send: %v, want %v", err, want)
	}
}

// details returns the kinds of the money events of member(1) after the cursor, and the Data of each of these events.
func (b *fundingBench) details(from eventlog.Cursor) (kinds, details []string) {
	b.Helper()
	all, _ := b.readAll(from, 100, allKinds())
	for _, e := range all {
		if e.User == member(1) && e.Room == "" {
			kinds, details = append(kinds, e.Kind), append(details, string(e.Data))
		}
	}
	return kinds, details
}

func fundedOnce(b *fundingBench) {
	from := b.newest()
	o, f := b.open(1000, 1000)
	for i := range 3 {
		sent, err := b.ledger.Send(b.ctx, o)
		b.must(err)
		equal(b.ledgerBench, "dup", sent.Dup, i > 0)
		equal(b.ledgerBench, "balance", sent.Account.Balance, 0)
		equal(b.ledgerBench, "account", sent.Account, b.account(member(1)))
		o.Packet.ID, o.EntryID = b.id("packet"), b.id("entry")
	}
	b.funded += 1000
	all, _, err := b.ledger.Transfers(b.ctx, member(1), "", 10)
	b.must(err)
	if len(all) != 2 || all[0].Kind != redpacket.TransferSend || all[0].Amount != -1000 || all[1].Kind != redpacket.TransferCredit || all[1].Amount != 1000 {
		b.Errorf("transfers %+v, want the packet, and before it the credit", all)
	}
	kinds, details := b.details(from)
	if !reflect.DeepEqual(kinds, []string{eventlog.TransferCredit, eventlog.TransferSend}) {
		b.Errorf("events %v", kinds)
	}
	if want := `{"funding":"` + f.ID + `","room":"` + theRoom + `","key":"` + f.Key + `","amount":1000,"host_key":"` + f.HostKey + `"}`; len(details) == 0 || details[0] != want {
		b.Errorf("the credit's event says %v, want %s", details, want)
	}
	again, err := b.fundings.OpenFunding(b.ctx, f.Funding)
	b.must(err)
	equal(b.ledgerBench, "state", again.State, redpacket.FundingSent)
}

func fundedInPart(b *fundingBench) {
	b.fund(member(1), 300)
	o, _ := b.open(1000, 700)
	equal(b.ledgerBench, "balance", b.send(o).Account.Balance, 0)
	b.funded += 700
}

func refusedLeavesFunding(b *fundingBench) {
	from := b.newest()
	before := b.account(member(1)) // draws the seed
	poor, f := b.open(1000, 999)
	b.notSent(poor, redpacket.ErrInsufficientBalance)
	poor.Expect = "another"
	b.notSent(poor, chat.ErrConflict)
	equal(b.ledgerBench, "account", b.account(member(1)), before)
	if kinds, _ := b.details(from); kinds != nil {
		b.Errorf("events %v of a refused packet", kinds)
	}
	same, err := b.fundings.OpenFunding(b.ctx, redpacket.Funding{ID: "other", User: f.User, Room: f.Room, Key: f.Key, Total: f.Total, AskedAt: b.now})
	b.must(err)
	if same.ID != f.ID || same.State != redpacket.FundingAsked || same.Asks != 2 {
		b.Errorf("%+v, want the funding %s asked twice", same, f.ID)
	}
}

func reversedSendsNothing(b *fundingBench) {
	from := b.newest()
	o, f := b.open(1000, 1000)
	b.reverse(f, true)
	b.reverse(f, false)
	b.notSent(o, chat.ErrUnavailable)
	kinds, details := b.details(from)
	if !reflect.DeepEqual(kinds, []string{eventlog.TransferReversed}) {
		b.Fatalf("events %v, want one", kinds)
	}
	if want := `{"funding":"` + f.ID + `","room":"` + theRoom + `","key":"` + f.Key + `","amount":1000,"host_key":"` + f.HostKey + `"}`; details[0] != want {
		b.Errorf("the event says %s, want %s", details[0], want)
	}
	next, err := b.fundings.OpenFunding(b.ctx, redpacket.Funding{ID: "next", User: f.User, Room: f.Room, Key: f.Key, Total: f.Total, AskedAt: b.now})
	b.must(err)
	equal(b.ledgerBench, "id of the next funding", next.ID, "next")
	o.Funded = &redpacket.Funded{Funding: next, Amount: 1000, HostKey: b.id("debit")}
	b.send(o)
	b.funded += 1000

	_, unknown := b.open(500, 0)
	unknown.HostKey = ""
	b.reverse(unknown, true)
	if _, details := b.details(from); details[len(details)-1] != `{"funding":"`+unknown.ID+`","room":"`+theRoom+`","key":"`+unknown.Key+`"}` {
		b.Errorf("the event of a funding without an answer says %s", details[len(details)-1])
	}
}

func sentNotReversed(b *fundingBench) {
	o, f := b.open(1000, 1000)
	b.send(o)
	b.funded += 1000
	from := b.newest()
	b.reverse(f, false)
	b.must(b.fundings.DropFunding(b.ctx, f.Funding))
	if kinds, _ := b.details(from); kinds != nil {
		b.Errorf("events %v", kinds)
	}
	again, err := b.fundings.OpenFunding(b.ctx, f.Funding)
	b.must(err)
	equal(b.ledgerBench, "state", again.State, redpacket.FundingSent)
}

func sameRequest(b *fundingBench) {
	_, f := b.open(1000, 1000)
	later := redpacket.Funding{ID: "later", User: f.User, Room: f.Room, Key: f.Key, Total: f.Total, AskedAt: b.now.Add(time.Second)}
	got, err := b.fundings.OpenFunding(b.ctx, later)
	b.must(err)
	want := f.Funding
	want.Asks, want.AskedAt = 2, later.AskedAt
	equal(b.ledgerBench, "funding", got, want)
	later.Total = 999
	if _, err := b.fundings.OpenFunding(b.ctx, later); !errors.Is(err, chat.ErrKeyReused) {
		b.Errorf("another total: %v", err)
	}
	for _, other := range []redpacket.Funding{
		{ID: "of another user", User: sender, Room: f.Room, Key: f.Key, Total: 5, AskedAt: b.now},
		{ID: "in another room", User: f.User, Room: "other", Key: f.Key, Total: 5, AskedAt: b.now},
	} {
		got, err := b.fundings.OpenFunding(b.ctx, other)
		b.must(err)
		equal(b.ledgerBench, "id", got.ID, other.ID)
	}
}

func droppedOnce(b *fundingBench) {
	_, f := b.open(1000, 1000)
	b.must(b.fundings.DropFunding(b.ctx, f.Funding))
	b.reverse(f, false) // the funding was deleted
	_, f = b.open(1000, 1000)
	_, err := b.fundings.OpenFunding(b.ctx, f.Funding)
	b.must(err)
	b.must(b.fundings.DropFunding(b.ctx, f.Funding))
	b.reverse(f, true) // DropFunding did nothing, because the host was asked twice
}

func hostKeyOnce(b *fundingBench) {
	o, f := b.open(1000, 1000)
	b.send(o)
	b.funded += 1000
	second, g := b.open(1000, 1000)
	second.Funded.HostKey = f.HostKey
	b.notSent(second, chat.ErrConflict)
	g.HostKey = f.HostKey
	from := b.newest()
	b.reverse(g, true)
	if _, details := b.details(from); details[0] != `{"funding":"`+g.ID+`","room":"`+theRoom+`","key":"`+g.Key+`","amount":1000}` {
		b.Errorf("the event says %s, but the key is that of a sent funding", details[0])
	}
}

func sendAndReverse(b *fundingBench) {
	for range 10 {
		o, f := b.open(100, 100)
		var both sync.WaitGroup
		var sendErr, reverseErr error
		var reversed bool
		both.Go(func() { _, sendErr = b.ledger.Send(b.ctx, o) })
		both.Go(func() { reversed, reverseErr = b.fundings.ReverseFunding(b.ctx, f, b.now) })
		both.Wait()
		b.must(reverseErr)
		if (sendErr == nil) == reversed {
			b.Fatalf("sent %v, reversed %v: want exactly one", sendErr == nil, reversed)
		}
		if sendErr == nil {
			b.funded += 100
		}
	}
}

func oldListed(b *fundingBench) {
	_, first := b.open(100, 100)
	b.now = b.now.Add(time.Second)
	_, second := b.open(200, 200)
	sent, _ := b.open(300, 300)
	b.send(sent)
	b.funded += 300
	_, reversed := b.open(400, 400)
	b.reverse(reversed, true)
	for before, want := range map[time.Time][]redpacket.Funding{
		b.now:                  {first.Funding},
		b.now.Add(time.Second): {first.Funding, second.Funding},
	} {
		all, err := b.fundings.AskedFundings(b.ctx, before, 10)
		b.must(err)
		equal(b.ledgerBench, "fundings", all, want)
	}
	one, err := b.fundings.AskedFundings(b.ctx, b.now.Add(time.Hour), 1)
	b.must(err)
	equal(b.ledgerBench, "one funding", one, []redpacket.Funding{first.Funding})
}

func forgedFundings(b *fundingBench) {
	o, _ := b.open(1000, 1000)
	b.send(o)
	b.funded += 1000
	for forge, repair := range map[string]string{
		`update fundings set amount = amount + 1`:        `update fundings set amount = amount - 1`,
		`update fundings set total = total + 1`:          `update fundings set total = total - 1`,
		`update fundings set id = id || 'x'`:             `update fundings set id = substr(id, 1, length(id) - 1)`,
		`update fundings set room_id = 'another'`:        `update fundings set room_id = '` + theRoom + `'`,
		`update fundings set packet_id = null`:           `update fundings set packet_id = '` + o.Packet.ID + `'`,
		`update fundings set state = 'reversed'`:         `update fundings set state = 'sent'`,
		`update fundings set state = 'asked'`:            `update fundings set state = 'sent'`,
		`update fundings set user_id = '` + sender + `'`: `update fundings set user_id = '` + member(1) + `'`,
	} {
		b.must(b.u.Exec(forge))
		if a := b.audit(); len(a.Differences) == 0 {
			b.Errorf("%s: the audit finds no difference", forge)
		}
		b.must(b.u.Exec(repair))
	}
}

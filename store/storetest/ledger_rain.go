package storetest

import (
	"encoding/hex"
	"slices"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
)

const (
	rainTries = 20
	tooSlow   = "each of twenty rains had a wave that was over before it was looked at"
)

func rainTests() []ledgerTest {
	return []ledgerTest{
		{"rain/waves are entered, drawn and paid", func(b *ledgerBench) {
			for tries := 1; !b.threeWaves(); tries++ { // a machine may be so slow that a wave is over before it is looked at
				if tries == rainTries {
					b.Fatal(tooSlow)
				}
			}
		}},
		{"rain/a user may win in several waves", func(b *ledgerBench) {
			p := b.enteredTwice(member(0))
			d := b.drawNow(p, redpacket.CloseEarly)
			equal(b, "winners", [][]string{d.Waves[1].Winners, d.Waves[2].Winners}, [][]string{{member(0)}, {member(0)}})
			grants := b.winners(d)
			b.verdict(redpacket.PaidNow, redpacket.Claim{Ref: p.Ref, Share: 0, Wave: 2, User: member(0), At: b.now})
			closed := b.close(p, redpacket.Expired, grants...)
			equal(b, "claims", len(closed.Book.Claims), 2)
			state := b.rainState(p, member(0))
			equal(b, "won", state.Mine.Amount, closed.Book.Shares[0]+closed.Book.Shares[1])
			received, err := b.ledger.Packets(b.ctx, redpacket.PacketsQuery{Of: member(0), Direction: redpacket.DirReceived, Limit: 10})
			b.must(err)
			equal(b, "received", []any{len(received.Packets), received.Packets[0].State.Mine.Amount, received.Totals.Amount}, []any{1, state.Mine.Amount, state.Mine.Amount})
		}},
		{"rain/early end and cancel", func(b *ledgerBench) {
			p, _ := b.rain(2, 1, time.Hour)
			equal(b, "no wave yet", b.enter(p, member(0)), redpacket.Entering{Status: redpacket.Open, Entered: map[string]redpacket.Participant{}})
			if d := b.drawNow(p, redpacket.CloseDue); !d.Refused || len(d.Waves) > 0 {
				b.Errorf("due: %+v", d)
			}
			d := b.drawNow(p, redpacket.CloseEarly)
			none := proof.Root(nil)
			equal(b, "nothing was drawn", []any{d.Refused, len(d.Waves), d.Book.Draw.Root}, []any{false, 0, hexOf(none)})
			equal(b, "refund", b.close(p, redpacket.Expired).Book.Refunded, 1000)
			p, _ = b.rain(2, 1, time.Hour)
			for range 2 {
				if d := b.drawNow(p, redpacket.CloseCancel); d.Refused {
					b.Error("refused")
				}
			}
			equal(b, "cancelled", b.close(p, redpacket.Cancelled).Book.Status, redpacket.Cancelled)
		}},
	}
}

// threeWaves plays a rain. It returns false if a wave was over, or had begun, before it was looked at.
func (b *ledgerBench) threeWaves() bool {
	b.Helper()
	p, opens := b.rain(2, 1, 3800*time.Millisecond) // the second wave is open for 800 ms
	second := b.enter(p, member(0), member(1), member(2), member(0))
	again := b.enter(p, member(1))
	if second.Wave != 2 || again.Wave != 2 {
		return b.tooLate(p)
	}
	equal(b, "new", second.New, []string{member(0), member(1), member(2)})
	equal(b, "entered again", again.Entered[member(1)], second.Entered[member(1)])
	equal(b, "leaf", second.Entered[member(1)].Leaf, proof.Leaf(sender, p.Key, 2, member(1)))
	if d := b.drawNow(p, redpacket.CloseCancel); !d.Refused {
		b.Error("cancelled although users have entered")
	}
	d := b.drawNow(p, redpacket.CloseDue)
	nothing := b.drawNow(p, redpacket.CloseDue)
	if len(nothing.Waves) != 1 {
		return b.tooLate(p)
	}
	equal(b, "waves", []any{d.Refused, len(d.Waves), d.New}, []any{true, 1, 1}) // the first one is over, and nobody has entered it
	equal(b, "nothing new", nothing.New, 0)

	for d.New = 0; d.New == 0; d = b.drawNow(p, redpacket.CloseDue) {
		time.Sleep(20 * time.Millisecond) // sleeps: until the second wave has ended by the clock of the engine
	}
	w := d.Waves[1]
	equal(b, "second wave", []any{w.Number, w.Participants, w.First, len(w.Winners)}, []any{2, 3, 0, 3}) // of 4 shares
	late := b.enter(p, member(3))
	if late.Wave == 3 {
		return b.tooLate(p)
	}
	equal(b, "too late", late, redpacket.Entering{Status: redpacket.Open, Entered: map[string]redpacket.Participant{}})
	for i, user := range w.Winners {
		claim := redpacket.Claim{Ref: p.Ref, Share: i, Wave: 2, User: user, At: b.now}
		b.verdict(redpacket.PaidNow, claim)
		b.verdict(redpacket.Duplicate, claim)
	}
	third := b.enter(p, member(1), member(3))
	for third.Wave == 0 {
		if time.Now().After(p.ExpiresAt) {
			return b.tooLate(p)
		}
		time.Sleep(20 * time.Millisecond) // sleeps: until the third wave has begun by the clock of the engine
		third = b.enter(p, member(1), member(3))
	}
	equal(b, "third wave", []any{third.Wave, third.Participants, len(third.New)}, []any{3, 2, 2})
	if again = b.enter(p, member(1)); again.Wave == 3 {
		equal(b, "participants of the third wave", again.Participants, 2)
	}
	state := b.rainState(p, member(1))
	equal(b, "wins", []any{state.Claimed, state.Rain.Drawn, len(state.Rain.Wins), state.Rain.Wins[0].Wave, state.Mine.Amount}, []any{3, 2, 1, 2, state.Rain.Wins[0].Amount})
	equal(b, "my entry", state.Draw.Mine.Wave, 3)
	equal(b, "plans", b.plans(p), []redpacket.RainPlan{{Ref: p.Ref, Room: p.Room, Begins: p.ExpiresAt.Add(-p.Window), Opens: opens, Drawn: 2}})

	d = b.drawNow(p, redpacket.CloseEarly)
	equal(b, "ended", []any{d.Refused, d.New, len(d.Waves)}, []any{false, 1, 3})
	equal(b, "the winner of a wave is passed over", d.Waves[2].Winners, []string{member(3)})
	equal(b, "first share", d.Waves[2].First, 3)
	equal(b, "participants", d.Book.Draw.Participants, 5)
	once := b.drawNow(p, redpacket.CloseDue)
	once.New = d.New
	equal(b, "drawn again", once, d)
	grants := b.winners(d)
	equal(b, "grant", grants[3], redpacket.Grant{User: member(3), Share: 3, Wave: 3})
	closed := b.close(p, redpacket.Expired, grants...)
	equal(b, "claims", len(closed.Book.Claims), 4)
	equal(b, "refund", closed.Book.Refunded, closed.Book.Shares[4]+closed.Book.Shares[5])
	equal(b, "plans", len(b.plans(p)), 0)
	waves, err := b.ledger.Waves(b.ctx, p.ID)
	b.must(err)
	equal(b, "waves", waves, d.Waves)
	all, err := b.ledger.Participants(b.ctx, p.ID, 3, "", 10)
	b.must(err)
	equal(b, "participants of the third wave", []any{len(all), all[0].User, all[1].User}, []any{2, member(1), member(3)})
	return true
}

// enteredTwice sends a rain of three shares, whose second and third wave the user enters.
func (b *ledgerBench) enteredTwice(user string) redpacket.Packet {
	b.Helper()
	for range rainTries {
		p, _ := b.rain(1, 2, 3300*time.Millisecond)
		second := b.enter(p, user)
		third := second
		for third.Wave != 3 && time.Now().Before(p.ExpiresAt) {
			time.Sleep(20 * time.Millisecond) // sleeps: until the third wave has begun by the clock of the engine
			third = b.enter(p, user)
		}
		if second.Wave == 2 && third.Wave == 3 {
			return p
		}
		b.tooLate(p)
	}
	b.Fatal(tooSlow)
	panic("not reached")
}

// tooLate ends a rain, and returns false.
func (b *ledgerBench) tooLate(p redpacket.Packet) bool {
	b.Helper()
	d := b.drawNow(p, redpacket.CloseEarly)
	b.close(p, redpacket.Expired, b.winners(d)...)
	return false
}

// rain sends a rain of three waves that ends after left. Each wave begins half a second after the end of the one before.
func (b *ledgerBench) rain(shares, maxWins int, left time.Duration) (redpacket.Packet, []time.Time) {
	b.Helper()
	o := b.order(sender, 1000, 3*shares)
	p := &o.Packet
	p.Partition, p.Window, p.Rest, p.Rain = redpacket.NoPartition, 3*redpacket.WaveCell, redpacket.RestRefund, redpacket.Rain{Waves: 3, MaxWins: maxWins}
	p.ExpiresAt = time.Now().Add(left)
	sent := b.send(o)
	for i, opens := range sent.Opens {
		equal(b, "opens", sent.Packet.ExpiresAt.Sub(opens), time.Duration(3-i)*redpacket.WaveCell-500*time.Millisecond)
	}
	return sent.Packet, sent.Opens
}

func (b *ledgerBench) rainState(p redpacket.Packet, user string) redpacket.State {
	b.Helper()
	page, err := b.ledger.Details(b.ctx, redpacket.DetailsQuery{User: user, Packet: p.ID, Limit: 10})
	b.must(err)
	equal(b, "packet", page.Packet, p)
	return page.State
}

// plans returns those of the open rains that are of the packet.
func (b *ledgerBench) plans(p redpacket.Packet) (found []redpacket.RainPlan) {
	b.Helper()
	for after := (redpacket.RainPlan{}); ; {
		page, err := b.ledger.OpenRains(b.ctx, after, 1)
		b.must(err)
		found = append(found, slices.DeleteFunc(slices.Clone(page), func(r redpacket.RainPlan) bool { return r.ID != p.ID })...)
		if len(page) == 0 {
			return found
		}
		after = page[0]
	}
}

func hexOf(h proof.Hash) string { return hex.EncodeToString(h[:]) }

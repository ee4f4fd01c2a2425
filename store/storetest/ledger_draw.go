package storetest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
)

// farAway is a cutoff that the engine's clock does not reach.
var farAway = time.UnixMilli(4_000_000_000_000).UTC()

func drawTests() []ledgerTest {
	return []ledgerTest{
		{"draw/entering and drawing", func(b *ledgerBench) {
			p := b.draw(1000, 3, redpacket.RestRefund, farAway)
			first := b.enter(p, member(0), member(1), member(0))
			equal(b, "new", first.New, []string{member(0), member(1)})
			equal(b, "participants", first.Participants, 2)
			if d := b.drawNow(p, redpacket.CloseCancel); !d.Refused {
				b.Error("cancelled although users have entered")
			}
			again := b.enter(p, member(1), member(2), member(3), member(4))
			equal(b, "new", again.New, []string{member(2), member(3), member(4)})
			equal(b, "the first entry counts", again.Entered[member(1)], first.Entered[member(1)])
			equal(b, "participants", again.Participants, 5)

			if d := b.drawNow(p, redpacket.CloseDue); !d.Refused {
				b.Error("drawn before the window has ended")
			}
			d := b.drawNow(p, redpacket.CloseEarly)
			equal(b, "entered", len(d.Participants), 5)
			leaves := make([]proof.Hash, len(d.Participants))
			for i, n := range d.Participants {
				leaves[i] = n.Leaf
			}
			root := proof.Root(leaves)
			equal(b, "drawn", *d.Book.Draw, redpacket.Drawn{At: d.Book.Draw.At, Participants: 5, Root: hex.EncodeToString(root[:])})
			equal(b, "drawn again", b.drawNow(p, redpacket.CloseDue), d)
			equal(b, "too late", b.enter(p, member(5), member(1)), redpacket.Entering{
				Status: redpacket.Open, Participants: 5, Entered: map[string]redpacket.Participant{member(1): first.Entered[member(1)]}})

			order := proof.Order(d.Book.Seed, p.From.ID, p.Key, 0, leaves)
			var grants []redpacket.Grant
			for share, i := range proof.Winners(order, 3) {
				grants = append(grants, redpacket.Grant{User: d.Participants[i].User, Share: share})
			}
			b.verdict(redpacket.PaidNow, b.claim(p, grants[0].User, 0))
			closed := b.close(p, redpacket.Expired, grants...)
			equal(b, "status", closed.Book.Status, redpacket.Drained)
			equal(b, "refund", closed.Book.Refunded, 0)
			if body := string(closed.Entry.Body); !strings.Contains(body, `"draw":{"participants":5,"root":"`+d.Book.Draw.Root) {
				b.Errorf("the entry lacks the draw: %s", body)
			}
			equal(b, "after the end", b.enter(p, member(0)).Status, redpacket.Drained)
			equal(b, "drawn after the end", b.drawNow(p, redpacket.CloseDue).Book, b.book(p))
		}},
		{"draw/thousands enter in the last moment", func(b *ledgerBench) {
			const callers, users = 5, 200
			p := b.draw(1000, 3, redpacket.RestRefund, time.Now().Add(300*time.Millisecond))
			var entered [callers]int
			together(callers, func(i int) {
				for n := 0; ; n++ {
					var all []redpacket.Entrant
					for user := range users {
						all = append(all, redpacket.Entrant{User: fmt.Sprintf("u-%d-%d-%d", i, n, user)})
					}
					e, err := b.ledger.Enter(b.ctx, p.ID, all)
					b.must(err)
					if len(e.New) == 0 { // the window has ended
						return
					}
					entered[i] += len(e.New)
				}
			})
			total := 0
			for _, n := range entered {
				total += n
			}
			d := b.drawNow(p, redpacket.CloseDue)
			equal(b, "drawn", []any{d.Refused, len(d.Participants), d.Book.Draw.Participants}, []any{false, total, total})
			b.close(p, redpacket.Expired, b.winners(d)...)
			b.Logf("%d users have entered", total)
		}},
		{"draw/nobody enters before it opens", func(b *ledgerBench) {
			o := b.order(sender, 1000, 3)
			o.Packet.Partition, o.Packet.Window, o.Packet.Rest = redpacket.NoPartition, time.Minute, redpacket.RestRefund
			o.Packet.OpensAt, o.Packet.ExpiresAt = farAway.Add(-time.Minute), farAway
			p := b.send(o).Packet
			equal(b, "early", b.enter(p, member(0)), redpacket.Entering{Status: redpacket.Open, Early: true, Entered: map[string]redpacket.Participant{}})
			if d := b.drawNow(p, redpacket.CloseDue); !d.Refused {
				b.Error("drawn before it opens")
			}
			if d := b.drawNow(p, redpacket.CloseCancel); d.Refused {
				b.Error("not cancelled before it opens")
			}
			equal(b, "refund", b.close(p, redpacket.Cancelled).Book.Refunded, 1000)
			open := b.order(sender, 1000, 3)
			open.Packet.Partition, open.Packet.Window, open.Packet.Rest = redpacket.NoPartition, time.Minute, redpacket.RestRefund
			open.Packet.OpensAt, open.Packet.ExpiresAt = b.now, farAway // long ago
			equal(b, "entered", b.enter(b.send(open).Packet, member(0)).New, []string{member(0)})
		}},
		{"draw/fewer participants than shares, refunded", func(b *ledgerBench) {
			p := b.draw(1000, 10, redpacket.RestRefund, farAway)
			b.enter(p, member(0), member(1))
			d := b.drawNow(p, redpacket.CloseEarly)
			equal(b, "shares", len(d.Book.Shares), 10)
			closed := b.close(p, redpacket.Expired, b.winners(d)...)
			equal(b, "status", closed.Book.Status, redpacket.Expired)
			equal(b, "claims", len(closed.Book.Claims), 2)
			equal(b, "refund", closed.Book.Refunded, 1000-closed.Book.Shares[0]-closed.Book.Shares[1])
		}},
		{"draw/fewer participants than shares, shared", func(b *ledgerBench) {
			for _, mode := range []redpacket.Mode{redpacket.Lucky, redpacket.Equal} {
				p, d := b.drawWhole(mode, 1000, 10, redpacket.RestShare, member(0), member(1), member(2))
				equal(b, "parts", d.Book.Draw.Parts, 3)
				cut := d.Book.Packet
				cut.Count = 3
				want, err := redpacket.Cut(d.Book.Seed, cut)
				b.must(err)
				equal(b, "shares", d.Book.Shares, want)
				grants := b.winners(d)
				equal(b, "amount", b.verdict(redpacket.PaidNow, b.claim(p, grants[2].User, 2)).Amount, want[2])
				closed := b.close(p, redpacket.Expired, grants...)
				equal(b, "status", closed.Book.Status, redpacket.Drained)
				equal(b, "refund", closed.Book.Refunded, 0)
				equal(b, "count", closed.Book.Packet.Count, 10)
				equal(b, "read again", b.book(p), closed.Book)
				page, err := b.ledger.Details(b.ctx, redpacket.DetailsQuery{User: member(1), Packet: p.ID, Limit: 10})
				b.must(err)
				equal(b, "shares of the details", page.Shares, want)
			}
		}},
		{"draw/as many participants as shares are not cut anew", func(b *ledgerBench) {
			p, d := b.drawWhole(redpacket.Lucky, 100, 2, redpacket.RestShare, member(0), member(1))
			equal(b, "parts", d.Book.Draw.Parts, 0)
			equal(b, "status", b.close(p, redpacket.Expired, b.winners(d)...).Book.Status, redpacket.Drained)
		}},
		{"draw/what ends before its window is not cut anew", func(b *ledgerBench) {
			p := b.draw(100, 5, redpacket.RestShare, farAway)
			b.enter(p, member(0))
			d := b.drawNow(p, redpacket.CloseEarly)
			equal(b, "parts", d.Book.Draw.Parts, 0)
			closed := b.close(p, redpacket.Expired, b.winners(d)...)
			equal(b, "refund", closed.Book.Refunded, 100-closed.Book.Shares[0])
		}},
		{"draw/without participants", func(b *ledgerBench) {
			for _, rest := range []redpacket.Rest{redpacket.RestRefund, redpacket.RestShare} {
				before := b.account(sender).Balance
				p := b.draw(1000, 10, rest, b.now.Add(time.Minute)) // the window has ended long ago
				if d := b.drawNow(p, redpacket.CloseCancel); !d.Refused {
					b.Error("cancelled after the window")
				}
				equal(b, "too late", b.enter(p, member(0)), redpacket.Entering{Status: redpacket.Open, Entered: map[string]redpacket.Participant{}})
				d := b.drawNow(p, redpacket.CloseDue)
				equal(b, "participants", len(d.Participants), 0)
				closed := b.close(p, redpacket.Expired)
				equal(b, "status", closed.Book.Status, redpacket.Expired)
				equal(b, "balance", b.account(sender).Balance, before)
			}
		}},
		{"draw/a cancel repeats itself", func(b *ledgerBench) {
			p := b.draw(1000, 10, redpacket.RestRefund, farAway)
			for range 2 {
				if d := b.drawNow(p, redpacket.CloseCancel); d.Refused {
					b.Error("refused")
				}
			}
			equal(b, "nobody enters", len(b.enter(p, member(0)).Entered), 0)
			equal(b, "status", b.close(p, redpacket.Cancelled).Book.Status, redpacket.Cancelled)
		}},
		{"draw/a refused user is found, and not entered", func(b *ledgerBench) {
			p := b.draw(1000, 10, redpacket.RestRefund, farAway)
			refused := func(user string) redpacket.Entrant {
				e := redpacket.Entrant{User: user}
				e.Refused = true
				return e
			}
			e, err := b.ledger.Enter(b.ctx, p.ID, []redpacket.Entrant{refused(member(0)), {User: member(1)}})
			b.must(err)
			equal(b, "new", e.New, []string{member(1)})
			e, err = b.ledger.Enter(b.ctx, p.ID, []redpacket.Entrant{refused(member(0)), refused(member(1))})
			b.must(err)
			equal(b, "new", e.New, nil)
			_, in := e.Entered[member(0)]
			_, was := e.Entered[member(1)]
			equal(b, "found", []bool{in, was}, []bool{false, true})
		}},
		{"draw/only draws are drawn", func(b *ledgerBench) {
			for _, id := range []string{b.packet(100, 2).ID, "nothing", "\x00"} {
				if _, err := b.ledger.Enter(b.ctx, id, []redpacket.Entrant{{User: member(0)}}); !errors.Is(err, chat.ErrNotFound) {
					b.Errorf("enter %q: %v", id, err)
				}
				if _, err := b.ledger.Draw(b.ctx, redpacket.DrawRequest{Ref: redpacket.Ref{ID: id}, Why: redpacket.CloseEarly}); !errors.Is(err, chat.ErrNotFound) {
					b.Errorf("draw %q: %v", id, err)
				}
			}
		}},
		{"draw/states and lists", func(b *ledgerBench) {
			p, other := b.draw(1000, 3, redpacket.RestRefund, farAway), b.packet(100, 1)
			mine := b.enter(p, member(0), member(1)).Entered[member(0)]
			states := func(user string) []*redpacket.DrawState {
				states, err := b.ledger.States(b.ctx, user, []string{other.ID, p.ID})
				b.must(err)
				return []*redpacket.DrawState{states[0].Draw, states[1].Draw}
			}
			equal(b, "of a participant", states(member(0)), []*redpacket.DrawState{nil, {Participants: 2, Mine: &mine}})
			equal(b, "of another user", states(member(5)), []*redpacket.DrawState{nil, {Participants: 2}})
			page, err := b.ledger.Details(b.ctx, redpacket.DetailsQuery{User: member(0), Packet: p.ID, Limit: 10})
			b.must(err)
			equal(b, "packet", page.Packet, p)
			equal(b, "details", page.State.Draw, &redpacket.DrawState{Participants: 2, Mine: &mine})
			sent, err := b.ledger.Packets(b.ctx, redpacket.PacketsQuery{Of: sender, Direction: redpacket.DirSent, Limit: 10})
			b.must(err)
			i := slices.IndexFunc(sent.Packets, func(s redpacket.PacketState) bool { return s.Packet.ID == p.ID })
			equal(b, "list", sent.Packets[i].State.Draw, &redpacket.DrawState{Participants: 2})

			d := b.drawNow(p, redpacket.CloseEarly)
			b.close(p, redpacket.Expired, b.winners(d)...)
			equal(b, "after the draw", states(member(0))[1], &redpacket.DrawState{Participants: 2, Root: d.Book.Draw.Root, Mine: &mine})
		}},
		{"draw/participants are listed by user", func(b *ledgerBench) {
			p := b.draw(1000, 3, redpacket.RestRefund, farAway)
			b.enter(p, member(0), member(1), member(2), member(3), member(4))
			var all []redpacket.Participant
			for after := ""; ; {
				page, err := b.ledger.Participants(b.ctx, p.ID, 0, after, 2)
				b.must(err)
				if all = append(all, page...); len(page) < 2 {
					break
				}
				after = page[len(page)-1].User
			}
			redpacket.SortByLeaf(all)
			equal(b, "participants", all, b.drawNow(p, redpacket.CloseEarly).Participants)
		}},
	}
}

// draw sends a lucky draw with this cutoff.
func (b *ledgerBench) draw(total redpacket.Money, count int, rest redpacket.Rest, cutoff time.Time) redpacket.Packet {
	b.Helper()
	return b.drawOf(redpacket.Lucky, total, count, rest, cutoff)
}

func (b *ledgerBench) drawOf(mode redpacket.Mode, total redpacket.Money, count int, rest redpacket.Rest, cutoff time.Time) redpacket.Packet {
	b.Helper()
	o := b.order(sender, total, count)
	p := &o.Packet
	p.Mode, p.Partition, p.Window, p.Rest, p.ExpiresAt = mode, redpacket.NoPartition, time.Minute, rest, cutoff
	if mode == redpacket.Equal {
		p.Spread = ""
	}
	return b.send(o).Packet
}

// drawWhole sends a draw, lets the users enter, and draws it when its window has ended. The window is longer if the machine is slow.
func (b *ledgerBench) drawWhole(mode redpacket.Mode, total redpacket.Money, count int, rest redpacket.Rest, users ...string) (p redpacket.Packet, d redpacket.Draw) {
	b.Helper()
	for window := 200 * time.Millisecond; ; window *= 2 {
		p = b.drawOf(mode, total, count, rest, time.Now().Add(window))
		if entered := b.enter(p, users...); len(entered.New) == len(users) {
			break
		}
		b.close(p, redpacket.Expired, b.drawNow(p, redpacket.CloseEarly).Winners()...)
	}
	for d = b.drawNow(p, redpacket.CloseDue); d.Refused; d = b.drawNow(p, redpacket.CloseDue) {
		time.Sleep(20 * time.Millisecond) // sleeps: until the window has ended by the clock of the engine
	}
	return p, d
}

func (b *ledgerBench) enter(p redpacket.Packet, users ...string) redpacket.Entering {
	b.Helper()
	asked := make([]redpacket.Entrant, len(users))
	for i, user := range users {
		asked[i] = redpacket.Entrant{User: user}
	}
	e, err := b.ledger.Enter(b.ctx, p.ID, asked)
	b.must(err)
	return e
}

func (b *ledgerBench) drawNow(p redpacket.Packet, why redpacket.CloseReason) redpacket.Draw {
	b.Helper()
	d, err := b.ledger.Draw(b.ctx, redpacket.DrawRequest{Ref: p.Ref, Why: why})
	b.must(err)
	return d
}

// winners returns the grants of the draw.
func (b *ledgerBench) winners(d redpacket.Draw) []redpacket.Grant {
	b.Helper()
	grants := d.Winners()
	if len(grants) == 0 {
		b.Fatal(fmt.Sprint("no winner among ", len(d.Participants)))
	}
	return grants
}

package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func sendTests() []ledgerTest {
	return []ledgerTest{
		{"send/books everything at once", func(b *ledgerBench) {
			before := b.account(sender)
			o := b.order(sender, 1000, 5)
			sent := b.send(o)
			want := o.Packet
			want.Commitment, want.Seq = before.NextCommitment, 1
			equal(b, "packet", sent.Packet, want)
			equal(b, "account", sent.Account, redpacket.Account{
				Balance: before.Balance - 1000, NextCommitment: redpacket.Commitment(o.NextSeed), Version: before.Version + 1})
			equal(b, "account read", b.account(sender), sent.Account)

			read, err := b.ledger.Packet(b.ctx, want.ID)
			b.must(err)
			equal(b, "packet read", read, want)
			equal(b, "entry", b.entries(), []chat.Entry{sent.Entry})
			b.wantPacketEntry(sent)
			book := b.book(want)
			equal(b, "book", book, redpacket.Book{Packet: want, Status: redpacket.Open, Seed: book.Seed, Shares: book.Shares})
			shares, err := redpacket.Cut(book.Seed, want)
			b.must(err)
			equal(b, "shares", book.Shares, shares)
			equal(b, "commitment", redpacket.Commitment(book.Seed), want.Commitment)
		}},
		{"send/is content of the room", func(b *ledgerBench) {
			b.packet(1000, 5)
			for user, want := range map[string]int64{sender: 0, member(0): 1} {
				m, err := b.rooms.Membership(b.ctx, theRoom, user)
				b.must(err)
				equal(b, "unread of "+user, m.Unread, want)
			}
		}},
		{"send/its entry takes reactions", func(b *ledgerBench) {
			seq := b.packet(1000, 2).Seq
			react := func(kind chat.EntryKind, on bool) (chat.Amended, error) {
				return b.rooms.Amend(b.ctx, chat.Amendment{Kind: kind, Room: theRoom, Target: seq, By: b.user(member(0)), Emoji: "🙏", On: on,
					At: b.now, ID: fmt.Sprint(kind, on), Window: time.Hour})
			}
			reactions := func() map[string]int {
				entries, _, err := b.rooms.History(b.ctx, theRoom, chat.Page{After: new(seq - 1), Limit: 1})
				b.must(err)
				var body struct {
					Total     int
					Reactions map[string]int
				}
				b.must(json.Unmarshal(entries[0].Body, &body))
				equal(b, "total", body.Total, 1000)
				return body.Reactions
			}
			for _, changed := range []bool{true, false} {
				done, err := react(chat.KindReact, true)
				b.must(err)
				equal(b, "changed", done.Changed, changed)
				equal(b, "reactions", reactions(), map[string]int{"🙏": 1})
			}
			if _, err := react(chat.KindRecall, false); !errors.Is(err, chat.ErrBadRequest) {
				b.Errorf("recall of a packet: %v", err)
			}
			_, err := react(chat.KindReact, false)
			b.must(err)
			equal(b, "reactions", reactions(), nil)
		}},
		{"send/a repetition returns the first packet for ever", func(b *ledgerBench) {
			o := b.order(sender, 1000, 2)
			first := b.send(o)
			b.packet(500, 1)
			b.take(first.Packet, 1)
			b.close(first.Packet, redpacket.Expired)
			again := o // the caller draws new ids and a new seed for each attempt
			again.Packet.ID, again.EntryID, again.NextSeed = b.id("packet"), b.id("entry"), redpacket.NewSeed()
			again.Expect = "a commitment that is long gone"
			b.unchanged(func() {
				got := b.send(again)
				equal(b, "repeated", got, redpacket.Sent{Packet: first.Packet, Entry: first.Entry, Account: b.account(sender), Dup: true})
			})
		}},
		{"send/a key means one content", func(b *ledgerBench) {
			o := b.order(sender, 1000, 2)
			b.send(o)
			other := b.order(sender, 1<<50, 2) // the reused key is reported before other mistakes
			other.Packet.Key = o.Packet.Key
			b.unchanged(func() { b.refused(other, chat.ErrKeyReused) })

			_, _, err := b.rooms.Append(b.ctx, chat.Draft{ID: "e", Room: theRoom, From: b.user(sender), Kind: chat.KindText,
				Key: "k", Hash: []byte("a text"), Body: json.RawMessage(`{"text":"hello"}`), At: b.now})
			b.must(err)
			other.Packet.Key = "k"
			b.unchanged(func() { b.refused(other, chat.ErrKeyReused) })
		}},
		{"send/a key is its sender's own", func(b *ledgerBench) {
			b.fund(member(0), 100)
			o := b.order(sender, 100, 1)
			b.send(o)
			other := b.order(member(0), 100, 1)
			other.Packet.Key = o.Packet.Key
			if b.send(other).Dup {
				b.Fatal("another user's key was mistaken for a repetition")
			}
		}},
		{"send/keys that were used are known", func(b *ledgerBench) {
			o := b.order(sender, 1000, 2)
			for _, want := range []bool{false, true} {
				used, err := b.ledger.KeyUsed(b.ctx, sender, o.Packet.Key)
				b.must(err)
				equal(b, "used", used, want)
				b.send(o)
			}
		}},
		{"send/refused changes nothing", func(b *ledgerBench) {
			b.fund(outsider, 500)
			b.fund(member(0), 500)
			_, err := b.rooms.Leave(b.ctx, chat.Leaving{Room: theRoom, User: b.user(member(0)), At: b.now, EntryIDs: [2]string{"l1", "l2"}})
			b.must(err)
			nowhere := b.order(sender, 100, 1)
			nowhere.Packet.Room = "nowhere"
			b.unchanged(func() {
				b.refused(b.order(sender, initial+1, 1), redpacket.ErrInsufficientBalance)
				b.refused(b.order(member(1), 1, 1), redpacket.ErrInsufficientBalance)
				b.refused(b.order(outsider, 100, 1), chat.ErrNotMember)
				b.refused(b.order(member(0), 100, 1), chat.ErrNotMember)
				b.refused(nowhere, chat.ErrNotFound)
			})
			used, err := b.ledger.KeyUsed(b.ctx, sender, nowhere.Packet.Key)
			b.must(err)
			equal(b, "key of a refused send used", used, false)
		}},
		{"send/the whole balance may go", func(b *ledgerBench) {
			b.packet(initial, 1)
			equal(b, "balance", b.account(sender).Balance, 0)
		}},
		{"send/a user has so many packets open at most", func(b *ledgerBench) {
			b.fund(member(0), 100)
			order := func(from string) redpacket.UnsealedPacket {
				o := b.order(from, 10, 1)
				o.MaxOpen = 2
				return o
			}
			first, second, third := order(sender), order(sender), order(sender)
			p := b.send(first).Packet
			b.send(second)
			third.Expect = "a commitment that was never shown" // the limit is checked before the commitment
			b.unchanged(func() {
				_, err := b.ledger.Send(b.ctx, third)
				var field *chat.FieldError
				if !errors.Is(err, chat.ErrLimitExceeded) || !errors.As(err, &field) || field.Field != "open_packets" || field.Limit != 2 {
					b.Errorf("a third packet: %v", err)
				}
				if !b.send(second).Dup {
					b.Error("a repetition is not recognised at the limit")
				}
			})
			b.send(order(member(0)))
			third.Expect = ""
			b.take(p, 1)
			b.unchanged(func() { b.refused(third, chat.ErrLimitExceeded) }) // all shares are paid, but the packet is not closed
			b.close(p, redpacket.Drained)
			b.send(third)
			b.unchanged(func() { b.refused(order(sender), chat.ErrLimitExceeded) })
			b.packet(10, 1) // this send has no limit of open packets
		}},
		{"send/carries the commitment that was shown", func(b *ledgerBench) {
			seen := map[string]bool{}
			for range 5 {
				next := b.account(sender).NextCommitment
				if seen[next] {
					b.Fatal("a commitment came twice")
				}
				seen[next] = true
				o := b.order(sender, 10, 2)
				o.Expect = next
				equal(b, "commitment", b.send(o).Packet.Commitment, next)
			}
		}},
		{"send/with a commitment that is not the current one", func(b *ledgerBench) {
			b.unchanged(func() { b.staleCommitment(sender, b.account(sender).NextCommitment) })
		}},
		{"send/the refusal of a user's first commitment names a valid one", func(b *ledgerBench) {
			o := b.staleCommitment(member(0), "")
			b.fund(member(0), 10)
			equal(b, "commitment", b.send(o).Packet.Commitment, o.Expect)
		}},
	}
}

// wantPacketEntry checks the entry that announces the packet in the room.
func (b *ledgerBench) wantPacketEntry(sent redpacket.Sent) {
	b.Helper()
	p, e := sent.Packet, sent.Entry
	if e.Room != p.Room || e.Seq != 1 || e.Kind != chat.KindPacket || e.Key != p.Key || e.From != p.From || !e.At.Equal(p.CreatedAt) {
		b.Errorf("entry %+v does not fit packet %+v", e, p)
	}
	var body struct {
		ID         string
		Greeting   string
		Commitment string
	}
	b.must(json.Unmarshal(e.Body, &body))
	if body.ID != p.ID || body.Commitment != p.Commitment || body.Greeting != p.Greeting {
		b.Errorf("body %s does not fit packet %+v", e.Body, p)
	}
}

func (b *ledgerBench) refused(o redpacket.UnsealedPacket, want error) {
	b.Helper()
	if _, err := b.ledger.Send(b.ctx, o); !errors.Is(err, want) {
		b.Fatalf("send: %v, want %v", err, want)
	}
}

// staleCommitment sends with a wrong commitment. The refusal must name the user's next commitment, as Account returns it. If
// right is not "", that must be right. staleCommitment returns a packet, not sent yet, that expects the next commitment.
func (b *ledgerBench) staleCommitment(from, right string) redpacket.UnsealedPacket {
	b.Helper()
	o := b.order(from, 10, 2)
	o.Expect = redpacket.Commitment(redpacket.NewSeed())
	_, err := b.ledger.Send(b.ctx, o)
	var stale *redpacket.CommitmentError
	if !errors.As(err, &stale) || !errors.Is(err, chat.ErrConflict) {
		b.Fatalf("send: %v, want a CommitmentError", err)
	}
	if right != "" {
		equal(b, "next commitment", stale.Next, right)
	}
	equal(b, "commitment of now", b.account(from).NextCommitment, stale.Next)
	o.Expect = stale.Next
	return o
}

package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestLedger checks that an engine keeps the contract of redpacket.Ledger, together with the chat.Store that holds
// its rooms. At the end of each test, the audit must find no difference.
func TestLedger(t *testing.T, open func(t *testing.T) (redpacket.Ledger, chat.Store)) {
	all := slices.Concat(sendTests(), settleTests(), closeLedgerTests(), raceTests(), bookTests(), listTests(), adjustTests(), detailsTests(),
		deletedLedgerTests(), accountTests(), epochLedgerTests(), walletTests(), hostLedgerTests(), exportTests(), storyTests(), drawTests(), rainTests(), personTests(), waitingTests())
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			ledger, rooms := open(t)
			b := &ledgerBench{T: t, ledger: ledger, rooms: rooms, ctx: t.Context(), now: time.UnixMilli(1_700_000_000_000).UTC()}
			b.furnish()
			test.run(b)
			b.balanced()
		})
	}
}

type ledgerTest struct {
	name string
	run  func(b *ledgerBench)
}

// ledgerBench is a ledger with one room, members and money. Its helpers fail the test if the engine fails.
type ledgerBench struct {
	*testing.T
	ctx    context.Context
	ledger redpacket.Ledger
	rooms  chat.Store
	now    time.Time
	ids    int
	funded redpacket.Money
}

const (
	theRoom  = "room-1"
	sender   = "sender"
	members  = 30      // besides the sender
	initial  = 100_000 // the sender's money
	outsider = "outsider"
)

func member(i int) string { return fmt.Sprintf("member-%02d", i) }

// furnish creates the users, the room with its members, and the money of the sender. The user outsider is no member. It makes one call
// after the other: each call at the same time would want a session of its own, and many tests need no second one.
func (b *ledgerBench) furnish() {
	b.Helper()
	users := []string{outsider, sender}
	for i := range members {
		users = append(users, member(i))
	}
	for _, u := range users {
		_, _, err := b.rooms.PutUser(b.ctx, chat.Profile{User: b.user(u)}, 0)
		b.must(err)
	}
	_, _, err := b.rooms.CreateRoom(b.ctx, chat.NewRoom{
		ID: theRoom, Name: "the room", Kind: chat.Public, Owner: b.user(sender), Members: users[2:],
		Key: "the-room", Hash: []byte("the room"), At: b.now, MaxRooms: 10,
	})
	b.must(err)
	b.fund(sender, initial)
}

func (b *ledgerBench) user(id string) chat.User {
	return chat.User{ID: id, Name: "Name of " + id, Avatar: "https://example.org/" + id}
}

func (b *ledgerBench) must(err error) {
	b.Helper()
	noError(b, err)
}

// id returns a new id or key.
func (b *ledgerBench) id(of string) string {
	b.ids++
	return fmt.Sprintf("%s-%05d", of, b.ids)
}

func (b *ledgerBench) fund(user string, amount redpacket.Money) redpacket.Account {
	b.Helper()
	acc, dup, err := b.ledger.Adjust(b.ctx, b.adjustment(user, amount))
	if err != nil || dup {
		b.Fatalf("adjust %s by %d: dup %v, %v", user, amount, dup, err)
	}
	b.funded += amount
	return acc
}

func (b *ledgerBench) adjustment(user string, amount redpacket.Money) redpacket.Adjustment {
	key := b.id("adjust")
	return redpacket.Adjustment{ID: "t-" + key, User: user, Amount: amount, Key: key, Hash: []byte(key), Note: "a note", At: b.now}
}

func (b *ledgerBench) account(user string) redpacket.Account {
	b.Helper()
	acc, err := b.ledger.Account(b.ctx, user)
	b.must(err)
	return acc
}

// order returns a lucky packet that lasts for an hour. It is not sent yet.
func (b *ledgerBench) order(from string, total redpacket.Money, count int) redpacket.UnsealedPacket {
	key := b.id("key")
	return redpacket.UnsealedPacket{
		Packet: redpacket.Packet{
			Ref: redpacket.Ref{ID: "packet-" + key, Partition: b.ids % redpacket.Partitions}, Room: theRoom,
			From: b.user(from), Mode: redpacket.Lucky, Spread: redpacket.Classic, Total: total, Count: count,
			Greeting: "<恭喜> & \"发财\"", CreatedAt: b.now, ExpiresAt: b.now.Add(time.Hour), Key: key,
		},
		Hash: []byte("hash of " + key), NextSeed: redpacket.NewSeed(), EntryID: "entry-" + key,
	}
}

func (b *ledgerBench) send(o redpacket.UnsealedPacket) redpacket.Sent {
	b.Helper()
	sent, err := b.ledger.Send(b.ctx, o)
	b.must(err)
	return sent
}

// packet sends a packet from the test's usual sender and returns it.
func (b *ledgerBench) packet(total redpacket.Money, count int) redpacket.Packet {
	b.Helper()
	return b.send(b.order(sender, total, count)).Packet
}

func (b *ledgerBench) claim(p redpacket.Packet, user string, share int) redpacket.Claim {
	return redpacket.Claim{Ref: p.Ref, Share: share, User: user, At: b.now.Add(time.Duration(share) * time.Second)}
}

// take settles shares 0 to n-1 of the packet: share i for member i.
func (b *ledgerBench) take(p redpacket.Packet, n int) {
	b.Helper()
	for i := range n {
		b.verdict(redpacket.PaidNow, b.claim(p, member(i), i))
	}
}

func (b *ledgerBench) settle(claims ...redpacket.Claim) []redpacket.Settlement {
	b.Helper()
	settled := b.ledger.Settle(b.ctx, claims)
	b.must(redpacket.UnsettledErr(settled))
	if len(settled) != len(claims) {
		b.Fatalf("%d settlements of %d claims", len(settled), len(claims))
	}
	return settled
}

// verdict settles one claim and checks the verdict.
func (b *ledgerBench) verdict(want redpacket.Verdict, c redpacket.Claim) redpacket.Settlement {
	b.Helper()
	got := b.settle(c)[0]
	if got.Verdict != want {
		b.Fatalf("%s for share %d: verdict %d, want %d", c.User, c.Share, got.Verdict, want)
	}
	return got
}

func (b *ledgerBench) close(p redpacket.Packet, reason redpacket.Status, grants ...redpacket.Grant) redpacket.Closed {
	b.Helper()
	closed, err := b.ledger.End(b.ctx, b.closing(p, reason, grants...))
	b.must(err)
	return closed
}

func (b *ledgerBench) closing(p redpacket.Packet, reason redpacket.Status, grants ...redpacket.Grant) redpacket.Close {
	return redpacket.Close{Ref: p.Ref, Reason: reason, Grants: grants, At: b.now.Add(time.Minute), EntryID: "done-" + p.ID}
}

func (b *ledgerBench) book(p redpacket.Packet) redpacket.Book {
	b.Helper()
	book, err := b.ledger.Book(b.ctx, p.ID)
	b.must(err)
	return book
}

func (b *ledgerBench) entries() []chat.Entry {
	b.Helper()
	after := int64(0)
	all, more, err := b.rooms.History(b.ctx, theRoom, chat.Page{After: &after, Limit: 5000, MaxBytes: 100 << 20})
	b.must(err)
	if more {
		b.Fatal("the history does not fit a page")
	}
	return all
}

func (b *ledgerBench) audit() redpacket.Audit {
	b.Helper()
	a, err := b.ledger.Audit(b.ctx, nil)
	b.must(err)
	a.Heads = nil // they contain random numbers
	return a
}

// balanced checks that the ledger holds exactly the money that the test has put in, and that the audit finds no
// difference.
func (b *ledgerBench) balanced() {
	b.Helper()
	a := b.audit()
	if a.InWallets+a.InPackets != b.funded || a.Funded != b.funded {
		b.Fatalf("money made or lost: %d put in, %d funded, %d in wallets, %d in packets", b.funded, a.Funded, a.InWallets, a.InPackets)
	}
	for _, d := range a.Differences {
		b.Errorf("the books differ: %s %s: %s", d.Kind, d.ID, d.What)
	}
}

// unchanged runs f and checks that the money, the sender's account and the room's entries stay the same.
func (b *ledgerBench) unchanged(f func()) {
	b.Helper()
	audit, entries, acc := b.audit(), b.entries(), b.account(sender)
	f()
	equal(b, "books", b.audit(), audit)
	equal(b, "room", b.entries(), entries)
	equal(b, "account", b.account(sender), acc)
}

func equal[T any](b *ledgerBench, what string, got, want T) {
	b.Helper()
	if !reflect.DeepEqual(got, want) {
		b.Fatalf("%s: got\n%+v\nwant\n%+v", what, got, want)
	}
}

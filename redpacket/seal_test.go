package redpacket

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// TestSeal: the entry's body is the Packet of web/docs/protocol/objects.md, and holds no secret.
func TestSeal(t *testing.T) {
	o := UnsealedPacket{Packet: cutPacket(cutting{Lucky, Classic}, 1000, 5)}
	o.Packet.Ref = Ref{ID: "p-1", Partition: 9}
	o.Packet.Room, o.Packet.From.Name, o.Packet.Greeting, o.Packet.Passphrase = "r-1", "Li", "新年好", "open sesame"
	o.Packet.CreatedAt, o.Packet.ExpiresAt = time.UnixMilli(1_700_000_000_123), time.UnixMilli(1_700_086_400_123)
	p, shares, body, err := o.Seal(goldenSeed())
	if err != nil {
		t.Fatal(err)
	}
	if want := []Money{134, 413, 159, 278, 16}; !slices.Equal(shares, want) {
		t.Errorf("shares %v, want %v", shares, want)
	}
	if p.Commitment != Commitment(goldenSeed()) || p.ID != "p-1" || p.Passphrase != "open sesame" {
		t.Errorf("sealed packet %+v", p)
	}
	const want = `{"id":"p-1","room":"r-1","from":{"id":"u-1","name":"Li"},"mode":"lucky","spread":"classic","total":1000,` +
		`"count":5,"greeting":"新年好","locked":true,"created_at":1700000000123,"expires_at":1700086400123,` +
		`"commitment":"b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d","key":"k-1"}`
	if string(body) != want {
		t.Errorf("body\n%s, want\n%s", body, want)
	}
	seed := goldenSeed()
	if strings.Contains(string(body), hex.EncodeToString(seed[:])) {
		t.Error("the body reveals the seed")
	}
	o.Packet.Total = 4
	if _, _, _, err := o.Seal(goldenSeed()); err == nil {
		t.Error("sealed 4 in 5 shares")
	}
}

func TestLuckiest(t *testing.T) {
	paid := func(share int, amount Money) Paid {
		return Paid{Share: share, User: chat.User{ID: string(rune('a' + share))}, Amount: amount}
	}
	lucky := cutPacket(cutting{Lucky, Classic}, 100, 3)
	for what, c := range map[string]struct {
		packet Packet
		claims []Paid
		want   string
	}{
		"the largest":                 {lucky, []Paid{paid(0, 30), paid(1, 50), paid(2, 20)}, "b"},
		"the lowest rank on ties":     {lucky, []Paid{paid(2, 40), paid(1, 40), paid(0, 20)}, "b"},
		"of the claims":               {lucky, []Paid{paid(2, 1)}, "c"},
		"none without claims":         {lucky, nil, ""},
		"none of one":                 {cutPacket(cutting{Lucky, Wild}, 100, 1), []Paid{paid(0, 100)}, ""},
		"none where all are the same": {cutPacket(cutting{Equal, ""}, 100, 3), []Paid{paid(0, 34), paid(1, 33)}, ""},
	} {
		got := ""
		if best := Luckiest(c.packet, c.claims); best != nil {
			got = best.User.ID
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// TestDoneBody checks the body of the entry that ends a packet. It must reveal the seed and name the luckiest user
// with that user's amount. It must have no other amount.
func TestDoneBody(t *testing.T) {
	book := Book{
		Packet: cutPacket(cutting{Lucky, Classic}, 1000, 5), Status: Expired, Refunded: 428, Seed: goldenSeed(),
		Claims: []Paid{{Share: 0, User: chat.User{ID: "a"}, Amount: 134}, {Share: 1, User: chat.User{ID: "b"}, Amount: 413}},
	}
	book.Packet.ID = "p-1"
	body, err := DoneBody(book)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"packet":"p-1","reason":"expired","state":{"packet":"p-1","status":"expired","claimed":2,` +
		`"luckiest":{"user":"b","amount":413,"rank":2},"refunded":428},` +
		`"seed":"dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d"}`
	if string(body) != want {
		t.Errorf("body\n%s, want\n%s", body, want)
	}
}

// TestStateOf checks that an open packet shows no luckiest user, and that a user always sees their own claim.
func TestStateOf(t *testing.T) {
	book := Book{
		Packet: cutPacket(cutting{Lucky, Classic}, 1000, 5), Status: Open,
		Claims: []Paid{{Share: 0, User: chat.User{ID: "a"}, Amount: 134}, {Share: 1, User: chat.User{ID: "b"}, Amount: 413}},
	}
	open := book.StateOf("a")
	if open.Luckiest != nil || open.Mine == nil || open.Mine.Amount != 134 || open.Claimed != 2 {
		t.Errorf("open: %+v", open)
	}
	book.Status = Expired
	done := book.StateOf("c")
	if done.Luckiest == nil || done.Luckiest.User.ID != "b" || done.Mine != nil || done.Status != Expired {
		t.Errorf("done: %+v", done)
	}
}

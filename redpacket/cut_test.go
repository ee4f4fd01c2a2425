package redpacket

import (
	"encoding/hex"
	"slices"
	"testing"

	"hongbao/chat"
)

// cutting is a way to split a packet: its mode and spread.
type cutting struct {
	Mode
	Spread
}

// cutPacket returns a packet with the fields that its shares depend on.
func cutPacket(c cutting, total Money, count int) Packet {
	return Packet{From: chat.User{ID: "u-1"}, Key: "k-1", Mode: c.Mode, Spread: c.Spread, Total: total, Count: count}
}

// goldenSeed returns the seed of the examples in web/docs/protocol/proof.md.
func goldenSeed() (seed Seed) {
	b, _ := hex.DecodeString("dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d")
	copy(seed[:], b)
	return seed
}

// TestCutUsesFieldsOfVerifiersOnly changes the fields of a packet. Its shares must depend on the fields that a verifier uses, and on no
// others.
func TestCutUsesFieldsOfVerifiersOnly(t *testing.T) {
	p := cutPacket(cutting{Lucky, Classic}, 100_000, 10)
	cut := func(p Packet) []Money {
		t.Helper()
		shares, err := Cut(goldenSeed(), p)
		if err != nil {
			t.Fatal(err)
		}
		return shares
	}
	first := cut(p)
	for what, change := range map[string]func(*Packet){
		"sender": func(p *Packet) { p.From.ID = "u-2" },
		"key":    func(p *Packet) { p.Key = "k-2" },
		"mode":   func(p *Packet) { p.Mode, p.Spread = Equal, "" },
		"spread": func(p *Packet) { p.Spread = Calm },
		"total":  func(p *Packet) { p.Total++ },
		"count":  func(p *Packet) { p.Count++ },
	} {
		q := p
		change(&q)
		if slices.Equal(cut(q)[:9], first[:9]) {
			t.Errorf("another %s, the same shares", what)
		}
	}
	q := p
	q.ID, q.Room, q.From.Name, q.Greeting, q.To, q.Passphrase = "p", "r", "Li", "hi", []string{"u"}, "secret"
	if !slices.Equal(cut(q), first) {
		t.Error("the shares depend on fields that a verifier does not use")
	}
	p.Count = 0
	if shares, err := Cut(goldenSeed(), p); err == nil {
		t.Errorf("cut into %v, want an error", shares)
	}
}

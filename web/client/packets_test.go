package client_test

import (
	"errors"
	"iter"
	"strconv"
	"testing"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
)

// all returns the elements of an iterator.
func all[T any](t *testing.T, list iter.Seq2[T, error]) (items []T) {
	t.Helper()
	for item, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func TestPackets(t *testing.T) {
	annID, bobID := unique(t, "ann"), unique(t, "bob")
	shared.credit(annID, 10_000)
	ann, bob := open(t, shared.addr, annID), open(t, shared.addr, bobID, protobuf)
	id := room(t, ann, bob)

	sent := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 1000, Count: 2, Greeting: "恭喜", TTL: time.Hour, Skin: "plum"}))
	got := await[model.Entry](t, bob, nil).Body.(model.PacketBody)
	if got.ID != sent.Packet.ID || got.Total != 1000 || got.Commitment != sent.Packet.Commitment || got.State != nil ||
		sent.Balance != 9000 || ann.Account().Balance != 9000 || ann.Account().NextCommitment == got.Commitment ||
		got.Expires.Sub(got.Created) != time.Hour || sent.Packet.Skin != "plum" || got.Skin != "plum" {
		t.Errorf("sent %+v, got %+v, left %+v", sent, got, ann.Account())
	}
	g := must[model.Grab](t)(bob.Grab(soon(t), sent.Packet.ID, ""))
	if g.Outcome != model.Won || g.Rank != 1 || *g.Balance != g.Amount || bob.Account().Balance != g.Amount {
		t.Errorf("%+v, then %+v", g, bob.Account())
	}
	wallet := await(t, bob, func(w model.Wallet) bool { return w.Kind == "claim" })
	if wallet.Change != g.Amount || wallet.Account.Currency.Code != "CNY" || wallet.Packet != sent.Packet.ID {
		t.Errorf("%+v", wallet)
	}
	if again := must[model.Grab](t)(bob.Grab(soon(t), sent.Packet.ID, "")); again.Outcome != model.Already || again.Amount != g.Amount {
		t.Errorf("again: %+v", again)
	}
	if _, err := ann.CancelPacket(soon(t), sent.Packet.ID); !errors.Is(err, client.ErrPacketFinished) {
		t.Errorf("%v", err)
	}
	if err := bob.React(soon(t), id, sent.Seq, "🙏", true); err != nil {
		t.Error(err)
	}
	if page := must[client.Page](t)(bob.Newest(soon(t), id, 10)); len(page.Entries) != 2 || page.More {
		t.Errorf("%+v", page)
	} else if read := page.Entries[0].Body.(model.PacketBody); read.State == nil || read.State.Claimed != 1 || read.State.Mine.Amount != g.Amount ||
		read.Reactions["🙏"] != 1 || read.Skin != "plum" {
		t.Errorf("read again: %+v, %+v", read, read.State)
	}
	rest := must[model.Grab](t)(ann.Grab(soon(t), sent.Packet.ID, ""))
	done := await(t, bob, func(e model.Entry) bool { return e.Kind == "packet_done" }).Body.(model.PacketDone)
	if done.Reason != "drained" || done.State.Claimed != 2 || done.State.Luckiest == nil || g.Amount+rest.Amount != 1000 {
		t.Errorf("%+v", done)
	}
	info := must[client.PacketInfo](t)(bob.Packet(soon(t), sent.Packet.ID))
	if info.State.Status != "drained" || info.Proof == nil || info.Proof.Seed != done.Seed {
		t.Fatalf("%+v", info)
	}
	if err := client.Verify(got.Packet, *info.Proof); err != nil {
		t.Error(err)
	}
	claims := all(t, bob.Claims(soon(t), sent.Packet.ID))
	if len(claims) != 2 || claims[0].Amount != g.Amount || claims[1].User.ID != annID {
		t.Errorf("%+v", claims)
	}
	for name, forge := range map[string]func(*model.Packet, *model.Proof){
		"key":        func(p *model.Packet, _ *model.Proof) { p.Key += "x" },
		"total":      func(p *model.Packet, _ *model.Proof) { p.Total++ },
		"count":      func(p *model.Packet, _ *model.Proof) { p.Count = 1 << 40 },
		"spread":     func(p *model.Packet, _ *model.Proof) { p.Spread = "odd" },
		"commitment": func(p *model.Packet, _ *model.Proof) { p.Commitment = ann.Account().NextCommitment },
		"seed":       func(_ *model.Packet, proof *model.Proof) { proof.Seed = "00" },
		"shares":     func(_ *model.Packet, proof *model.Proof) { proof.Shares = []int64{g.Amount - 1, rest.Amount + 1} },
	} {
		packet, proof := got.Packet, *info.Proof
		if forge(&packet, &proof); client.Verify(packet, proof) == nil {
			t.Errorf("with another %s the proof still holds", name)
		}
	}

	two := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Mode: "equal", Total: 10, Count: 3}))
	if state := must[model.State](t)(ann.CancelPacket(soon(t), two.Packet.ID)); state.Status != "cancelled" || ann.Account().Balance != 9000+rest.Amount {
		t.Errorf("%+v, %+v", state, ann.Account())
	}
	if mine := all(t, ann.Packets(soon(t), client.Period{Sent: true, From: sent.Packet.Created})); len(mine) != 2 || mine[1].Packet.ID != sent.Packet.ID {
		t.Errorf("%+v", mine)
	}
	if got := all(t, bob.Packets(soon(t), client.Period{To: sent.Packet.Created.Add(time.Hour)})); len(got) != 1 || got[0].State.Mine.Amount != g.Amount {
		t.Errorf("%+v", got)
	}
	if totals := must[model.Totals](t)(bob.Totals(soon(t), client.Period{})); totals.Count != 1 || totals.Amount != g.Amount {
		t.Errorf("%+v", totals)
	}
	if moved := all(t, bob.Transfers(soon(t))); len(moved) != 1 || moved[0].Kind != "claim" || moved[0].Amount != g.Amount || moved[0].At.IsZero() {
		t.Errorf("%+v", moved)
	}
	if a := must[model.Account](t)(bob.Wallet(soon(t))); a.Balance != g.Amount || a.Currency.Code != "CNY" {
		t.Errorf("%+v", a)
	}
}

func TestGuardedPacket(t *testing.T) {
	annID, bobID := unique(t, "ann"), unique(t, "bob")
	shared.credit(annID, 1000)
	ann, bob := open(t, shared.addr, annID), open(t, shared.addr, bobID)
	id := room(t, ann, bob)
	locked := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 10, Passphrase: " 芝麻开门", To: []string{bobID}}))
	if !locked.Packet.Locked || locked.Packet.Count != 1 {
		t.Errorf("%+v", locked)
	}
	if _, err := ann.Grab(soon(t), locked.Packet.ID, "芝麻开门"); !errors.Is(err, client.ErrNotRecipient) {
		t.Errorf("%v", err)
	}
	if _, err := bob.Grab(soon(t), locked.Packet.ID, "sesame"); !errors.Is(err, client.ErrWrongPassphrase) {
		t.Errorf("%v", err)
	}
	if g := must[model.Grab](t)(bob.Grab(soon(t), locked.Packet.ID, "芝麻开门")); g.Amount != 10 {
		t.Errorf("%+v", g)
	}

	opens := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	later := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 10, Count: 2, Opens: opens}))
	_, err := bob.Grab(soon(t), later.Packet.ID, "")
	var early *client.Error
	if !later.Packet.Opens.Equal(opens) || !errors.Is(err, client.ErrNotYet) || !errors.As(err, &early) || early.Values["opens_at"] != strconv.FormatInt(opens.UnixMilli(), 10) {
		t.Errorf("%+v, %v", later, err)
	}
	earlier := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 10, Count: 2, EarlierMembers: true}))
	cyn := open(t, shared.addr, unique(t, "cyn"))
	must[model.Room](t)(cyn.Join(soon(t), id))
	if _, err := cyn.Grab(soon(t), earlier.Packet.ID, ""); !earlier.Packet.EarlierMembers || !errors.Is(err, client.ErrJoinedLater) {
		t.Errorf("%+v, %v", earlier, err)
	}
	if g := must[model.Grab](t)(bob.Grab(soon(t), earlier.Packet.ID, "")); g.Outcome != model.Won {
		t.Errorf("%+v", g)
	}
}

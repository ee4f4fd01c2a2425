package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestDeleteRoomRefundsItsPackets deletes a room with open packets. The instance that handles the request must close
// the packets at once, without waiting for a background task.
func TestDeleteRoomRefundsItsPackets(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	engines.packets.BackstopEvery = time.Hour
	s := engines.open(t, func(o *Options) { o.Alone = true })
	ann, bob, room := s.twoInARoom(t)
	send := func(key string) wire.Packet {
		return call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{
			Room: room, Key: key, Mode: "equal", Total: 300, Count: new(3), TTLS: new(int64(7 * 86400))}).Packet
	}
	grabbed := send("p-1")
	call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: grabbed.ID})
	send("p-2")
	c, _ := connected(t, s.listen(t), wire.JSON, ann.User.ID)
	rpc[wire.DeleteRoomReply](c, 2, "delete_room", wire.DeleteRoomRequest{Room: room})
	var refunds, balance int64
	for refunds < 500 {
		p := c.push(func(p *protocol.Push) bool { return p.Message != nil && messageOf(t, p).Wallet != nil })
		if w := messageOf(t, p).Wallet; w.Kind == "refund" {
			refunds, balance = refunds+w.Change, max(balance, w.Balance)
		}
	}
	if refunds != 500 || balance != 10_000-100 {
		t.Errorf("%d refunded, %d in the wallet", refunds, balance)
	}
	if got := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: grabbed.ID}); got.Outcome != "already" || got.Amount != 100 {
		t.Errorf("the winner asks again: %+v", got)
	}
	list := call[wire.PacketsReply](t, s, ann, "packets", wire.PacketsRequest{Direction: "sent"})
	for _, p := range list.Packets {
		if p.State.Status != "expired" {
			t.Errorf("packet %s is %s", p.Packet.ID, p.State.Status)
		}
	}
}

// TestDetailsStayUnderAMebibyte reads a finished packet with the most shares, recipients and the longest names. The
// reply must have less than 1 MiB.
func TestDetailsStayUnderAMebibyte(t *testing.T) {
	t.Parallel()
	const shares, winners = 10_000, 250
	engines := newTestEngines(t)
	s := engines.open(t, func(o *Options) { o.Alone = true })
	id := func(i int) string {
		return strings.Repeat("u", 60) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
	}
	worst := func(i int) chat.User { // each byte takes six bytes in JSON
		return chat.User{ID: id(i), Name: strings.Repeat("\x01", 64), Avatar: strings.Repeat("\x01", auth.MaxAvatarBytes)}
	}
	var to []string
	var claims []redpacket.Claim
	for i := range winners {
		if _, _, err := s.store.PutUser(t.Context(), chat.Profile{User: worst(i)}, 0); err != nil {
			t.Fatal(err)
		}
		claims = append(claims, redpacket.Claim{Share: i, User: id(i), At: time.Now()})
	}
	for i := range 200 {
		to = append(to, id(i))
	}
	sender := api.Caller{User: worst(0)}
	s.admin(t, "credit", wire.AdjustRequest{User: id(0), Amount: 20_000_000, Key: "start"})
	room := call[wire.CreateRoomReply](t, s, sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "Hall", Kind: "public"}).Room.ID
	now := time.Now()
	sent, err := engines.ledger.Send(t.Context(), redpacket.UnsealedPacket{
		Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "p"}, Room: room, From: sender.User, Mode: redpacket.Lucky, Spread: redpacket.Calm,
			Total: 20_000_000, Count: shares, Greeting: strings.Repeat("\x01", 60), To: to, CreatedAt: now, ExpiresAt: now.Add(time.Hour), Key: "p"},
		Hash: []byte("p"), NextSeed: redpacket.NewSeed(), EntryID: "p",
	})
	noError(t, err)
	for i := range claims {
		claims[i].Ref = sent.Packet.Ref
	}
	noError(t, redpacket.UnsettledErr(engines.ledger.Settle(t.Context(), claims)))
	if _, err := engines.ledger.End(t.Context(), redpacket.Close{Ref: sent.Packet.Ref, Reason: redpacket.Expired, At: now, EntryID: "done"}); err != nil {
		t.Fatal(err)
	}
	after, got := 0, 0
	for more := true; more; {
		data, err := s.Call(t.Context(), sender, "packet", encoded(t, wire.PacketRequest{Packet: "p", AfterRank: after, Limit: 100}))
		if err != nil || len(data) >= 1<<20 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		var page wire.PacketReply
		noError(t, json.Unmarshal(data, &page))
		if got == 0 && (len(data) < 700<<10 || len(page.Claims) != 100 || len(page.Proof.Shares) != shares || len(page.Packet.To) != 200) {
			t.Errorf("the first page has %d bytes, %d claims, %d shares: that is not the worst", len(data), len(page.Claims), len(page.Proof.Shares))
		}
		got, after, more = got+len(page.Claims), page.Claims[len(page.Claims)-1].Rank, page.More
	}
	if got != winners {
		t.Errorf("%d claims on all pages, want %d", got, winners)
	}
}

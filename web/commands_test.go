package web

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hongbao/web/user/api"
	"hongbao/web/wire"
)

func TestRooms(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob := s.signIn(t, "u-ann", 0), s.signIn(t, "u-bob", 0)

	request := wire.CreateRoomRequest{Key: "k", Name: "Hall", Kind: "public"}
	made := call[wire.CreateRoomReply](t, s, ann, "create_room", request)
	room := made.Room
	if made.Dup || room.Name != "Hall" || room.Kind != "public" || room.Role != "owner" || room.Members != 1 || room.CreatedAt == 0 {
		t.Errorf("created %+v", made)
	}
	if again := call[wire.CreateRoomReply](t, s, ann, "create_room", request); !again.Dup || again.Room.ID != room.ID {
		t.Errorf("the same key again: %+v", again)
	}
	if found := call[wire.FindRoomsReply](t, s, bob, "find_rooms", wire.FindRoomsRequest{Query: "hal"}); len(found.Rooms) != 1 || found.Rooms[0].ID != room.ID || found.Rooms[0].Role != "" {
		t.Errorf("found %+v", found)
	}
	if joined := call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room.ID}); joined.Room.Role != "member" || joined.Room.Members != 2 {
		t.Errorf("joined %+v", joined)
	}
	list := call[wire.MembersReply](t, s, bob, "members", wire.MembersRequest{Room: room.ID, Limit: 1})
	if len(list.Members) != 1 || list.Members[0].User.ID != "u-ann" || list.Members[0].Role != "owner" || list.Members[0].Online || list.Next == "" {
		t.Errorf("first page of members: %+v", list)
	}
	list = call[wire.MembersReply](t, s, bob, "members", wire.MembersRequest{Room: room.ID, Next: list.Next})
	if len(list.Members) != 1 || list.Members[0].User != (wire.User{ID: "u-bob", Name: "Name of u-bob"}) || list.Next != "" {
		t.Errorf("second page of members: %+v", list)
	}
	call[wire.LeaveReply](t, s, bob, "leave", wire.LeaveRequest{Room: room.ID})
	if got := s.refused(t, bob, "members", encoded(t, wire.MembersRequest{Room: room.ID})); got.Code != wire.CodeNotMember {
		t.Errorf("after leaving: %+v", got)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)

	request := wire.SendRequest{Room: room, Key: "k-1", Text: "a < b\n\"你好\""}
	sent := call[wire.SendReply](t, s, ann, "send", request)
	again := call[wire.SendReply](t, s, ann, "send", request)
	if sent.Dup || !again.Dup || sent.Seq != again.Seq || sent.ID != again.ID || sent.At != again.At || sent.At == 0 {
		t.Errorf("sent %+v, again %+v", sent, again)
	}
	call[wire.SendReply](t, s, bob, "send", wire.SendRequest{Room: room, Key: "k-2", Text: "2"})

	zero := int64(0)
	page := call[wire.HistoryReply](t, s, bob, "history", wire.HistoryRequest{Room: room, After: &zero, Limit: 1})
	if len(page.Entries) != 1 || !page.More || len(page.PacketStates) != 0 {
		t.Fatalf("page %+v", page)
	}
	e := page.Entries[0]
	if e.Seq != sent.Seq || e.ID != sent.ID || e.At != sent.At || e.Kind != "text" || e.Key != "k-1" || e.From.ID != "u-ann" ||
		string(e.Body) != `{"text":"a < b\n\"你好\""}` {
		t.Errorf("entry %+v, body %s", e, e.Body)
	}
	page = call[wire.HistoryReply](t, s, bob, "history", wire.HistoryRequest{Room: room, After: &e.Seq})
	if len(page.Entries) != 1 || page.More {
		t.Errorf("next page %+v", page)
	}
	if read := call[wire.ReadReply](t, s, ann, "read", wire.ReadRequest{Room: room, Seq: sent.Seq}); read.Unread != 1 {
		t.Errorf("unread %d, want 1", read.Unread)
	}
	if read := call[wire.ReadReply](t, s, ann, "read", wire.ReadRequest{Room: room, Seq: 1 << 40}); read.Unread != 0 {
		t.Errorf("unread %d, want 0", read.Unread)
	}
}

func TestPackets(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	first := call[wire.WalletReply](t, s, ann, "wallet", wire.WalletRequest{})

	request := wire.SendPacketRequest{Room: room, Key: "p-1", Total: 1000, Count: new(2), Commitment: first.NextCommitment}
	sent := call[wire.SendPacketReply](t, s, ann, "send_packet", request)
	p := sent.Packet
	if p.Mode != "lucky" || p.Spread != "classic" || p.Greeting != "恭喜发财，大吉大利" || p.ExpiresAt-p.CreatedAt != 86_400_000 || p.Locked || p.From.ID != "u-ann" {
		t.Errorf("defaults: %+v", p)
	}
	if p.Commitment != first.NextCommitment || sent.NextCommitment == p.Commitment || sent.Balance != first.Balance-1000 {
		t.Errorf("sent %+v from %+v", sent, first)
	}
	again := call[wire.SendPacketReply](t, s, ann, "send_packet", request)
	if !again.Dup || again.Packet.ID != p.ID || again.Seq != sent.Seq || again.At != sent.At || again.Balance != sent.Balance {
		t.Errorf("the same key again: %+v", again)
	}

	won := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: p.ID})
	if won.Outcome != "won" || won.Rank != 1 || won.Amount < 1 || won.At == 0 || won.Balance == nil || won.Claimed != 1 || won.Count != 2 {
		t.Errorf("won %+v", won)
	}
	if got := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: p.ID}); got.Outcome != "already" || got.Amount != won.Amount || got.Rank != 1 {
		t.Errorf("already: %+v", got)
	}
	history := call[wire.HistoryReply](t, s, bob, "history", wire.HistoryRequest{Room: room})
	if len(history.PacketStates) != 1 || history.PacketStates[0].Packet != p.ID || history.PacketStates[0].Mine.Amount != won.Amount {
		t.Errorf("states in history: %+v", history.PacketStates)
	}
	var inEntry wire.Packet
	if err := json.Unmarshal(history.Entries[len(history.Entries)-1].Body, &inEntry); err != nil || !bytes.Equal(encoded(t, inEntry), encoded(t, p)) {
		t.Errorf("the entry has %+v, the reply %+v", inEntry, p)
	}

	eve := s.signIn(t, "u-eve", 0)
	call[wire.JoinReply](t, s, eve, "join", wire.JoinRequest{Room: room})
	open := call[wire.PacketReply](t, s, eve, "packet", wire.PacketRequest{Packet: p.ID})
	if len(open.Claims) != 1 || open.Claims[0].Amount != 0 || open.Claims[0].User.ID != "u-bob" || open.Proof != nil || open.State.Status != "open" {
		t.Errorf("what a bystander sees: %+v", open)
	}
	if seen := call[wire.PacketReply](t, s, ann, "packet", wire.PacketRequest{Packet: p.ID}); seen.Claims[0].Amount != won.Amount {
		t.Errorf("what the sender sees: %+v", seen.Claims)
	}
	if got := s.refused(t, ann, "cancel_packet", encoded(t, wire.CancelPacketRequest{Packet: p.ID})); got.Code != wire.CodePacketFinished {
		t.Errorf("cancel of a grabbed packet: %+v", got)
	}
	received := call[wire.PacketsReply](t, s, bob, "packets", wire.PacketsRequest{Direction: "received"})
	if len(received.Packets) != 1 || received.Totals.Count != 1 || received.Totals.Amount != won.Amount {
		t.Errorf("received %+v", received)
	}
}

func TestCancelledPacketShowsItsProof(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		ann, bob, room := s.twoInARoom(t)
		before := call[wire.WalletReply](t, s, ann, "wallet", wire.WalletRequest{}).Balance
		time.Sleep(time.Millisecond) // sleeps: in a bubble; of transfers in the same millisecond, either may be listed first
		p := call[wire.SendPacketReply](t, s, ann, "send_packet",
			wire.SendPacketRequest{Room: room, Key: "p-1", Mode: "equal", Total: 1000, Count: new(7), Greeting: "hi", TTLS: new(int64(60))}).Packet
		if p.Mode != "equal" || p.Spread != "" || p.Greeting != "hi" || p.ExpiresAt-p.CreatedAt != 60_000 {
			t.Errorf("packet %+v", p)
		}
		time.Sleep(time.Millisecond) // sleeps: in a bubble
		for range 2 {
			got := call[wire.CancelPacketReply](t, s, ann, "cancel_packet", wire.CancelPacketRequest{Packet: p.ID})
			if got.State.Status != "cancelled" || got.State.Refunded != 1000 || got.Balance != before {
				t.Errorf("cancelled %+v, balance before %d", got, before)
			}
		}
		done := call[wire.PacketReply](t, s, bob, "packet", wire.PacketRequest{Packet: p.ID})
		if done.Proof == nil || done.Proof.Commitment != p.Commitment || len(done.Proof.Shares) != 7 || len(done.Proof.Seed) != 64 {
			t.Errorf("proof %+v", done.Proof)
		}
		if got := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: p.ID}); got.Outcome != "expired" || got.Balance != nil {
			t.Errorf("grab of a cancelled packet: %+v", got)
		}
		wallet := call[wire.WalletReply](t, s, ann, "wallet", wire.WalletRequest{Limit: 2})
		if len(wallet.Transfers) != 2 || wallet.Transfers[0].Kind != "refund" || wallet.Transfers[0].Amount != 1000 ||
			wallet.Transfers[1].Kind != "send" || wallet.Transfers[1].Amount != -1000 || wallet.Transfers[1].Packet != p.ID || wallet.Next == "" {
			t.Errorf("wallet %+v", wallet)
		}
	})
}

// twoInARoom returns the two members of a new room, each with some money, and the room's id.
func (s *testServer) twoInARoom(t *testing.T) (ann, bob api.Caller, room string) {
	t.Helper()
	ann, bob = s.signIn(t, "u-ann", 10_000), s.signIn(t, "u-bob", 10_000)
	room = call[wire.CreateRoomReply](t, s, ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "Hall", Kind: "public"}).Room.ID
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
	return ann, bob, room
}

// TestConflictNamesThePacketThatUsedTheSeed sends with the commitment that the user's packet has used. The refusal must name that packet,
// also after others. The refusal of a commitment that no packet of the user has used must name none.
func TestConflictNamesThePacketThatUsedTheSeed(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	send := func(key, commitment string) wire.SendPacketRequest {
		return wire.SendPacketRequest{Room: room, Key: key, Total: 10, Count: new(2), Commitment: commitment}
	}
	refused := func(by api.Caller, r wire.SendPacketRequest, message string) {
		t.Helper()
		if got := s.refused(t, by, "send_packet", encoded(t, r)).Message; got != message {
			t.Errorf("got %q, want %q", got, message)
		}
	}
	first := call[wire.SendPacketReply](t, s, ann, "send_packet", send("p-1", ""))
	last := call[wire.SendPacketReply](t, s, ann, "send_packet", send("p-2", ""))
	next := "conflict next_commitment=" + last.NextCommitment
	refused(ann, send("p-3", first.Packet.Commitment), next+" packet="+first.Packet.ID)
	refused(ann, send("p-3", last.Packet.Commitment), next+" packet="+last.Packet.ID)
	refused(ann, send("p-3", strings.Repeat("0", 64)), next)
	bobs := call[wire.WalletReply](t, s, bob, "wallet", wire.WalletRequest{}).NextCommitment
	refused(bob, send("p-1", last.Packet.Commitment), "conflict next_commitment="+bobs)
}

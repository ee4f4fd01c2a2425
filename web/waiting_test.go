package web

import (
	"slices"
	"testing"

	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// packetsSeen returns the ids of the packets that wait for the user, or of a part of the room's packets.
func (s *testServer) packetsSeen(t *testing.T, user api.Caller, room, part string) (ids []string) {
	t.Helper()
	var packets []wire.PacketState
	if room == "" {
		packets = call[wire.PacketsReply](t, s, user, "packets", wire.PacketsRequest{Direction: "waiting"}).Packets
	} else {
		packets = call[wire.RoomPacketsReply](t, s, user, "room_packets", wire.RoomPacketsRequest{Room: room, Part: part}).Packets
	}
	for _, p := range packets {
		if p.Packet.ID != p.State.Packet || p.Seq == 0 {
			t.Errorf("packet %+v", p)
		}
		ids = append(ids, p.Packet.ID)
	}
	return ids
}

// TestWaitingPackets sends packets that bob may grab, and others that bob may not. Only the former wait, until bob has grabbed or entered them.
func TestWaitingPackets(t *testing.T) {
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	send := func(key string, change func(*wire.SendPacketRequest)) string {
		request := wire.SendPacketRequest{Room: room, Key: key, Total: 20, Count: new(2)}
		change(&request)
		return call[wire.SendPacketReply](t, s, ann, "send_packet", request).Packet.ID
	}
	call[wire.LeaveReply](t, s, bob, "leave", wire.LeaveRequest{Room: room})
	send("early", func(r *wire.SendPacketRequest) { r.EarlierMembers = true })
	call[wire.JoinReply](t, s, bob, "join", wire.JoinRequest{Room: room})
	later := send("later", func(r *wire.SendPacketRequest) { r.EarlierMembers = true })
	send("other", func(r *wire.SendPacketRequest) { r.To, r.Count = []string{ann.User.ID}, nil })
	mine := send("mine", func(r *wire.SendPacketRequest) { r.To, r.Count = []string{bob.User.ID}, nil })
	draw := send("draw", func(r *wire.SendPacketRequest) { r.WindowS = new(int64(600)) })

	for _, step := range []struct {
		grab string
		left []string
	}{{"", []string{draw, mine, later}}, {later, []string{draw, mine}}, {draw, []string{mine}}, {mine, nil}} {
		if step.grab != "" {
			call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: step.grab})
		}
		if got := s.packetsSeen(t, bob, "", ""); !slices.Equal(got, step.left) {
			t.Errorf("after the grab of %q wait %v, want %v", step.grab, got, step.left)
		}
	}
	if got := s.packetsSeen(t, ann, "", ""); got != nil {
		t.Errorf("own packets wait: %v", got)
	}
}

// TestPacketsOfARoom lists the parts of a room's packets.
func TestPacketsOfARoom(t *testing.T) {
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	var ids []string
	for _, key := range []string{"open", "won", "cancelled", "draw"} {
		request := wire.SendPacketRequest{Room: room, Key: key, Total: 20, Count: new(2)}
		if key == "draw" {
			request.WindowS = new(int64(600))
		}
		ids = append(ids, call[wire.SendPacketReply](t, s, ann, "send_packet", request).Packet.ID)
	}
	open, won, cancelled, draw := ids[0], ids[1], ids[2], ids[3]
	for _, packet := range []string{won, draw} {
		call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: packet})
	}
	call[wire.CancelPacketReply](t, s, ann, "cancel_packet", wire.CancelPacketRequest{Packet: cancelled})
	for part, want := range map[string][]string{
		"": {draw, cancelled, won, open}, "open": {draw, won, open}, "mine": {draw, won}, "ended": {cancelled},
	} {
		if got := s.packetsSeen(t, bob, room, part); !slices.Equal(got, want) {
			t.Errorf("part %q has %v, want %v", part, got, want)
		}
	}
	if got := s.packetsSeen(t, ann, room, "mine"); len(got) != 4 {
		t.Errorf("the sender's part has %v", got)
	}
}

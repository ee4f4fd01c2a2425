package web

import (
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// TestLimits compares the limits that clients receive with those of the services.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	if got := limits(s.commands, s.o); got != wire.DefaultLimits() {
		t.Errorf("by default %+v", got)
	}
	engines := newTestEngines(t)
	engines.rooms.Limits = chat.Limits{
		TextChars: 1, DataBytes: 2, NameChars: 3, AnnouncementChars: 4, EmojiChars: 5, Mentions: 6, InviteUsers: 7, RoomMembers: 8, Rooms: 9,
		PublicRooms: 19, Blocks: 20, Files: 22,
	}
	engines.packets.Limits = redpacket.Limits{
		MaxTotal: 10, MaxCount: 11, GreetingChars: 12, To: 13, PassphraseChars: 14,
		MinTTL: 15 * time.Second, MaxTTL: 17 * time.Second, DefaultTTL: 16 * time.Second, MaxOpen: 21, MinWindow: 23 * time.Second, MaxWindow: 24 * time.Second, MaxAhead: 25 * time.Second,
		MinWaves: 29, MaxWaves: 26, MinOver: 27 * time.Second, MaxOver: 28 * time.Second,
	}
	s = engines.open(t, func(o *Options) { o.SocketsPerUser = 18 })
	want := wire.Limits{
		FrameBytes: wire.FrameBytes, CommandsPerFrame: wire.CommandsPerFrame, QueryChars: 200,
		TextChars: 1, DataBytes: 2, NameChars: 3, AnnouncementChars: 4, EmojiChars: 5, Mentions: 6, InviteUsers: 7, RoomMembers: 8, Rooms: 9,
		PacketTotal: 10, PacketCount: 11, GreetingChars: 12, PacketTo: 13, PassphraseChars: 14,
		TTLMinS: 15, TTLMaxS: 17, TTLDefaultS: 16, SocketsPerUser: 18, PublicRooms: 19, Blocks: 20, OpenPackets: 21, WindowMinS: 23, WindowMaxS: 24, OpensInMaxS: 25,
		WavesMin: 29, WavesMax: 26, RainMinS: 27, RainMaxS: 28,
		Files: 22, FileBytes: wire.DefaultLimits().FileBytes, FileDayBytes: wire.DefaultLimits().FileDayBytes,
	}
	if got := limits(s.commands, s.o); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestOpenPacketsAreLimited sends one packet more than allowed. The refusal must name the limit and its value.
func TestOpenPacketsAreLimited(t *testing.T) {
	t.Parallel()
	engines := newTestEngines(t)
	engines.packets.Limits = redpacket.Limits{MaxOpen: 2}
	s := engines.open(t)
	ann := s.signIn(t, "ann", 100)
	room := s.room(t, ann, "hall").ID
	packet := wire.SendPacketRequest{Room: room, Total: 1, Count: new(1)}
	for _, key := range []string{"one", "two"} {
		packet.Key = key
		call[wire.SendPacketReply](t, s, ann, "send_packet", packet)
	}
	packet.Key = "three"
	if got := s.refused(t, ann, "send_packet", encoded(t, packet)); got.Message != "limit_exceeded field=open_packets limit=2" {
		t.Errorf("a third packet: %q", got.Message)
	}
}

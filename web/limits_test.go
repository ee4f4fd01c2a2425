package web

import (
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Clients are told the limits that the services keep, whatever they are.
func TestLimits(t *testing.T) {
	s := newTestServer(t)
	if got := s.limits(); got != wire.DefaultLimits() {
		t.Errorf("by default %+v", got)
	}
	house := newTestHouse(t)
	house.rooms.Limits = chat.Limits{
		TextChars: 1, DataBytes: 2, NameChars: 3, AnnouncementChars: 4, EmojiChars: 5, Mentions: 6, InviteUsers: 7, RoomMembers: 8, Rooms: 9,
	}
	house.packets.Limits = redpacket.Limits{
		MaxTotal: 10, MaxCount: 11, GreetingChars: 12, To: 13, PassphraseChars: 14,
		MinTTL: 15 * time.Second, MaxTTL: 17 * time.Second, DefaultTTL: 16 * time.Second,
	}
	s = house.open(t, func(o *Options) { o.SocketsPerUser = 18 })
	want := wire.Limits{
		FrameBytes: wire.FrameBytes, CommandsPerFrame: wire.CommandsPerFrame,
		TextChars: 1, DataBytes: 2, NameChars: 3, AnnouncementChars: 4, EmojiChars: 5, Mentions: 6, InviteUsers: 7, RoomMembers: 8, Rooms: 9,
		PacketTotal: 10, PacketCount: 11, GreetingChars: 12, PacketTo: 13, PassphraseChars: 14,
		TTLMinS: 15, TTLMaxS: 17, TTLDefaultS: 16, SocketsPerUser: 18,
	}
	if got := s.limits(); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

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
	if got := s.limits(); got != wire.DefaultLimits() {
		t.Errorf("by default %+v", got)
	}
	engines := newTestEngines(t)
	engines.rooms.Limits = chat.Limits{
		TextChars: 1, DataBytes: 2, NameChars: 3, AnnouncementChars: 4, EmojiChars: 5, Mentions: 6, InviteUsers: 7, RoomMembers: 8, Rooms: 9,
	}
	engines.packets.Limits = redpacket.Limits{
		MaxTotal: 10, MaxCount: 11, GreetingChars: 12, To: 13, PassphraseChars: 14,
		MinTTL: 15 * time.Second, MaxTTL: 17 * time.Second, DefaultTTL: 16 * time.Second,
	}
	s = engines.open(t, func(o *Options) { o.SocketsPerUser = 18 })
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

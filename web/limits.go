package web

import (
	"time"

	"hongbao/web/wire"
)

// limits are what clients are told: the services' own where they have them.
func (s *Server) limits() wire.Limits {
	l := wire.DefaultLimits()
	l.SocketsPerUser = s.o.SocketsPerUser
	c, p := s.chat.Limits(), s.packets.Limits()
	l.TextChars, l.DataBytes, l.EmojiChars, l.Mentions = c.TextChars, c.DataBytes, c.EmojiChars, c.Mentions
	l.NameChars, l.AnnouncementChars = c.NameChars, c.AnnouncementChars
	l.InviteUsers, l.RoomMembers, l.Rooms = c.InviteUsers, c.RoomMembers, c.Rooms
	l.PacketTotal, l.PacketCount, l.PacketTo = int64(p.MaxTotal), p.MaxCount, p.To
	l.GreetingChars, l.PassphraseChars = p.GreetingChars, p.PassphraseChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

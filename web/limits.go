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
	l.TextChars, l.NameChars, l.InviteUsers, l.RoomMembers, l.Rooms = c.TextChars, c.NameChars, c.InviteUsers, c.RoomMembers, c.Rooms
	l.PacketTotal, l.PacketCount, l.GreetingChars = int64(p.MaxTotal), p.MaxCount, p.GreetingChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

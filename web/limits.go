package web

import (
	"time"

	"hongbao/web/wire"
)

// limits are what clients are told: the services' own where they have them.
func (s *Server) limits() wire.Limits {
	l := wire.DefaultLimits()
	l.SocketsPerUser = s.o.SocketsPerUser
	p := s.packets.Limits()
	l.PacketTotal, l.PacketCount, l.GreetingChars = int64(p.MaxTotal), p.MaxCount, p.GreetingChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

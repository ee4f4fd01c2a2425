package api

import (
	"time"

	"hongbao/web/wire"
)

// Limits returns the limits that the server tells its clients: those of the services, and the defaults of package wire
// for the others. The caller sets the limits that depend on the server's options.
func (a *Commands) Limits() wire.Limits {
	l := wire.DefaultLimits()
	c, p := a.chat.Limits(), a.packets.Limits()
	l.TextChars, l.DataBytes, l.EmojiChars, l.Mentions = c.TextChars, c.DataBytes, c.EmojiChars, c.Mentions
	l.NameChars, l.AnnouncementChars = c.NameChars, c.AnnouncementChars
	l.InviteUsers, l.RoomMembers, l.Rooms = c.InviteUsers, c.RoomMembers, c.Rooms
	l.PacketTotal, l.PacketCount, l.PacketTo = int64(p.MaxTotal), p.MaxCount, p.To
	l.GreetingChars, l.PassphraseChars = p.GreetingChars, p.PassphraseChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

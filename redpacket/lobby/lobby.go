// Package lobby keeps a public room in which newcomers find a red packet to open. The room belongs to a user of its own, the
// lobby user.
//
// It must always hold:
//
//   - The lobby user calls the services chat and redpacket, so all their rules of rooms and money apply to this user. Its money
//     comes by credits.
//   - There is one lobby, and at most one welcome packet with free shares at a time, even with many instances and restarts. The
//     idempotency key of each credit and packet is derived from the id of the previous packet. So if several instances make the
//     same request, only the first one has an effect.
//   - The lobby sends at most one packet in each minPause, even if a program makes very many guests. The lobby user is credited
//     only if it lacks the money for the next packet.
//
// The package starts no goroutine. Its caller runs Lobby.Run in one.
package lobby

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Host is the lobby user: it owns the lobby. No token names this user. Its id is that of a guest, which tokens of the host may
// not name, and the server signs tokens only for guests whose ids it draws.
var Host = chat.User{ID: chat.LobbyHost, Name: "hongbao", Avatar: "icon.svg"}

// The lobby and its packets. If you change a value, change the keys of the requests, too: a used key with another content is
// refused.
const (
	roomKey  = "lobby"
	roomName = "Lobby · 大厅"
	greeting = "Welcome! 欢迎！"
	shares   = 88
	share    = 888 // each: a newcomer's first packet is never a disappointment
	lasts    = 7 * 24 * time.Hour
)

const (
	pollEvery = 3 * time.Second
	minPause  = time.Minute // between two packets
)

// Options configures a Lobby.
type Options struct {
	Now func() time.Time
	Log *slog.Logger
}

// Lobby keeps the room of newcomers, and sends its welcome packets.
type Lobby struct {
	// static after Open
	packets *redpacket.Service
	o       Options
	room    string
	share   redpacket.Money
	count   int

	welcome atomic.Pointer[string] // id of the newest packet; nil: not known

	last redpacket.Packet // the newest packet; zero: not known. Owned by Run
}

// Open returns the lobby. It creates the room at the first call on a database.
func Open(ctx context.Context, rooms *chat.Service, packets *redpacket.Service, o Options) (*Lobby, error) {
	m, _, err := rooms.CreateRoom(ctx, Host, chat.CreateRoom{Key: roomKey, Name: roomName, Kind: chat.Public})
	if err != nil {
		return nil, fmt.Errorf("open lobby: %w", err)
	}
	if err := rooms.SetContact(ctx, Host.ID, chat.Nobody); err != nil {
		return nil, fmt.Errorf("open lobby: %w", err)
	}
	limits := packets.Limits()
	each := min(share, limits.MaxTotal)
	return &Lobby{packets: packets, o: o, room: m.Room.ID, share: each, count: min(shares, limits.MaxCount, int(limits.MaxTotal/each))}, nil
}

// Room returns the id of the lobby's room.
func (l *Lobby) Room() string { return l.room }

// Welcome returns the id of the newest welcome packet, or "" while it is not known. The packet may be finished.
func (l *Lobby) Welcome() string {
	if id := l.welcome.Load(); id != nil {
		return *id
	}
	return ""
}

// Run sends a packet whenever the one before has no free shares or has ended, until ctx is done: see refill.
func (l *Lobby) Run(ctx context.Context) {
	failing := false
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		err := l.refill(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			l.o.Log.Warn("no welcome packet in the lobby", "err", err)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// refill sends a packet if there is none yet. It also sends one if the newest packet has no free shares or has ended, and
// minPause has passed since it was sent.
func (l *Lobby) refill(ctx context.Context) error {
	if err := l.find(ctx); err != nil {
		return err
	}
	if l.last.ID != "" {
		states, err := l.packets.States(ctx, Host.ID, []string{l.last.ID})
		if err != nil {
			return err
		}
		hasShares := len(states) > 0 && states[0].Status == redpacket.Open && states[0].Claimed < l.last.Count
		if hasShares || l.o.Now().Sub(l.last.CreatedAt) < minPause {
			return nil
		}
	}
	err := l.send(ctx)
	if errors.Is(err, chat.ErrKeyReused) { // an instance with other limits was first
		l.last = redpacket.Packet{}
		return l.find(ctx)
	}
	return err
}

// find reads the newest packet if it is not known.
func (l *Lobby) find(ctx context.Context) error {
	if l.last.ID != "" {
		return nil
	}
	page, err := l.packets.Packets(ctx, redpacket.PacketsQuery{Of: Host.ID, Direction: redpacket.DirSent, Limit: 1})
	if err == nil && len(page.Packets) > 0 {
		l.learn(page.Packets[0].Packet)
	}
	return err
}

func (l *Lobby) learn(p redpacket.Packet) {
	l.last = p
	l.welcome.Store(&p.ID)
}

// send credits the lobby user if it lacks the money, and sends the packet that follows the last one.
func (l *Lobby) send(ctx context.Context) error {
	account, err := l.packets.Account(ctx, Host.ID)
	if err != nil {
		return err
	}
	key, total := "welcome-"+cmp.Or(l.last.ID, "first"), l.share*redpacket.Money(l.count)
	if account.Balance < total {
		_, _, err := l.packets.Adjust(ctx, redpacket.AdjustRequest{
			User: Host.ID, Amount: total, Key: fmt.Sprintf("%s-%d", key, total), Note: "lobby", Actor: "lobby",
		})
		if err != nil {
			return err
		}
	}
	sent, err := l.packets.Send(ctx, Host, redpacket.SendRequest{
		Room: l.room, Key: key, Mode: redpacket.Equal, Total: total, Count: l.count, Greeting: greeting, TTL: lasts,
	})
	if err == nil {
		l.learn(sent.Packet)
	}
	return err
}

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/web"
	"hongbao/web/wire"
)

// instance is one running server's parts, wired.
type instance struct {
	hub     *hub.Hub
	rooms   *chat.Service
	packets *redpacket.Service
	door    *web.Server
}

// wireUp makes the parts over the engines. This is the one place that knows them all.
func wireUp(ctx context.Context, c config, engines *store.Engines, log *slog.Logger) (*instance, error) {
	guests, err := guestsOf(ctx, c, engines)
	if err != nil {
		return nil, err
	}
	repair := web.Repair{Store: engines.Chat}
	h := hub.New(hub.Options{
		Encode: web.NewEncoder().Encode, Ping: web.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: web.Revise, Bus: engines.Bus, Log: log,
	})
	pub := web.NewPublisher(h)
	rooms := chat.New(engines.Chat, pub, chat.Options{Log: log, Presence: engines.Presence})
	packets := redpacket.New(engines.Ledger, engines.Pool, rooms, pub, redpacket.Options{
		Limits: redpacket.Limits{MaxTotal: redpacket.Money(c.MaxPacketTotal), MaxCount: int(c.MaxPacketCount)},
		Log:    log, Limiter: shared(engines), Tries: engines.Limiter,
	})
	door, err := web.New(h, pub, rooms, packets, web.Options{
		JWT:            c.jwt(),
		Guests:         guests,
		AllowedOrigins: c.AllowedOrigins,
		TrustedProxies: c.TrustedProxies,
		Rates:          c.Limits != "off",
		Local:          engines.Local,
		Limiter:        shared(engines),
		Presence:       engines.Presence,
		Alone:          engines.Bus == nil,
		Currency:       wire.Currency(c.Currency),
		Version:        version(),
		Ready:          engines.Ready,
		Log:            log,
	})
	if err != nil {
		return nil, err
	}
	return &instance{hub: h, rooms: rooms, packets: packets, door: door}, nil
}

// shared is the limiter, if there is anyone to share it with.
func shared(engines *store.Engines) chat.Limiter {
	if engines.Bus == nil {
		return nil
	}
	return engines.Limiter
}

// guestsOf reads the key that guests' tokens are signed with; the first server of a database draws it.
func guestsOf(ctx context.Context, c config, engines *store.Engines) (web.Guests, error) {
	if c.Guests == guestsOff {
		return web.Guests{}, nil
	}
	key, err := engines.Setting(ctx, "guest_key", func() []byte {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails: crypto/rand stops the process instead
		return key
	})
	if err != nil {
		return web.Guests{}, fmt.Errorf("read the guests' key: %w", err)
	}
	return web.Guests{Key: key, Credit: redpacket.Money(c.GuestCredit)}, nil
}

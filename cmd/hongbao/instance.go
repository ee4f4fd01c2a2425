package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store"
	"hongbao/store/lineage"
	"hongbao/web"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// instance is the wired parts of one server.
type instance struct {
	watch   *lineage.Watch
	hub     *hub.Hub
	rooms   *chat.Service
	packets *redpacket.Service
	server  *web.Server
}

// wireUp makes the parts over the engines. Only this function knows all of them.
func wireUp(ctx context.Context, c config, engines *store.Engines, log *slog.Logger) (*instance, error) {
	guests, err := guestsOf(ctx, c, engines)
	if err != nil {
		return nil, err
	}
	made := &instance{}
	repair := push.Repair{Store: engines.Chat}
	h := hub.New(hub.Options{
		Encode: push.NewEncoder().Encode, Decode: push.Decode, Ping: push.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: push.Revise,
		WentBack: made.wentBack, Bus: engines.Bus, Log: log,
	})
	pub := push.NewPublisher(h)
	made.watch = lineage.New(lineage.Options{Store: engines.Lineage, Notes: engines.Notes, Instance: pub.Node(), Changed: made.changed, Back: h.Compare, Log: log})
	rooms := chat.New(engines.Chat, pub, chat.Options{Log: log, Now: crashpoint.Now, Presence: engines.Presence})
	packets := redpacket.New(engines.Ledger, engines.Pool, rooms, pub, redpacket.Options{
		Limits: redpacket.Limits{MaxTotal: redpacket.Money(c.MaxPacketTotal), MaxCount: int(c.MaxPacketCount)},
		Log:    log, Now: crashpoint.Now, Limiter: shared(engines), GuessLimiter: engines.Limiter,
	})
	if err := packets.CheckClocks(ctx); err != nil {
		return nil, fmt.Errorf("%w, then start again", err)
	}
	server, err := web.New(h, pub, rooms, packets, web.Options{
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
		Ready:          func(ctx context.Context) error { return errors.Join(engines.Ready(ctx), packets.ClocksErr()) },
		Log:            log,
	})
	if err != nil {
		return nil, err
	}
	made.hub, made.rooms, made.packets, made.server = h, rooms, packets, server
	return made, made.watch.Start(ctx)
}

// changed drops everything that the instance remembers from SQL. If the epoch is another one, it closes all sockets, so
// that clients load the history again.
func (i *instance) changed(epoch string, renewed bool) {
	i.rooms.Renew(epoch)
	i.packets.Forget()
	if renewed {
		i.hub.Reset()
	} else {
		i.hub.Compare()
	}
}

// wentBack is called when SQL lacks entries that were delivered to sockets of this instance.
func (i *instance) wentBack(topic string, had, has int64) {
	i.watch.Lost(fmt.Sprintf("entry %d of %s was delivered, and the last one stored is %d", had, topic, has))
}

// shared returns the limiter that all instances use together. It returns nil if there can be only one instance.
func shared(engines *store.Engines) chat.Limiter {
	if engines.Bus == nil {
		return nil
	}
	return engines.Limiter
}

// guestsOf reads the key that signs the tokens of guests from the database. The first server that uses a database
// creates the key.
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

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/redpacket/lobby"
	"hongbao/store"
	"hongbao/store/chart"
	"hongbao/store/lineage"
	"hongbao/store/security"
	"hongbao/store/trail"
	"hongbao/web"
	"hongbao/web/host/console"
	"hongbao/web/host/events"
	"hongbao/web/host/server"
	"hongbao/web/ops"
	"hongbao/web/page"
	"hongbao/web/user/push"
	"hongbao/web/user/webpush"
	"hongbao/web/wire"
)

// instance is the wired parts of one server.
type instance struct {
	watch   *lineage.Watch
	hub     *hub.Hub
	rooms   *chat.Service
	packets *redpacket.Service
	server  *web.Server
	lobby   *lobby.Lobby // nil: none

	security *security.Recorder
	trail    *trail.Recorder // nil: there is no server API, so nobody could read it
	charts   *chart.Recorder // nil, too

	api     *server.Server   // nil: there is no server API
	apiKeys *server.Keys     // of the server API
	console *console.Console // nil: there is no server API
	events  *events.Service  // nil: no events are written

	push    *webpush.Notifier // nil: there is no Web Push
	indexer *chat.Indexer     // nil: there is no search
	files   *files.Service    // nil: there are no files
}

// wireUp makes the parts of the instance with the name node over the engines. Only this function knows all of them.
func wireUp(ctx context.Context, c config, node string, engines *store.Engines, log *slog.Logger) (*instance, error) {
	guests, err := guestsOf(c)
	if err != nil {
		return nil, err
	}
	built := &instance{}
	repair := push.Repair{Store: engines.Chat}
	h := hub.New(hub.Options{
		Encode: push.NewEncoder().Encode, Decode: push.Decode, Ping: push.Ping, Fetch: repair.Fetch, LastSeqs: repair.LastSeqs, Revise: push.Revise, Traced: push.Traced,
		WentBack: built.wentBack, Bus: engines.Bus, ReplyBytes: c.MaxReplyBytes, Log: log,
	})
	pub := push.NewPublisher(h, node)
	built.watch = lineage.New(lineage.Options{Store: engines.Lineage, Notes: engines.Notes, Instance: pub.Node(), Changed: built.changed, Back: h.Compare, Log: log})
	if built.push, err = newPush(c, pub, engines, log); err != nil {
		return nil, err
	}
	publisher := chat.Publisher(pub)
	if built.push != nil {
		publisher = built.push
	}
	if c.Search != "off" {
		built.indexer = chat.NewIndexer(engines.Chat, publisher, log)
		publisher = built.indexer
	}
	ruled, err := c.rules(log)
	if err != nil {
		return nil, err
	}
	rooms := chat.New(engines.Chat, publisher, chat.Options{Log: log, Now: crashpoint.Now, Presence: engines.Presence, Indexer: built.indexer,
		Limits: chat.Limits{PublicRooms: int(c.PublicRooms)}, Limiter: engines.Limiter, Rules: ruled,
		Retention: chat.Retention{Days: chat.KeptDays(c.TextsKeep), Hours: chat.Hours(c.RetentionHours)}})
	skins, skinNames, err := c.skins()
	if err != nil {
		return nil, err
	}
	receiptKey, receiptKeys, err := engines.ReceiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	packets := redpacket.New(engines.Ledger, engines.Pool, rooms, publisher, redpacket.Options{
		DayLimits: c.dayLimits(),
		Limits:    redpacket.Limits{MaxTotal: redpacket.Money(c.MaxPacketTotal), MaxCount: int(c.MaxPacketCount), MaxOpen: int(c.MaxOpenPackets), Skins: skinNames},
		Log:       log, Now: crashpoint.Now, Limiter: shared(engines), GuessLimiter: engines.Limiter, AuditEvery: c.AuditEvery,
		Fundings: engines.Fundings, ReceiptKey: receiptKey, ReceiptKeys: receiptKeys,
	})
	if err := packets.CheckClocks(ctx); err != nil {
		return nil, fmt.Errorf("%w, then start again", err)
	}
	if built.files, err = newFiles(ctx, c, engines, rooms, log); err != nil {
		return nil, err
	}
	built.security = security.NewRecorder(engines.Security, pub.Node(), int(c.ActsKeep), time.Now, log)
	hooks, err := newHooks(c, log)
	if err != nil {
		return nil, err
	}
	options := web.Options{
		JWT:            c.jwt(),
		Guests:         guests,
		Lobby:          built.welcome(c.Lobby),
		NoPictures:     c.Pictures == "off",
		Skins:          skins,
		AllowedOrigins: c.AllowedOrigins,
		TrustedProxies: c.TrustedProxies,
		Rates:          c.Limits != "off",
		Local:          engines.Local,
		Limiter:        shared(engines),
		ContactRates: web.ContactRates{
			CreateRoom: web.ContactRate(c.CreateRate), Invite: web.ContactRate(c.InviteRate), Direct: web.ContactRate(c.DirectRate),
		},
		Scans:         engines.Scans,
		ReadWait:      c.MaxReadWait,
		MaxReplyBytes: c.MaxReplyBytes,
		MaxConns:      connections(openFiles()),
		MaxSockets:    c.sockets(openFiles()),
		MaxPerAddress: c.socketsOfAddress(openFiles()),
		Presence:      engines.Presence,
		Alone:         engines.Bus == nil,
		Currency:      wire.Currency(c.Currency),
		Version:       version(),
		Build:         build(),
		Engines:       engines.Meters,
		Ops:           ops.Options{Token: c.OpsToken, Pprof: c.Pprof == "on", Parts: parts(c.ReadyNeeds, engines, packets)},
		Security:      built.security,
		Events:        built.eventStats,
		Push:          built.push,
		Files:         built.files,
		FileDay:       c.FileDayBytes,
		Log:           log,
	}
	if built.files != nil {
		if options.FileOrigin, err = built.files.Origin(ctx); err != nil {
			return nil, err
		}
	}
	if c.APIKeysFile != "" {
		built.trail = trail.NewRecorder(engines.Trail, time.Now, log)
		options.Trail = built.trail
	}
	if hooks != nil {
		options.Hooks, options.HookStats = hooks, hooks.Stats
	}
	clients, err := web.New(h, pub, rooms, packets, options)
	if err != nil {
		return nil, err
	}
	h.SetPeers(clients.Peers())
	pub.CacheStandings(rooms)
	built.hub, built.rooms, built.packets, built.server = h, rooms, packets, clients
	if c.APIKeysFile != "" {
		built.charts = chart.NewRecorder(engines.Charts, pub.Node(), built.chartReading, time.Now, log)
	}
	if built.events, err = built.newEvents(c, pub.Node(), engines, log); err != nil {
		return nil, err
	}
	if built.api, built.apiKeys, err = built.newAPI(c, engines, log); err != nil {
		return nil, err
	}
	if built.console, err = built.newConsole(ctx, c, engines, log); err != nil {
		return nil, err
	}
	if err := built.watch.Start(ctx); err != nil {
		return nil, err
	}
	epoch, err := rooms.Epoch(ctx)
	if err != nil {
		return nil, err
	}
	h.SetEpoch(epoch)
	if c.Lobby == "on" {
		built.lobby, err = lobby.Open(ctx, rooms, packets, lobby.Options{Now: crashpoint.Now, Log: log})
	}
	return built, err
}

// newFiles returns the service of files, or nil if there are none.
func newFiles(ctx context.Context, c config, engines *store.Engines, rooms *chat.Service, log *slog.Logger) (*files.Service, error) {
	if engines.Objects == nil {
		return nil, nil
	}
	if c.FileBytes > files.MostBytes {
		return nil, fmt.Errorf("HONGBAO_FILE_BYTES is %d: a file may have at most %d bytes", c.FileBytes, files.MostBytes)
	}
	key, err := engines.FilesKey(ctx)
	if err != nil {
		return nil, err
	}
	return files.New(engines.Files, engines.Objects, rooms, files.Options{
		Limits: files.Limits{Bytes: c.FileBytes, Total: c.FilesBytes}, Key: key, Now: crashpoint.Now, Log: log,
	}), nil
}

// welcome returns the function that tells where the page leads newcomers. It is nil if the lobby is off.
func (i *instance) welcome(mode onOff) func() page.Lobby {
	if mode != "on" {
		return nil
	}
	return func() page.Lobby { return page.Lobby{Room: i.lobby.Room(), Packet: i.lobby.Welcome()} }
}

// parts returns the function that tells which parts work. It checks all of them at the same time, so that a part that does not
// answer delays the check of no other.
func parts(needs needs, engines *store.Engines, packets *redpacket.Service) func(context.Context) []ops.Part {
	checks := []struct {
		name  string
		check func(context.Context) error
	}{
		{needDatabase, engines.Ready},
		{needRedis, engines.RedisReady},
		{needClocks, func(context.Context) error { return packets.ClocksErr() }},
		{"schema", engines.CheckSchema}, // never needed: during an upgrade, an old instance serves beside a new one
	}
	return func(ctx context.Context) []ops.Part {
		parts := make([]ops.Part, len(checks))
		var all sync.WaitGroup
		for i, c := range checks {
			all.Go(func() { parts[i] = ops.Part{Name: c.name, Err: c.check(ctx), Needed: slices.Contains(needs, c.name)} })
		}
		all.Wait()
		return parts
	}
}

// changed drops what the rooms and the packets remember from SQL, and sets the epoch. If renewed is set, the epoch is a new one:
// then changed also closes all sockets, so that clients load the history again. Otherwise the hub compares its topics with SQL.
func (i *instance) changed(epoch string, renewed bool) {
	forget := func() {
		i.hub.SetEpoch(epoch)
		i.rooms.Renew(epoch)
		i.packets.Forget()
	}
	if renewed {
		i.hub.Reset(forget)
		return
	}
	forget()
	i.hub.Compare()
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

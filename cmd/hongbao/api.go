package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"hongbao/store"
	"hongbao/store/security"
	"hongbao/store/trail"
	"hongbao/web/convert"
	"hongbao/web/host/console"
	"hongbao/web/host/events"
	"hongbao/web/host/hook"
	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/ops/metrics"
	"hongbao/web/wire"
)

// newAPI makes the server API and reads its keys. It returns nil if no keys file is set. It uses i.security, i.server, i.rooms,
// i.packets and i.events: the caller sets them before.
func (i *instance) newAPI(c config, engines *store.Engines, log *slog.Logger) (*server.Server, *server.Keys, error) {
	if c.APIKeysFile == "" {
		return nil, nil, nil
	}
	keys, err := server.ReadKeys(c.APIKeysFile, log)
	if err != nil {
		return nil, nil, fmt.Errorf("HONGBAO_API_KEYS_FILE: %w", err)
	}
	api, err := server.New(server.Config{
		Version: version(), Keys: keys, Acts: recordedActs{i.security}, Web: i.server, Local: engines.Local, Chat: i.rooms, Packets: i.packets, Files: i.files, Trail: storedTrail{engines.Trail}, Charts: storedCharts{engines.Charts}.read, Log: log,
	})
	if err == nil && i.events != nil {
		err = i.events.Mount(api)
	}
	return api, keys, err
}

// newConsole makes the console over the server API, or returns nil if there is none.
func (i *instance) newConsole(ctx context.Context, c config, engines *store.Engines, log *slog.Logger) (*console.Console, error) {
	if i.api == nil {
		return nil, nil
	}
	secret, err := engines.ConsoleKey(ctx)
	if err != nil {
		return nil, err
	}
	return console.New(console.Options{
		API: i.api.Handler(), Keys: i.apiKeys, Acts: recordedActs{i.security}, Failure: i.server.Failure, Local: engines.Local, Secret: secret,
		Currency: wire.Currency(c.Currency), Log: log,
	})
}

// newEvents makes the service of the event stream, or returns nil if no events are written.
func (i *instance) newEvents(c config, node string, engines *store.Engines, log *slog.Logger) (*events.Service, error) {
	if len(c.Events.Kinds) == 0 {
		return nil, nil
	}
	o := events.Options{
		Store: engines.Events, Kinds: c.Events.Kinds, Instance: node, Keep: c.EventsKeep, Most: c.EventsMost, Log: log, Now: time.Now,
		Absent: i.rooms.Absent, Online: i.rooms.MembersOnline,
	}
	if c.WebhookURL != "" {
		var err error
		if o.Webhook, err = events.NewWebhook(c.WebhookURL, strings.Split(c.WebhookSecrets, ","), c.WebhookAllow, time.Now); err != nil {
			return nil, fmt.Errorf("HONGBAO_WEBHOOK_URL, HONGBAO_WEBHOOK_SECRETS: %w", err)
		}
	}
	return events.New(o), nil
}

// newHooks makes the client that asks the host about commands before they are carried out. It returns nil if there is no
// HONGBAO_HOOK_URL.
func newHooks(c config, log *slog.Logger) (*hook.Hooks, error) {
	if c.HookURL == "" {
		return nil, nil
	}
	hooks, err := hook.New(hook.Options{
		URL: c.HookURL, Secrets: strings.Split(c.HookSecrets, ","), Allowed: c.HookAllow, Timeout: c.HookTimeout,
		Commands: c.Hooks, Open: c.HookFail.open(), Fund: c.HookFund == "on", Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("HONGBAO_HOOK_URL, HONGBAO_HOOK_SECRETS: %w", err)
	}
	return hooks, nil
}

// eventStats returns how far the consumers of events are behind, and this instance's webhook deliveries by outcome.
func (i *instance) eventStats() metrics.Events {
	if i.events == nil {
		return metrics.Events{}
	}
	return metrics.Events{Lags: i.events.Lags(), Deliveries: i.events.Deliveries()}
}

// storedTrail reads which grabs were refused, and what happened to sockets.
type storedTrail struct{ store trail.Store }

// RefusalsOf implements server.Trail.
func (s storedTrail) RefusalsOf(ctx context.Context, user, after string, limit int) (found []hostapi.Refusal, next string, err error) {
	refusals, next, err := s.store.RefusalsOf(ctx, user, after, limit)
	return convert.List(refusals, refusalOf), next, err
}

// RefusalsAt implements server.Trail.
func (s storedTrail) RefusalsAt(ctx context.Context, packet, after string, limit int) (found []hostapi.Refusal, next string, err error) {
	refusals, next, err := s.store.RefusalsAt(ctx, packet, after, limit)
	return convert.List(refusals, refusalOf), next, err
}

// SocketsOf implements server.Trail.
func (s storedTrail) SocketsOf(ctx context.Context, user, after string, limit int) (found []hostapi.SocketEvent, next string, err error) {
	events, next, err := s.store.SocketsOf(ctx, user, after, limit)
	return convert.List(events, socketOf), next, err
}

func refusalOf(r trail.Refusal) hostapi.Refusal {
	return hostapi.Refusal{User: r.User, Packet: r.Packet, At: convert.Millis(r.At), Why: r.Why}
}

func socketOf(e trail.SocketEvent) hostapi.SocketEvent {
	return hostapi.SocketEvent{Socket: e.Socket, At: convert.Millis(e.At), What: e.What, Code: e.Code}
}

// recordedActs stores the acts of API keys beside those of administrators.
type recordedActs struct{ recorder *security.Recorder }

// Record implements server.Acts.
func (r recordedActs) Record(ctx context.Context, a server.Act) error {
	return r.recorder.Record(ctx, security.Act{
		Actor: "key/" + a.Key, Person: a.Person, Client: a.Client, Method: a.Operation, Request: string(a.Request), RequestID: a.RequestID, Reason: a.Reason,
	})
}

// Count implements server.Acts.
func (r recordedActs) Count(kind, origin string) { r.recorder.Count(kind, origin) }

// After implements server.Acts.
func (r recordedActs) After(ctx context.Context, cursor string, before time.Time, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.recorder.ActsAfter(ctx, cursor, before, limit)
	return convert.List(stored, actOf), next, err
}

// Before implements server.Acts.
func (r recordedActs) Before(ctx context.Context, cursor string, limit int) (acts []hostapi.Act, next string, err error) {
	stored, next, err := r.recorder.ActsBefore(ctx, cursor, limit)
	return convert.List(stored, actOf), next, err
}

func actOf(a security.Act) hostapi.Act {
	return hostapi.Act{
		ID: a.ID, At: convert.Millis(a.At), Instance: a.Instance, Actor: a.Actor, Person: a.Person, Client: a.Client, Operation: a.Method, Request: a.Request,
		RequestID: a.RequestID, Reason: a.Reason,
	}
}

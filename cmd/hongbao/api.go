package main

import (
	"context"
	"fmt"
	"log/slog"

	"hongbao/store"
	"hongbao/store/security"
	"hongbao/web/server"
)

// newAPI makes the server API, or returns nil if there is no keys file. The parts of i that it uses must be set.
func (i *instance) newAPI(c config, engines *store.Engines, log *slog.Logger) (*server.Server, *server.Keys, error) {
	if c.APIKeysFile == "" {
		return nil, nil, nil
	}
	keys, err := server.ReadKeys(c.APIKeysFile, log)
	if err != nil {
		return nil, nil, fmt.Errorf("HONGBAO_API_KEYS_FILE: %w", err)
	}
	api, err := server.New(server.Config{
		Keys: keys, Acts: recordedActs{i.security}, Web: i.server, Local: engines.Local, Chat: i.rooms, Log: log,
	})
	return api, keys, err
}

// recordedActs stores the acts of API keys beside those of administrators.
type recordedActs struct{ recorder *security.Recorder }

// Record implements server.Acts.
func (r recordedActs) Record(ctx context.Context, a server.Act) error {
	return r.recorder.Record(ctx, security.Act{
		Actor: "key/" + a.Key, Client: a.Client, Method: a.Operation, Request: string(a.Request), RequestID: a.RequestID, Reason: a.Reason,
	})
}

// Count implements server.Acts.
func (r recordedActs) Count(kind, origin string) { r.recorder.Count(kind, origin) }

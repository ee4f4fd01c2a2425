package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// listeners accept the connections of clients, of the operator and of the host's back end.
type listeners struct {
	clients, ops net.Listener
	api          net.Listener // nil: there is no server API
	certificates *tls.Config  // of clients; nil: plain HTTP
	apiTLS       *tls.Config  // of the server API; nil: plain HTTP
}

// answerGrace is how long run waits after the drain window for answers to requests in progress.
const answerGrace = 15 * time.Second

// stopping says how a server stops. For the delay it still accepts clients while /readyz answers 503. Then it closes the sockets,
// spread over the window.
type stopping struct{ delay, window time.Duration }

// run serves until ctx is done or a part fails, and returns when all goroutines have ended. Parts stop in this order:
//
//	not ready -> no new connections -> sockets closed over the window -> packets and rooms -> hub and web
//
// The hub stops last, because what the services commit at their end is still published to the other instances. The
// operator's listener stops when the sockets are closed. The caller closes the engines afterwards.
func (i *instance) run(ctx context.Context, l listeners, stop stopping, log *slog.Logger) error {
	clients := newServer(i.server.Handler(), l.certificates, 30*time.Second, log) // a grab over HTTP waits up to 10 s
	clients.ConnState = i.server.ConnState
	ops := newOpsServer(i.server.OpsHandler(), log)
	var api *http.Server // nil: there is no server API
	if i.api != nil {
		api = newServer(i.console.Handler(), l.apiTLS, 90*time.Second, log) // some requests may take up to a minute
	}

	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	services, stopServices := context.WithCancel(failed)
	publishing, stopPublishing := context.WithCancel(failed)
	start := func(ctx context.Context, run func(context.Context)) {
		group.Go(func() error {
			run(ctx)
			return nil
		})
	}
	group.Go(func() error { return i.watch.Run(publishing) })
	group.Go(func() error { return i.hub.Run(publishing) })
	group.Go(func() error { return i.server.Run(publishing) })
	start(publishing, i.security.Run)
	if i.trail != nil {
		start(publishing, i.trail.Run)
		start(services, i.charts.Run)
	}
	group.Go(func() error {
		defer stopPublishing()
		defer i.rooms.Stop()
		return i.packets.Run(services)
	})
	start(services, func(ctx context.Context) { i.rooms.RunErasures(ctx, i.packets.ForgetSender) })
	start(services, i.rooms.RunRetention)
	if i.lobby != nil {
		start(services, i.lobby.Run)
	}
	if i.events != nil {
		start(publishing, i.events.Run)
	}
	if i.push != nil {
		start(publishing, i.push.Run)
	}
	if i.indexer != nil {
		start(services, i.indexer.Run)
	}
	if i.files != nil {
		start(services, i.files.Run)
	}
	if api != nil {
		start(publishing, i.apiKeys.Run)
		group.Go(func() error { return serveOn(api, l.api) })
	}
	group.Go(func() error { return serveOn(clients, l.clients) })
	group.Go(func() error { return serveOn(ops, l.ops) })
	group.Go(func() error {
		defer stopServices()
		select {
		case <-ctx.Done():
			log.Info("stopping; a second signal stops at once", "delay", stop.delay.String(), "drain", stop.window.String())
			i.server.NotReady()
			select {
			case <-time.After(stop.delay):
			case <-failed.Done():
				stop.window = 0
			}
		case <-failed.Done():
			stop.window = 0
		}
		return errors.Join(i.drain(clients, api, stop.window), ops.Close())
	})
	return group.Wait()
}

// drain refuses new connections and closes the open ones over the window, each after the answers to its requests. It returns
// an error if connections are still open answerGrace after the window.
func (i *instance) drain(clients, api *http.Server, window time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), window+answerGrace)
	defer cancel()
	var both errgroup.Group
	both.Go(func() error { return i.server.Drain(ctx, window) })
	both.Go(func() error { return clients.Shutdown(ctx) })
	if api != nil {
		both.Go(func() error {
			i.api.Stop()
			return api.Shutdown(ctx)
		})
	}
	return both.Wait()
}

func serveOn(server *http.Server, l net.Listener) error {
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

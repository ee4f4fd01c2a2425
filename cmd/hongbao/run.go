package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// listeners are where an instance is reached.
type listeners struct{ clients, ops net.Listener }

// lastWords is how long after the drain window answers on their way are waited for.
const lastWords = 15 * time.Second

// run serves until ctx is done or a part fails, and returns when all goroutines have ended:
//
//	not ready, no new connections -> sockets closed over the window -> packets and rooms -> hub and door
//
// The hub goes last: what the services commit at their end is still told to the other instances. The operator's
// listener goes with the sockets.
// The caller closes the engines afterwards.
func (i *instance) run(ctx context.Context, l listeners, window time.Duration, log *slog.Logger) error {
	clients := newClientServer(i.door.Handler(), log)
	ops := newOpsServer(i.door.OpsHandler(), log)

	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	services, stopServices := context.WithCancel(failed)
	telling, stopTelling := context.WithCancel(failed)
	group.Go(func() error { return i.hub.Run(telling) })
	group.Go(func() error { return i.door.Run(telling) })
	group.Go(func() error {
		defer stopTelling()
		defer i.rooms.Stop()
		return i.packets.Run(services)
	})
	group.Go(func() error { return serveOn(clients, l.clients) })
	group.Go(func() error { return serveOn(ops, l.ops) })
	group.Go(func() error {
		defer stopServices()
		select {
		case <-ctx.Done():
			log.Info("stopping; once more stops at once", "drain", window.String())
		case <-failed.Done():
			window = 0
		}
		return errors.Join(i.leave(clients, window), ops.Close())
	})
	return group.Wait()
}

// leave closes the door: nobody comes in, and who is in goes, each after his answers.
func (i *instance) leave(clients *http.Server, window time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), window+lastWords)
	defer cancel()
	var both errgroup.Group
	both.Go(func() error { return i.door.Drain(ctx, window) })
	both.Go(func() error { return clients.Shutdown(ctx) })
	return both.Wait()
}

func serveOn(server *http.Server, l net.Listener) error {
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

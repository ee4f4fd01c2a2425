package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// echoCommand is the subcommand that runs a bare echo server. playAnswers starts it in a process of its own, and compares
// hongbao with it.
func echoCommand() command {
	return command{name: "echo", summary: "run a bare WebSocket echo server, the peer of the socket benchmarks; it prints its URL", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			server := &http.Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: 10 * time.Second}
			context.AfterFunc(ctx, func() { _ = server.Close() }) // closes at once: no client waits for an answer
			_, _ = fmt.Fprintf(p.stdout, "ws://%s/\n", l.Addr())
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		}
	}}
}

// echo is the simplest echo loop.
func echo(w http.ResponseWriter, r *http.Request) {
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has already answered with an error
	}
	defer ws.Close()
	for {
		kind, message, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, message) != nil {
			return
		}
	}
}

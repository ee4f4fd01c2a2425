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

// echoCommand serves what answers over sockets are measured beside: a process of its own, as the server is.
func echoCommand() command {
	return command{name: "echo", summary: "a bare echo server over sockets, to measure beside; it says where", setup: func(*flag.FlagSet) func(context.Context, *program) error {
		return func(ctx context.Context, p *program) error {
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			server := &http.Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: 10 * time.Second}
			context.AfterFunc(ctx, func() { _ = server.Close() }) // nobody waits for an answer
			_, _ = fmt.Fprintf(p.stdout, "ws://%s/\n", l.Addr())
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		}
	}}
}

// echo is the loop that one would write at first.
func echo(w http.ResponseWriter, r *http.Request) {
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer ws.Close()
	for {
		kind, message, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, message) != nil {
			return
		}
	}
}

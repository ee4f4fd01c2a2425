package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/gorilla/websocket"
)

// listenCommand is who hears a broadcast: a process of its own, which ends with its standard input.
func listenCommand() command {
	return command{name: "listen", summary: "clients that count what they hear, for a broadcast to be measured; JSON on its standard input says what", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		url := fs.String("url", "", "where to connect")
		sockets := fs.Int("sockets", 1, "how many clients")
		return func(ctx context.Context, p *program) error {
			oneCore(ctx, 1) // the other one than who speaks has
			e := newEars(*sockets, p.stdout)
			if err := e.connect(ctx, *url); err != nil {
				return err
			}
			e.answer()
			return e.obey(os.Stdin)
		}
	}}
}

// connect has all clients listen.
func (e *ears) connect(ctx context.Context, url string) error {
	conns := make([]net.Conn, len(e.all))
	for i := range conns {
		ws, answer, err := websocket.DefaultDialer.DialContext(ctx, url, nil)
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		if err := answer.Body.Close(); err != nil {
			return err
		}
		conns[i] = ws.NetConn()
	}
	return e.hear(conns)
}

// obey follows orders until there are no more.
func (e *ears) obey(orders io.Reader) error {
	for in := json.NewDecoder(orders); ; {
		var o order
		switch err := in.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if o.Size > 0 {
			e.begin(o)
		}
		e.answer()
	}
}

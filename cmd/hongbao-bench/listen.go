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

// listenCommand is the subcommand that runs the clients of a broadcast in a process of their own. It ends when its
// standard input is closed.
func listenCommand() command {
	return command{name: "listen", summary: "run clients that count the messages of a broadcast; JSON on standard input controls them", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		url := fs.String("url", "", "URL to connect to")
		sockets := fs.Int("sockets", 1, "number of clients")
		return func(ctx context.Context, p *program) error {
			oneCore(ctx, 1) // the sender has the other core
			e := newMessageCounter(*sockets, p.stdout)
			if err := e.connect(ctx, *url); err != nil {
				return err
			}
			e.answer()
			return e.serve(os.Stdin)
		}
	}}
}

// connect connects all clients.
func (e *messageCounter) connect(ctx context.Context, url string) error {
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
	return e.receive(conns)
}

// serve handles requests until its input ends.
func (e *messageCounter) serve(requests io.Reader) error {
	for in := json.NewDecoder(requests); ; {
		var o countRequest
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

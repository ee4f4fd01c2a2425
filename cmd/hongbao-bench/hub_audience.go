package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

const audienceTopic = "room"

// audience is sockets over loopback that listen to one topic; their clients are a process of their own.
type audience struct {
	hub   *hub.Hub
	conns []*websocket.Conn // the server's ends
	seq   int64

	*listeners // the clients

	writes   sync.Pool // of write buffers
	url      string
	accepted chan *websocket.Conn
}

// newAudience makes the sockets. They are upgraded like the server's own: short read buffers, write buffers from a pool.
func newAudience(ctx context.Context, s *site, sockets int) (*audience, error) {
	a := &audience{
		hub: hub.New(hub.Options{
			Encode:   func(_ hub.Encoding, _ string, m hub.Message) []byte { return m.Data },
			Ping:     func(hub.Encoding) []byte { return []byte("{}") },
			Fetch:    func(context.Context, []hub.Span) (map[string][]hub.Message, error) { return nil, nil },
			LastSeqs: func(context.Context, []string) (map[string]int64, error) { return nil, nil },
			Log:      s.log, QueueBytes: 64 << 10,
		}),
		accepted: make(chan *websocket.Conn, sockets),
	}
	s.run(ctx, a.hub.Run)
	url, err := s.serve(ctx, a.upgrade)
	if err != nil {
		return nil, err
	}
	a.url = "ws" + strings.TrimPrefix(url, "http")
	if a.listeners, err = s.listeners(ctx, a.url, sockets); err != nil {
		return nil, err
	}
	for range sockets {
		ours, err := a.accept()
		if err != nil {
			return nil, err
		}
		a.conns = append(a.conns, ours)
		a.attach(ours)
	}
	return a, nil
}

// upgrade takes whoever comes, as the server does.
func (a *audience) upgrade(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{ReadBufferSize: 256, WriteBufferPool: &a.writes}
	if ws, err := upgrader.Upgrade(w, r, nil); err == nil { // else the upgrader has answered
		a.accepted <- ws
	}
}

// accept gives the server's end of the next socket.
func (a *audience) accept() (*websocket.Conn, error) {
	select {
	case ours := <-a.accepted:
		return ours, nil
	case <-time.After(hearPatience):
		return nil, errors.New("a socket has no end here")
	}
}

// attach has the socket listen.
func (a *audience) attach(ours *websocket.Conn) {
	a.hub.Attach(ours, hub.JSON, func(*hub.Conn) hub.Handler { return mute{} }).Subscribe(audienceTopic, a.seq, nil)
}

// mute is a client's session, which has nothing to say.
type mute struct{}

// Frame implements hub.Handler.
func (mute) Frame(bool, []byte) bool { return false }

// Signal implements hub.Handler.
func (mute) Signal(string, []byte) {}

// Idle implements hub.Handler.
func (mute) Idle() bool { return true }

// Closed implements hub.Handler.
func (mute) Closed() {}

// start makes all ready for such messages. Nothing may be on its way. The deadlines that its peer has left are not
// the hub's.
func (a *audience) start(o order) (payload []byte, err error) {
	for _, ws := range a.conns {
		if err := ws.NetConn().SetWriteDeadline(time.Time{}); err != nil {
			return nil, err
		}
	}
	_, err = a.ask(o)
	return bytes.Repeat([]byte("x"), o.Size), err
}

// finish sees that everybody has heard so many messages, and nobody more.
func (a *audience) finish(ctx context.Context, messages int) (account, error) {
	if err := a.await(ctx, messages); err != nil {
		return account{}, err
	}
	r, err := a.ask(order{})
	if err == nil && (r.All != messages || r.Most != messages) {
		err = fmt.Errorf("all have heard %d messages and one %d, of %d", r.All, r.Most, messages)
	}
	return r, err
}

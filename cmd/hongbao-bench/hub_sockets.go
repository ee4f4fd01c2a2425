package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

const groupTopic = "room"

// socketGroup is a set of loopback sockets that are subscribed to one topic. The clients of the sockets are in another
// process.
type socketGroup struct {
	hub   *hub.Hub
	conns []*websocket.Conn // the server's ends
	seq   atomic.Int64      // of the last message published

	*receivers // the client process

	writes   sync.Pool // of write buffers
	url      string
	accepted chan *websocket.Conn
}

// newSocketGroup creates the sockets. They are upgraded like the server's own: short read buffers, write buffers from a pool.
func newSocketGroup(ctx context.Context, s *testbed, sockets int) (*socketGroup, error) {
	a := &socketGroup{accepted: make(chan *websocket.Conn, sockets)}
	a.hub = hub.New(hub.Options{
		Encode: func(_ hub.Encoding, _ string, m hub.Message) []byte { return m.Data },
		Ping:   func(hub.Encoding) []byte { return []byte("{}") },
		Fetch:  func(context.Context, []hub.Span) (map[string][]hub.Message, error) { return nil, nil },
		LastSeqs: func(context.Context, []string) (map[string]int64, error) {
			return map[string]int64{groupTopic: a.seq.Load()}, nil
		},
		Log: s.log, QueueBytes: 64 << 10,
	})
	s.run(ctx, a.hub.Run)
	url, err := s.serve(ctx, a.upgrade)
	if err != nil {
		return nil, err
	}
	a.url = "ws" + strings.TrimPrefix(url, "http")
	if a.receivers, err = s.receivers(ctx, a.url, sockets); err != nil {
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

// upgrade accepts every socket, as the server does.
func (a *socketGroup) upgrade(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{ReadBufferSize: 256, WriteBufferPool: &a.writes}
	if ws, err := upgrader.Upgrade(w, r, nil); err == nil { // otherwise the upgrader has answered
		a.accepted <- ws
	}
}

// accept returns the server's end of the socket that was upgraded next.
func (a *socketGroup) accept() (*websocket.Conn, error) {
	select {
	case ours := <-a.accepted:
		return ours, nil
	case <-time.After(receiveTimeout):
		return nil, errors.New("a client's socket was not accepted in time")
	}
}

// attach subscribes the socket to the topic in the hub.
func (a *socketGroup) attach(ours *websocket.Conn) {
	a.hub.Attach(ours, hub.JSON, func(*hub.Conn) hub.Handler { return idleHandler{} }).Subscribe(groupTopic, a.seq.Load(), nil)
}

// idleHandler is the handler of a client that sends nothing.
type idleHandler struct{}

// Frame implements hub.Handler.
func (idleHandler) Frame(bool, []byte) (flush bool, rest func()) { return false, nil }

// Control implements hub.Handler.
func (idleHandler) Control() bool { return true }

// Signal implements hub.Handler.
func (idleHandler) Signal(string, []byte) {}

// Idle implements hub.Handler.
func (idleHandler) Idle() bool { return true }

// Closed implements hub.Handler.
func (idleHandler) Closed() {}

// start prepares a measurement and returns the payload to send. No message may be in flight. It clears the write
// deadlines that a peer has set on the sockets.
func (a *socketGroup) start(o countRequest) (payload []byte, err error) {
	for _, ws := range a.conns {
		if err := ws.NetConn().SetWriteDeadline(time.Time{}); err != nil {
			return nil, err
		}
	}
	_, err = a.ask(o)
	return bytes.Repeat([]byte("x"), o.Size), err
}

// finish waits until every client has received the given number of messages. It fails if any client received more.
func (a *socketGroup) finish(ctx context.Context, messages int) (countReport, error) {
	if err := a.await(ctx, messages); err != nil {
		return countReport{}, err
	}
	r, err := a.ask(countRequest{})
	if err == nil && (r.All != messages || r.Most != messages) {
		err = fmt.Errorf("every client received %d messages, and one received %d, of %d", r.All, r.Most, messages)
	}
	return r, err
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Timeouts for the underlying SDK. Its default timeouts are too short for a server under load.
const (
	answerWithin    = 10 * time.Second
	handshakeWithin = 10 * time.Second
	writeWithin     = 5 * time.Second
	tokenWithin     = 6 * time.Second // the server waits 8 s for the connect command, which needs the token
)

// firstRooms asks for few rooms in the connect reply, so that the reply stays short. The command rooms lists the others.
var firstRooms = []byte(`{"rooms":20}`)

// link is one client of the underlying SDK. A Client has one link. It is replaced (dial) when the user has left a room while the
// client was offline.
type link struct {
	sdk       *centrifuge.Client
	connected bool // has been connected at least once
}

// dial replaces the SDK client by a new one and connects it. The old SDK client keeps the channel of a room that the user left
// while the client was offline. If the user enters the room again, the old SDK client would not report that. The caller holds
// c.mu.
func (c *Client) dial(old *link) {
	create := centrifuge.NewJsonClient
	if c.o.Protobuf {
		create = centrifuge.NewProtobufClient
	}
	config := centrifuge.Config{
		Data: firstRooms, Token: c.token, Name: c.o.Name, Version: c.o.Version, NetDialContext: c.connect, TLSConfig: c.o.TLS,
		ReadTimeout: answerWithin, HandshakeTimeout: handshakeWithin, WriteTimeout: writeWithin,
	}
	if c.o.GetToken != nil {
		config.GetToken = c.newToken
	}
	l := &link{sdk: create(c.url, config)}
	// OnError must stay unset: the SDK calls it while it holds a lock, and then takes the same lock again.
	l.sdk.OnConnected(func(e centrifuge.ConnectedEvent) { c.onConnected(l, e) })
	l.sdk.OnConnecting(func(e centrifuge.ConnectingEvent) { c.onConnecting(l, e) })
	l.sdk.OnDisconnected(func(e centrifuge.DisconnectedEvent) { c.onDisconnected(l, e) })
	l.sdk.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) { c.onSubscribed(l, e) })
	l.sdk.OnUnsubscribed(func(e centrifuge.ServerUnsubscribedEvent) { c.onUnsubscribed(l, e) })
	l.sdk.OnPublication(func(e centrifuge.ServerPublicationEvent) { c.onPublication(l, e) })
	l.sdk.OnMessage(func(e centrifuge.MessageEvent) { c.onMessage(l, e) })
	c.link = l
	_ = c.startLocked(func() { // it fails if the client has ended
		if old != nil {
			old.sdk.Close()
		}
		_ = l.sdk.Connect() // it returns the error of the first try, and keeps trying
	})
}

// newToken asks the program for a token (Options.GetToken). The SDK waits for it before it connects.
func (c *Client) newToken(centrifuge.ConnectionTokenEvent) (string, error) {
	ctx, cancel := context.WithTimeout(c.ctx, tokenWithin)
	defer cancel()
	token, err := c.o.GetToken(ctx)
	switch {
	case errors.Is(err, ErrUnauthorized):
		return "", centrifuge.ErrUnauthorized
	case err != nil:
		c.o.Log.Warn("no token", "error", err)
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
	return token, nil
}

// connect opens a network connection that is closed at the latest when the client is closed. The SDK does not close some
// connections that it gives up.
func (c *Client) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.o.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.sockets, cancel)()
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &boundConn{Conn: conn, stop: context.AfterFunc(c.sockets, func() { _ = conn.Close() })}, nil
}

// boundConn is a network connection that is closed at the latest when the client is closed.
type boundConn struct {
	net.Conn

	stop func() bool
}

func (l *boundConn) Close() error {
	l.stop()
	return l.Conn.Close()
}

// isCurrent reports whether the client must handle events of the link: the link is the client's present one, and the client has
// not ended. The caller holds c.mu.
func (c *Client) isCurrent(l *link) bool { return c.link == l && c.err == nil }

func (c *Client) onConnecting(l *link, e centrifuge.ConnectingEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) || c.gone == nil {
		return
	}
	close(c.gone)
	c.gone = nil
	c.o.Log.Info("offline", "code", e.Code, "reason", e.Reason)
	if c.listing == nil { // otherwise the program does not know yet that the client was connected
		c.feed.AddLoose(model.Offline{Code: int(e.Code), Reason: e.Reason})
	}
	c.wakeLocked()
}

func (c *Client) onDisconnected(l *link, e centrifuge.DisconnectedEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) {
		return
	}
	c.o.Log.Warn("ended by the server", "code", e.Code, "reason", e.Reason)
	c.endLocked(newCloseError(e))
}

func (c *Client) onMessage(l *link, e centrifuge.MessageEvent) {
	var m wire.Message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		m = wire.Message{} // becomes an OtherEvent with the unchanged data
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCurrent(l) {
		return
	}
	if m.Left != nil { // the unsubscribe push of the room follows
		c.feed.WillLeave(m.Left.Room, m.Left.Reason)
		return
	}
	event := model.EventOf(m, e.Data)
	c.applyLocked(&event)
	c.feed.AddLoose(event)
	c.wakeLocked()
}

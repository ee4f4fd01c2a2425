package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// Times of the SDK. Its own are too short for a server under load.
const (
	answerWithin    = 10 * time.Second
	handshakeWithin = 10 * time.Second
	writeWithin     = 5 * time.Second
	tokenWithin     = 6 * time.Second // the server waits 8 s for the connect command
)

// link is one SDK client. It lives as long as ours but for one case: see dial.
type link struct {
	sdk       *centrifuge.Client
	connected bool // at least once
}

// dial begins to connect with a new SDK client in place of an old one. The old one never forgets a channel
// that was lost while it was offline, and would hide that one is in that room again. With c.mu held.
func (c *Client) dial(old *link) {
	create := centrifuge.NewJsonClient
	if c.o.Protobuf {
		create = centrifuge.NewProtobufClient
	}
	config := centrifuge.Config{
		Token: c.token, Name: c.o.Name, Version: c.o.Version, NetDialContext: c.connect, TLSConfig: c.o.TLS,
		ReadTimeout: answerWithin, HandshakeTimeout: handshakeWithin, WriteTimeout: writeWithin,
	}
	if c.o.GetToken != nil {
		config.GetToken = c.newToken
	}
	l := &link{sdk: create(c.url, config)}
	// OnError is never set: the SDK calls it with a lock held which it then asks for again.
	l.sdk.OnConnected(func(e centrifuge.ConnectedEvent) { c.onConnected(l, e) })
	l.sdk.OnConnecting(func(e centrifuge.ConnectingEvent) { c.onConnecting(l, e) })
	l.sdk.OnDisconnected(func(e centrifuge.DisconnectedEvent) { c.onDisconnected(l, e) })
	l.sdk.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) { c.onSubscribed(l, e) })
	l.sdk.OnUnsubscribed(func(e centrifuge.ServerUnsubscribedEvent) { c.onUnsubscribed(l, e) })
	l.sdk.OnPublication(func(e centrifuge.ServerPublicationEvent) { c.onPublication(l, e) })
	l.sdk.OnMessage(func(e centrifuge.MessageEvent) { c.onMessage(l, e) })
	c.link = l
	_ = c.startLocked(func() { // not when the client has ended
		if old != nil {
			old.sdk.Close()
		}
		_ = l.sdk.Connect() // it says what the first try came to, and goes on trying
	})
}

// newToken asks the host for a token. The SDK lets a socket wait meanwhile.
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

// connect dials a socket that does not outlive the client: the SDK forgets some of those that it gives up.
func (c *Client) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.o.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.lines, cancel)()
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn, stop: context.AfterFunc(c.lines, func() { _ = conn.Close() })}, nil
}

// line is a connection that ends with the client.
type line struct {
	net.Conn

	stop func() bool
}

func (l *line) Close() error {
	l.stop()
	return l.Conn.Close()
}

// heeds tells whether what the link says counts. With c.mu held.
func (c *Client) heeds(l *link) bool { return c.link == l && c.err == nil }

func (c *Client) onConnecting(l *link, e centrifuge.ConnectingEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) || c.gone == nil {
		return
	}
	close(c.gone)
	c.gone = nil
	c.o.Log.Info("offline", "code", e.Code, "reason", e.Reason)
	c.feed.tell(Offline{Code: int(e.Code), Reason: e.Reason})
	c.wakeLocked()
}

func (c *Client) onDisconnected(l *link, e centrifuge.DisconnectedEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) {
		return
	}
	c.o.Log.Warn("ended by the server", "code", e.Code, "reason", e.Reason)
	c.endLocked(newCloseError(e))
}

func (c *Client) onMessage(l *link, e centrifuge.MessageEvent) {
	var m wire.Message
	if err := json.Unmarshal(e.Data, &m); err != nil {
		m = wire.Message{} // given as it came
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heeds(l) {
		return
	}
	if m.Left != nil { // the end of its subscription follows
		c.feed.willLeave(m.Left.Room, m.Left.Reason)
		return
	}
	event := eventOf(m, e.Data)
	c.noteLocked(&event)
	c.feed.tell(event)
	c.wakeLocked()
}

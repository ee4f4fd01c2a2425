package hub

import (
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub/internal/openset"
	"hongbao/hub/internal/socket"
)

// Close codes that the hub chooses itself, besides 1009 for a message that is too big and 1002 for a violation of RFC 6455.
const (
	CloseSlow             = socket.CloseSlow     // the client did not read its messages fast enough
	CloseNoPong           = socket.CloseNoPong   // the client did not answer a ping, or did not complete a message in time
	CloseProtocol         = socket.CloseProtocol // the client sent a text message that is not UTF-8
	CloseStateInvalidated = 3014                 // the store has lost messages, so the positions of clients mean nothing any more
)

const reasonStateInvalidated = "state invalidated"

// Handler handles the messages of one client. Its methods run on goroutines that serve many connections, so they must
// not block: not on the network, a store or another client. Work that may block runs on a goroutine of its own.
type Handler interface {
	// Frame handles one whole message of the client. Messages are handled one at a time. The next one is handled only when the
	// client has read enough of the replies to earlier ones: when Conn.Behind returns nil. data is valid only during the call.
	// If flush is true, replies were queued and the caller writes them.
	//
	// Work that may block is returned as rest. If rest is not nil, it runs on a goroutine of this connection. The
	// client's next message is handled after rest has returned, so slow work delays only this client.
	Frame(binary bool, data []byte) (flush bool, rest func())
	// Control is called for each ping and pong frame of WebSocket; the hub answers the pings. It returns false if it has
	// closed the connection: then nothing more is read from the client.
	Control() bool
	// Signal handles a signal that was sent to a topic of the connection (Hub.Signal). It runs on the goroutine of a caller of
	// Hub.Signal or Hub.Publish, of the bus or of a repairer.
	Signal(topic string, data []byte)
	// Idle reports whether no command of the client is in progress.
	Idle() bool
	// Closed is called once, after the connection has left all topics. code is the code of the close frame that the server sends; 0: none.
	// byPeer means that the client's close frame came first.
	Closed(code int, byPeer bool)
}

// Conn is one client's connection. Its methods may be called from any goroutine, and none of them blocks.
type Conn struct {
	// static after Attach
	shared  *connections
	handler Handler

	socket socket.Socket

	mu            sync.Mutex // guards the fields below
	subscriptions []connSubscription
	left          bool // the connection has ended: no subscription may be added
}

// connSubscription is one entry in a connection's list of its subscriptions.
type connSubscription struct {
	topic        *topic
	subscription *subscription
}

// connections holds the connections of a hub, and the data that they share.
type connections struct {
	openset.Set[*Conn]

	// static
	topics  *registry
	counts  *counters
	sockets *socket.Group
}

// attach takes over an upgraded WebSocket. If the hub has stopped, it closes the connection at once.
func (s *connections) attach(ws *websocket.Conn, e Encoding, handler func(*Conn) Handler) *Conn {
	c := &Conn{shared: s}
	s.sockets.Open(&c.socket, ws, e, connOwner{c})
	c.handler = handler(c)
	if !s.Add(c) {
		ws.Close()
	}
	c.socket.Start()
	return c
}

// listSockets returns the sockets of all connections.
func (s *connections) listSockets() []*socket.Socket {
	var list []*socket.Socket
	for _, c := range s.List() {
		list = append(list, &c.socket)
	}
	return list
}

// Encoding returns the encoding in which the client receives messages.
func (c *Conn) Encoding() Encoding { return c.socket.Encoding() }

// Send queues one message for this client alone and starts writing it, unless Hold delays it. Such a message is a reply: it does
// not count toward Options.QueueBytes and is dropped only when the connection closes. The caller limits replies by waiting for
// Behind. Over Options.ReplyBytes, connections with the most unread replies end. The message has no frame and no delimiter.
func (c *Conn) Send(message []byte) {
	if c.socket.Reply(message) {
		c.socket.Flush()
	}
}

// Queue queues a message as Send does, and does not write it. It is for callers that hold a lock or queue several
// messages. If it returns true, the caller must call Flush soon.
func (c *Conn) Queue(message []byte) (flush bool) { return c.socket.Reply(message) }

// Flush writes the queued messages, as far as the socket accepts them without blocking. A goroutine of the socket
// writes the rest.
func (c *Conn) Flush() { c.socket.Flush() }

// Behind returns nil if the client's unread replies fit into Options.QueueBytes. While the unread replies of all clients together
// exceed half of Options.ReplyBytes, only a client without unread replies gets nil. Otherwise Behind returns a channel that is
// closed when the client has caught up or the connection ends. A goroutine that queues replies must wait for the channel:
// nothing else limits the replies.
func (c *Conn) Behind() <-chan struct{} { return c.socket.Behind() }

// Hold delays all messages queued from now on, until Release is called.
func (c *Conn) Hold() { c.socket.Hold() }

// Release queues the message first, if it is not nil, and then all messages that Hold has delayed, and writes them. The hub
// pings the client from then on.
func (c *Conn) Release(first []byte) { c.socket.Release(first) }

// Close sends the queued messages and then a close frame, and closes the connection. Messages that Hold delays are dropped.
// Further calls do nothing.
func (c *Conn) Close(code int, reason string) { c.socket.Close(code, reason) }

// CloseAt schedules Close for the time t. A later call replaces the schedule; the zero time cancels it.
func (c *Conn) CloseAt(t time.Time, code int, reason string) { c.socket.CloseAt(t, code, reason) }

// Subscribe subscribes the connection to a topic. seen is the last seq that the caller has read from the store; a
// negative seen means that the topic's messages have no seq. The returned position is the higher of seen and the
// topic's last seq delivered on this instance; 0 if the topic has no seq. The connection receives every message after the
// position, and none up to it. If the connection is subscribed already, the position is the last seq that it has received.
//
// If announce is not nil, its result is queued before any message of the topic. announce must not call the hub. If the
// connection is subscribed already, announce is not called, and an Unsubscribe that waits for a seq up to seen is cancelled.
// If the subscription has ended (Ended), a new one begins. A connection that is closing is not subscribed.
func (c *Conn) Subscribe(topic string, seen int64, announce func(position int64) []byte) (position int64) {
	t := c.shared.topics.lockOrCreate(topic)
	defer c.shared.topics.unlock(t)
	old := c.subscriptionTo(t)
	if old == nil && c.socket.Closing() {
		return t.learn(seen)
	}
	position, s := t.subscribe(c, old, seen, announce)
	if old == nil && !c.subscribed(t, s) {
		t.remove(s)
	}
	return position
}

// Unsubscribe ends the subscription once the connection has been sent all messages up to seq through; 0 means at once.
// It then queues the pushes. It does nothing if there is no subscription. If an end is scheduled already, the lower seq counts,
// and the pushes of the first call are queued.
func (c *Conn) Unsubscribe(topic string, through int64, pushes ...[]byte) {
	t := c.shared.topics.lock(topic)
	if t == nil {
		return
	}
	defer c.shared.topics.unlock(t)
	if s := c.subscriptionTo(t); s != nil {
		t.unsubscribe(s, through, pushes)
	}
}

// Ended reports whether a message with Final has ended the connection's subscription to the topic. It is false again
// after Unsubscribe or Subscribe.
func (c *Conn) Ended(topic string) bool {
	t := c.shared.topics.lock(topic)
	if t == nil {
		return false
	}
	defer t.mu.Unlock()
	s := c.subscriptionTo(t)
	return s != nil && s.leave == ended
}

// Seen returns the highest seen with which the connection has called Subscribe since its subscription to the topic began. ok is false
// if there is no subscription, or if a message with Final has ended it.
func (c *Conn) Seen(topic string) (seen int64, ok bool) {
	t := c.shared.topics.lock(topic)
	if t == nil {
		return 0, false
	}
	defer t.mu.Unlock()
	s := c.subscriptionTo(t)
	if s == nil || s.leave == ended {
		return 0, false
	}
	return s.seen, true
}

// Topics lists the topics that the connection is subscribed to.
func (c *Conn) Topics() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, len(c.subscriptions))
	for i, s := range c.subscriptions {
		names[i] = s.topic.name
	}
	return names
}

// subscriptionTo returns the connection's subscription to a topic, or nil if there is none.
func (c *Conn) subscriptionTo(t *topic) *subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subscriptions {
		if s.topic == t {
			return s.subscription
		}
	}
	return nil
}

// subscribed records a new subscription. It returns false if the connection has ended, so that the subscription must be
// removed.
func (c *Conn) subscribed(t *topic, s *subscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left {
		c.subscriptions = append(c.subscriptions, connSubscription{t, s})
	}
	return !c.left
}

// unsubscribed implements Subscriber.
func (c *Conn) unsubscribed(s *subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.subscriptions, func(own connSubscription) bool { return own.subscription == s }); i >= 0 {
		c.subscriptions = slices.Delete(c.subscriptions, i, i+1)
	}
}

// subscribedTo implements Subscriber.
func (c *Conn) subscribedTo(topic string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.subscriptions, func(s connSubscription) bool { return s.topic.name == topic })
}

// deliver implements Subscriber.
func (c *Conn) deliver(f socket.Frame) (flush bool) { return c.socket.Deliver(f) }

// signal implements Subscriber.
func (c *Conn) signal(topic string, data []byte) { c.handler.Signal(topic, data) }

// connOwner implements socket.Owner for a connection. Its methods are called by the connection's socket.
type connOwner struct{ *Conn }

// Frame implements socket.Owner.
func (o connOwner) Frame(binary bool, data []byte) (flush bool, rest func()) {
	return o.handler.Frame(binary, data)
}

// Control implements socket.Owner.
func (o connOwner) Control() bool { return o.handler.Control() }

// Idle implements socket.Owner.
func (o connOwner) Idle() bool { return o.handler.Idle() }

// Left implements socket.Owner.
func (o connOwner) Left() {
	o.mu.Lock()
	subscriptions := o.subscriptions
	o.subscriptions, o.left = nil, true
	o.mu.Unlock()
	for _, s := range subscriptions {
		s.topic.mu.Lock()
		s.topic.remove(s.subscription)
		o.shared.topics.unlock(s.topic)
	}
	o.handler.Closed(o.socket.CloseCode())
}

// Gone implements socket.Owner.
func (o connOwner) Gone(code int, byPeer bool) {
	o.shared.counts.closed(code, byPeer)
	o.shared.Remove(o.Conn)
}

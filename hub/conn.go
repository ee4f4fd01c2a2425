package hub

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// Handler is the owner of a connection: a session.
type Handler interface {
	// Frame is one whole message from the client, on the reading goroutine; data is only valid meanwhile. True: what it has
	// queued is to be flushed. Blocking here is the client's back-pressure, but while the handler is Idle and the client takes its
	// replies it must not: the goroutine may read for others, too.
	Frame(binary bool, data []byte) (flush bool)
	// Signal is a message to the session itself (Hub.Signal). It holds up whoever gave it, so it must be quick.
	Signal(topic string, data []byte)
	// Idle tells whether no command is in flight. Ears and the clock ask it, so it must be quick.
	Idle() bool
	// Closed is called once, after the connection has left all topics.
	Closed()
}

// Conn is one socket. Its methods may be called from any goroutine, and never block on the network.
type Conn struct {
	// static after Attach
	hub     *Hub
	ws      *websocket.Conn
	raw     syscall.RawConn // nil: not plain TCP, and not to be written to without waiting
	line    *line           // nil: no ear hears for it
	fd      int             // of line
	handler Handler
	flusher func() // c.flush as a value: starting it allocates nothing
	enc     Encoding

	heard  atomic.Bool  // a frame came since the last ping
	busy   atomic.Bool  // the reader is inside Handler.Frame and cannot hear anything
	queued atomic.Int64 // bytes of pushes that are queued, held or being written
	owed   atomic.Int64 // the same of replies
	begun  atomic.Int64 // the tick at which the message that is coming in began; 0: none is

	writeBy time.Duration // owned by the flusher: the write deadline, since wheel.start

	mu       sync.Mutex // guards the following
	queue    *batch     // nil: empty
	held     *batch     // what was queued since Hold
	subs     []*sub
	timer    timer // at the earliest of the three ticks
	pingAt   int64 // 0: never
	pongBy   int64
	closeAt  int64
	expiry   expiry        // what to say at closeAt
	code     int           // the code of our close frame; 0: none
	caughtUp chan struct{} // closed when CatchUp may go on; nil: nobody waits
	parked   bool          // there is no reader until something comes
	byPeer   bool          // the peer's close frame came first
	holding  bool
	flushing bool // a flusher is at work
	late     bool // the next tick looks whether it is to be flushed
	waited   int8 // how many ticks have looked, and left it for a reply
	closing  bool // the close frame is queued or the socket lost: nothing is queued any more
	left     bool // the reader has ended and left all topics
}

// expiry is a close to come.
type expiry struct {
	code   int
	reason string
}

// Attach takes over an upgraded socket. The handler is made with the Conn, then reading starts.
// The handler must not subscribe before it is returned.
func (h *Hub) Attach(ws *websocket.Conn, e Encoding, handler func(*Conn) Handler) *Conn {
	c := &Conn{hub: h, ws: ws, enc: e}
	c.flusher = c.flush
	c.know(ws.NetConn())
	h.wheels.deal(&c.timer, c)
	ws.SetReadLimit(0) // the reader has its own limit, so that the close frame is the flusher's
	ws.SetPingHandler(c.pinged)
	ws.SetPongHandler(c.ponged)
	ws.SetCloseHandler(c.peerClosed)
	c.handler = handler(c)
	if !h.add(c) {
		ws.Close()
	}
	if !c.park() {
		go c.read()
	}
	return c
}

// know finds out what the socket can do.
func (c *Conn) know(socket net.Conn) {
	l, audible := socket.(*line)
	if audible {
		socket = l.Conn
	}
	tcp, ok := socket.(*net.TCPConn)
	if !ok {
		return
	}
	c.raw, _ = tcp.SyscallConn() // it fails for none at all
	if audible && c.raw.Control(func(fd uintptr) { c.fd = int(fd) }) == nil {
		c.line = l
	}
}

// Encoding of the connection.
func (c *Conn) Encoding() Encoding { return c.enc }

// Send queues a reply or a push made for this connection alone, without frame or delimiter. It is never shed, and no
// reason to call the client slow: CatchUp is for that.
func (c *Conn) Send(payload []byte) {
	if c.Queue(payload) {
		c.Flush()
	}
}

// Queue is Send for who holds a lock or has more to send: true, and he is to call Flush soon.
func (c *Conn) Queue(payload []byte) (flush bool) {
	return c.enqueueLate(item{frame: newFrame(c.enc, payload), reply: true})
}

// Flush writes what is queued, as far as the socket takes it without waiting; the rest is for a flusher.
func (c *Conn) Flush() {
	if c.raw == nil {
		go c.flusher()
		return
	}
	t := c.hub.pools.tries.Get().(*try)
	t.flush(c)
	c.hub.pools.giveTry(t)
}

// CatchUp waits until the client has taken its replies, but for a queue's worth, or is gone. Whoever makes replies
// calls it before he makes the next, or the next few: it is what bounds them.
func (c *Conn) CatchUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.behindLocked() {
		if c.caughtUp == nil {
			c.caughtUp = make(chan struct{})
		}
		caughtUp := c.caughtUp
		c.mu.Unlock()
		<-caughtUp
		c.mu.Lock()
	}
}

// Hold keeps everything queued from now on back until Release.
func (c *Conn) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

// Release sends first (may be nil) ahead of all that was held, and starts the pings.
func (c *Conn) Release(first []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = false
	if first != nil {
		c.enqueueLocked(item{frame: newFrame(c.enc, first), reply: true})
	}
	if c.closing {
		return
	}
	if c.held != nil {
		if c.queue == nil {
			c.queue = c.held
		} else {
			c.queue.items = append(c.queue.items, c.held.items...)
			c.hub.pools.giveBatch(c.held)
		}
		c.held = nil
		c.wakeLocked()
	}
	if c.pingAt == 0 {
		c.pingAt = c.hub.wheels.after(rand.N(c.hub.o.PingEvery))
		c.rearmLocked()
	}
}

// Subscribe adds the connection to the topic. seen is the last seq known from the store (negative: the topic has no
// sequence); the position returned is max(seen, the last delivered here): every later seq will come, none up to it.
// announce, if not nil, makes a push that is queued before any message of the topic; it must not call the hub.
// Subscribing twice changes nothing, unless the topic has Ended: then it starts anew.
func (c *Conn) Subscribe(topic string, seen int64, announce func(position int64) []byte) (position int64) {
	t := c.hub.enter(topic)
	defer c.hub.exit(t)
	return t.subscribe(c, seen, announce)
}

// Unsubscribe takes the connection out of the topic when it has got all messages up to through (0: now), and then queues
// last. It does nothing when the connection does not listen to the topic.
func (c *Conn) Unsubscribe(topic string, through int64, last ...[]byte) {
	t := c.hub.lookup(topic)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer c.hub.exit(t)
	t.unsubscribe(c, through, last)
}

// Ended tells whether a Message.Last has ended the topic for the connection, which has not been taken out of it yet.
func (c *Conn) Ended(topic string) bool {
	t := c.hub.lookup(topic)
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.subTo(t)
	return s != nil && s.end == over
}

package hub

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub/internal/compare"
	"hongbao/hub/internal/envelope"
	"hongbao/hub/internal/poll"
	"hongbao/hub/internal/socket"
	"hongbao/hub/internal/wheel"
	"hongbao/hub/internal/work"
)

// noticeTopic carries the notices on the bus. No topic of a connection may have this name.
const noticeTopic = "!notices"

// Options configures a hub. Encode, Ping, Fetch and LastSeqs are required.
type Options struct {
	// Encode returns a message of a topic as it is sent to clients, without frame or delimiter. If the result is empty,
	// nothing is sent. The hub calls it at most once per message and encoding, and only if a subscriber uses that
	// encoding. It must not call the hub.
	Encode func(e Encoding, topic string, m Message) []byte
	// Decode parses the Data of a message from the bus into its Meta. If Decode is nil, messages from the bus have no
	// Meta.
	Decode func(topic string, seq int64, data []byte) any
	// Ping returns the message that the hub sends to check that a client is alive, without frame or delimiter. New
	// calls it once per encoding.
	Ping func(e Encoding) []byte
	// Fetch reads messages from the store, ascending by seq within each topic. The hub needs them to fill gaps and to
	// serve clients that reconnect.
	Fetch func(ctx context.Context, spans []Span) (map[string][]Message, error)
	// Revise returns a function that applies to earlier messages the changes that m makes, such as a recalled text. It
	// returns nil if m changes none. So a recalled text is not sent to clients that reconnect. Revise may be nil.
	Revise func(m Message) (change func(earlier Message) Message)
	// LastSeqs reads the last seqs of sequenced topics from the store. The result omits topics that the store does not
	// know.
	LastSeqs func(ctx context.Context, topics []string) (map[string]int64, error)

	// WentBack is called when the store has lost messages that the hub has delivered: had is the last seq of the topic, has
	// that of the store. The topic's connections are closed (3014) by then. WentBack must not block, and may be nil.
	WentBack func(topic string, had, has int64)

	Bus        Bus           // nil: this is the only instance
	Log        *slog.Logger  // nil: nothing is logged
	QueueBytes int           // default 1 MiB; over it, pushes without Seq are dropped; if still over it, the connection is closed (3008)
	FrameBytes int           // default 64 KiB; a client's connection is closed (1009) if it sends a longer message
	PingEvery  time.Duration // default 25 s
	PongWithin time.Duration // default 8 s
}

// newPoller creates the poller of a hub. Tests replace it.
var newPoller = poll.New

// Hub holds the connections of this instance and their topics.
type Hub struct {
	// static after New
	o      Options
	wheels *wheel.Wheels
	poller poll.Poller
	peers  Peers // static after SetPeers; nil: notices are ignored

	counts   counters
	env      environment
	topics   registry
	conns    connections
	repairer repairer
	comparer *compare.Comparer[*topic]
	resumer  resumer
}

// New returns a hub that is not running yet.
func New(o Options) *Hub {
	o.QueueBytes = cmp.Or(o.QueueBytes, 1<<20)
	o.FrameBytes = cmp.Or(o.FrameBytes, 64<<10)
	o.PingEvery = cmp.Or(o.PingEvery, 25*time.Second)
	o.PongWithin = cmp.Or(o.PongWithin, 8*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{o: o, wheels: wheel.New(), poller: newPoller()}
	h.env.encode, h.env.revise, h.env.wheels, h.env.counts = o.Encode, o.Revise, h.wheels, &h.counts
	h.comparer = compare.New(compare.Options[*topic]{
		All: h.topics.all, LastSeqs: o.LastSeqs, WentBack: o.WentBack, BusDown: h.env.busDown.Load, Log: o.Log,
	})
	h.env.needsRepair, h.env.needsCompare = h.repairer.queue.Add, h.comparer.Add
	h.topics.init(&h.env, o.Bus)
	h.repairer = repairer{topics: &h.topics, fetch: o.Fetch, counts: &h.counts, log: o.Log, queue: work.NewQueue[*topic]()}
	h.resumer = resumer{topics: &h.topics, fetch: o.Fetch, counts: &h.counts, log: o.Log}
	h.conns.topics, h.conns.counts = &h.topics, &h.counts
	h.conns.sockets = socket.NewGroup(socket.Options{
		Ping: o.Ping, QueueBytes: o.QueueBytes, FrameBytes: o.FrameBytes, PingEvery: o.PingEvery, PongWithin: o.PongWithin,
	}, h.wheels, h.poller)
	return h
}

// SetPeers sets the receiver of the notices of other instances. Call it before Run.
func (h *Hub) SetPeers(p Peers) { h.peers = p }

// Pollable wraps the ResponseWriter that is passed to the WebSocket upgrade. A connection made from the result needs no
// goroutine while it is idle.
func Pollable(w http.ResponseWriter) http.ResponseWriter { return socket.Pollable(w) }

// Attach makes an upgraded WebSocket a connection of the hub. It calls handler to create the connection's Handler, and
// then starts reading. handler must not subscribe the connection.
func (h *Hub) Attach(ws *websocket.Conn, e Encoding, handler func(*Conn) Handler) *Conn {
	return h.conns.attach(ws, e, handler)
}

// Publish delivers m to the topic's subscribers on this instance and passes it to the bus for the other instances.
// Sequenced messages may be published in any order; subscribers receive them in order. It never blocks. The caller must
// not change m.Data and m.Meta afterwards.
func (h *Hub) Publish(topic string, m Message) {
	h.topics.publish(topic, m)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, m.envelope().Encode(), Rank(max(m.Seq, 0)))
	}
}

// Signal calls Handler.Signal for every connection that is subscribed to the topic, on every instance. The call comes
// after all messages that this instance published to the topic before Signal.
func (h *Hub) Signal(topic string, data []byte) {
	h.topics.signal(topic, data)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, envelope.Envelope{Kind: envelope.Signal, Data: data}.Encode(), Kept)
	}
}

// Notify calls Peers.Notice on every other instance. While the bus is down, the notice is kept and sent later.
func (h *Hub) Notify(data []byte) {
	if h.o.Bus != nil {
		h.o.Bus.Publish(noticeTopic, envelope.Envelope{Kind: envelope.Notice, Data: data}.Encode(), Kept)
	}
}

// Recent returns the messages of spans of topics, for a client that has reconnected. The client's connection must be
// subscribed to the topics, and each span must end at a position that Subscribe has returned. A span is omitted if it
// is longer than the backlog, incomplete in the store, or not available in time. However many clients call it, the
// messages of a topic are read from the store once, unless a client has missed more than was read.
func (h *Hub) Recent(ctx context.Context, spans []Span) map[string][]Message {
	return h.resumer.missed(ctx, spans)
}

// Listeners returns how many connections of this instance are subscribed to the topic.
func (h *Hub) Listeners(topic string) int {
	t := h.topics.lookup(topic)
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.subscriptions)
}

// Connections returns how many connections this instance has.
func (h *Hub) Connections() int { return h.conns.Count() }

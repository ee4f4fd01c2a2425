package hub

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Encoding is how a connection wants its frames.
type Encoding uint8

// The two encodings.
const (
	JSON     Encoding = iota // text frames, messages separated by newlines
	Protobuf                 // binary frames, messages prefixed by their varint length
)

// Message is one push to a topic. Seq > 0: sequenced, delivered in order without gaps. Seq 0: may be shed.
type Message struct {
	Seq  int64
	Data []byte
	Last string // a topic: whoever listens to that one, too, gets nothing behind this message
	Late bool   // may wait for something else to be written with, not long; so may all of Seq 0
}

// Options of a hub. Encode, Ping, Fetch and LastSeqs are required.
type Options struct {
	// Encode makes one push of a topic ready for the wire, without frame or delimiter; empty: nothing to send. It is
	// called at most once per message and encoding, and only when someone wants that encoding. It must not call the hub.
	Encode func(e Encoding, topic string, m Message) []byte
	// Ping is the liveness message of an encoding, without frame or delimiter. It is called once, by New.
	Ping func(e Encoding) []byte
	// Fetch reads messages from the store, ascending by topic: to repair gaps, and for those who come back.
	Fetch func(ctx context.Context, spans []Span) (map[string][]Message, error)
	// Revise tells what a sequenced message makes of those before it, each of which it is then given; nil: nothing. So what is
	// taken back is not sent again. The option may be nil, too.
	Revise func(m Message) func(data []byte) []byte
	// LastSeqs reads the last seq of sequenced topics from the store. Topics that it does not know it leaves out.
	LastSeqs func(ctx context.Context, topics []string) (map[string]int64, error)

	Bus        Bus           // nil: alone
	Log        *slog.Logger  // nil: silent
	QueueBytes int           // 1 MiB; a connection's queue: over it unsequenced pushes are shed, then it is closed (3008)
	FrameBytes int           // 64 KiB; a bigger message from a client closes its connection (1009)
	PingEvery  time.Duration // 25 s
	PongWithin time.Duration // 8 s
}

// Hub holds the connections of this instance.
type Hub struct {
	// static after New
	o      Options
	seed   maphash.Seed
	pings  [2][]byte // ready frames by encoding
	shards [shardCount]shard
	peers  Peers // static after SetPeers; nil: nobody cares for the other instances

	down     atomic.Bool // the bus is known to be down
	pools    pools
	wheels   wheels
	late     late
	ears     ears
	repairs  topicQueue // topics with a gap to close
	suspects suspects   // topics to compare with the store
	counts   counters
	kept     atomic.Int64 // bytes of recent messages, of all topics

	mu      sync.Mutex // guards the following
	conns   map[*Conn]struct{}
	stopped bool          // Run has ended: who attaches now is hung up
	empty   chan struct{} // closed when the last connection is gone; nil while nobody waits
}

// New makes a hub.
func New(o Options) *Hub {
	o.QueueBytes = cmp.Or(o.QueueBytes, 1<<20)
	o.FrameBytes = cmp.Or(o.FrameBytes, 64<<10)
	o.PingEvery = cmp.Or(o.PingEvery, 25*time.Second)
	o.PongWithin = cmp.Or(o.PongWithin, 8*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{o: o, seed: maphash.MakeSeed(), conns: map[*Conn]struct{}{}}
	for _, e := range []Encoding{JSON, Protobuf} {
		h.pings[e] = newFrame(e, o.Ping(e))
	}
	for i := range h.shards {
		h.shards[i].topics = map[string]*topic{}
	}
	h.pools.init(h)
	h.wheels.init()
	h.ears.init()
	h.repairs.wake = make(chan struct{}, 1)
	h.suspects.wake = make(chan struct{}, 1)
	return h
}

// Run drives timers, the bus and gap repair until ctx is done, then hangs up every connection that is left and
// waits until all are gone. It may be run again.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.mu.Lock()
	h.stopped = false
	h.mu.Unlock()

	if h.o.Bus != nil {
		h.down.Store(true)
		h.deaf(true)
		if h.peers != nil {
			h.o.Bus.Subscribe(noticeTopic)
		}
	}
	var group sync.WaitGroup
	group.Go(func() { h.runClock(ctx) })
	group.Go(func() { h.ears.run(ctx) })
	group.Go(func() { h.runCompare(ctx) })
	for range repairers {
		group.Go(func() { h.runRepair(ctx) })
	}
	var failed error
	if h.o.Bus != nil {
		group.Go(func() {
			err := h.o.Bus.Run(ctx, busEnd{h})
			if err != nil && ctx.Err() == nil {
				failed = err
				cancel(err)
			}
		})
	}
	group.Wait()
	h.hangUpAll()
	return failed
}

// Publish delivers m to the topic's local connections and hands it to the bus. Sequenced messages may come in any
// order; they are delivered in order. It never blocks. The hub keeps m.Data: it must not change any more.
func (h *Hub) Publish(topic string, m Message) {
	h.publishHere(topic, m)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, encodeEnvelope(envelopeOf(m)), Rank(max(m.Seq, 0)))
	}
}

// Signal calls Handler.Signal for every connection of the topic, on every instance. It comes after all messages that
// were published to the topic before it on this instance.
func (h *Hub) Signal(topic string, data []byte) {
	h.signalHere(topic, data)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, encodeEnvelope(envelope{kind: kindSignal, data: data}), Kept)
	}
}

// Listeners is how many local connections listen to the topic.
func (h *Hub) Listeners(topic string) int {
	t := h.lookup(topic)
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.subs)
}

// add registers a new connection; false: the hub has stopped.
func (h *Hub) add(c *Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[c] = struct{}{}
	return !h.stopped
}

// remove forgets a connection whose socket is closed.
func (h *Hub) remove(c *Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	if len(h.conns) == 0 && h.empty != nil {
		close(h.empty)
		h.empty = nil
	}
}

// hangUpAll ends every connection without ceremony and waits for their goroutines.
func (h *Hub) hangUpAll() {
	h.mu.Lock()
	h.stopped = true
	empty := make(chan struct{})
	h.empty = empty
	if len(h.conns) == 0 {
		close(empty)
		h.empty = nil
	}
	h.mu.Unlock()
	for _, c := range h.connections() {
		c.fail()
	}
	<-empty
}

package hub

import (
	"context"
	"time"

	"hongbao/hub/internal/envelope"
	"hongbao/hub/internal/socket"
)

// Bus carries messages between the hubs of several instances.
type Bus interface {
	// Publish sends a payload to the other instances that have subscribed to the topic, in order per topic. It never blocks.
	// The caller must not change the payload afterwards. rank says which payloads the bus may drop while it cannot send.
	Publish(topic string, payload []byte, rank Rank)
	// Subscribe and Unsubscribe add and remove topics whose payloads the bus delivers to this instance. They never
	// block.
	Subscribe(topics ...string)
	Unsubscribe(topics ...string)
	// Run calls the receiver for everything that arrives, until ctx is done. The hub treats the bus as down until Run
	// first calls Down(false). Run may be called again after it returns.
	Run(ctx context.Context, r Receiver) error
}

// Rank says which payloads the bus keeps while it cannot send. Of a topic's payloads with a positive rank, the bus may drop
// all but the one with the highest rank. When that one arrives, receivers fetch the messages before it from the store.
type Rank int64

// The ranks that are not sequence numbers.
const (
	Loose Rank = 0  // the bus may drop the payload
	Kept  Rank = -1 // the bus drops such payloads only if its queue is full or the process ends; other instances then get Suspect
)

// Receiver is what a Bus calls; the hub implements it. Payloads of one topic arrive in order, one at a time. Payloads
// of different topics may arrive concurrently. Calls of Suspect, Compare and Down never overlap.
type Receiver interface {
	// Receive takes a payload that another instance has published. The bus must not change the payload afterwards.
	Receive(topic string, payload []byte)
	// Forged says that the bus has dropped a payload of the topic that no instance has sent.
	Forged(topic string)
	// Suspect says that the bus may have lost messages. The hub then compares every topic with the store. The bus calls
	// Suspect before it delivers anything that was published after the loss.
	Suspect()
	// Compare says that another instance has been silent for a while: it may commit messages that it cannot publish.
	// The hub compares every topic with the store. Signals and notices of that instance arrive when it is connected
	// again.
	Compare()
	// Down says that the bus is down (true) or up again (false). Down(false) implies Suspect. While the bus is down,
	// the hub finds messages of other instances by asking the store.
	Down(down bool)
}

// Peers receives what this instance must know apart from its connections, above all the notices that other instances send with Notify. A notice belongs to no topic and is not stored, so a lost
// notice never arrives.
type Peers interface {
	// Notice takes data that another instance sent with Notify. The bus waits for its return, so it must not block.
	Notice(data []byte)
	// BusLost(true) says that notices and signals of other instances may be lost from now on. BusLost(false) says that
	// they arrive again, and that some may have been lost before. A hub with a bus starts with BusLost(true). After a loss,
	// BusLost is called before any notice that was sent after the loss is delivered.
	BusLost(lost bool)
	// Final says that a topic with connections here has a message whose field Final names the subscriber. It is called before any
	// connection receives the message, and also if the message has come by a repair. The topic is locked, so Final must neither block nor
	// call the hub.
	Final(topic, subscriber string)
}

// receiver implements Receiver for a hub. The bus calls its methods.
type receiver struct{ hub *Hub }

// Receive implements Receiver. It hands the payload on within this instance only: messages and signals to the
// subscribers of the topic, notices to Peers.
func (r receiver) Receive(topic string, payload []byte) {
	h := r.hub
	e, err := envelope.Parse(payload)
	if err != nil {
		h.o.Log.Warn("bus payload dropped", "topic", topic, "err", err)
		return
	}
	switch e.Kind {
	case envelope.Signal:
		h.topics.signal(topic, e.Data)
	case envelope.Notice:
		if h.peers != nil {
			h.peers.Notice(e.Data)
		}
	case envelope.Compare:
		h.topics.compare(topic)
	default:
		r.message(topic, e)
	}
}

// message delivers a message. If it belongs to another epoch, one of the two instances does not know the newest epoch yet, and only the
// store knows what has this seq.
func (r receiver) message(topic string, e envelope.Envelope) {
	h := r.hub
	if h.topics.lookup(topic) == nil {
		return // a subscriber that comes now begins at the present position
	}
	if e.Epoch != h.env.epochName() {
		h.topics.compare(topic)
		return
	}
	m := Message{Seq: e.Seq, Data: e.Data, Final: e.Final, Deferred: e.Deferred, Trace: e.Trace}
	if m.Trace != "" && h.o.Traced != nil {
		defer h.o.Traced(topic, m.Trace)()
	}
	if h.o.Decode != nil {
		m.Meta = h.o.Decode(topic, m.Seq, m.Data)
	}
	h.topics.publish(topic, m)
}

// forgedLogEvery is the least time between two log lines about forged payloads: any client of the bus can cause them.
const forgedLogEvery = time.Minute

// Forged implements Receiver. It counts the payload and logs at most once in forgedLogEvery.
func (r receiver) Forged(topic string) {
	h := r.hub
	total := h.counts.forged.Add(1)
	last, now := h.counts.forgedLogged.Load(), time.Now().UnixNano()
	if last != 0 && now-last < int64(forgedLogEvery) || !h.counts.forgedLogged.CompareAndSwap(last, now) {
		return
	}
	h.o.Log.Warn("bus payload dropped: no instance of this database has sent it", "topic", topic, "total", total)
}

// Suspect implements Receiver.
func (r receiver) Suspect() {
	r.hub.comparer.CompareAll()
	if !r.hub.env.busDown.Load() {
		r.tellPeers(true)
		r.tellPeers(false)
	}
}

// Compare implements Receiver. It requests a comparison of every topic with the store.
func (r receiver) Compare() { r.hub.comparer.CompareAll() }

// Down implements Receiver.
func (r receiver) Down(down bool) {
	h := r.hub
	if h.env.busDown.Swap(down) == down {
		return
	}
	if down {
		h.o.Log.Warn("bus is down: the store is asked instead")
	} else {
		h.o.Log.Info("bus is up")
		h.comparer.BusUp()
	}
	r.tellPeers(down)
}

// start puts the hub into the state in which the bus is down, and subscribes to the notices if there are Peers.
func (r receiver) start() {
	r.hub.env.busDown.Store(true)
	r.tellPeers(true)
	if r.hub.peers != nil {
		r.hub.o.Bus.Subscribe(noticeTopic)
	}
}

func (r receiver) tellPeers(lost bool) {
	if r.hub.peers != nil {
		r.hub.peers.BusLost(lost)
	}
}

// Encoding is the encoding in which a connection receives messages.
type Encoding = socket.Encoding

// The two encodings.
const (
	JSON     = socket.JSON     // text frames; newlines separate the messages of a frame
	Protobuf = socket.Protobuf // binary frames, each message prefixed by its varint length
)

// Message is one push to the subscribers of a topic. A message with Seq > 0 is sequenced: it is delivered in order,
// without gaps. A message with Seq 0 may be dropped for slow clients.
type Message struct {
	Seq  int64
	Data []byte // the bytes that go over the bus, and from which Options.Encode makes a push; must not be changed
	// Meta is what Options.Encode and Options.Revise need to know about Data, so that they need not parse it. The
	// publisher or Options.Fetch sets it; for messages from the bus, Options.Decode does. It is kept in memory as long
	// as Data, so it should be small.
	Meta     any
	Final    string // a topic, or "": its subscribers receive no further message of this message's topic until they subscribe again
	Deferred bool   // may wait a moment, to be written together with other messages
	Trace    string // names the span that has caused the message, for Options.Traced of other instances; "": none
}

// envelope returns the message in the form that goes over the bus. epoch names the epoch in which the message is published.
func (m Message) envelope(epoch string) envelope.Envelope {
	return envelope.Envelope{Seq: m.Seq, Final: m.Final, Deferred: m.Deferred, Epoch: epoch, Trace: m.Trace, Data: m.Data}
}

// Span names the messages of a topic with a seq above After, up to and including Through.
type Span struct {
	Topic          string
	After, Through int64
}

// fetcher is the type of Options.Fetch: it reads messages from the store.
type fetcher func(ctx context.Context, spans []Span) (map[string][]Message, error)

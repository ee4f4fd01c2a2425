package hub

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"sync"
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
	// nothing is sent. For each delivery of a message to a topic, the hub calls it at most once per encoding, and only if a
	// subscriber that gets the message uses that encoding. It must not call the hub.
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
	// Revise returns a function that applies to earlier messages the changes that m makes. It returns nil if m changes
	// none. The hub applies the function to its backlogs, so that a client that reconnects does not get a text that m has
	// recalled. Revise may be nil.
	Revise func(m Message) (change func(earlier Message) Message)
	// LastSeqs reads the last seqs of sequenced topics from the store. The result omits topics that the store does not
	// know.
	LastSeqs func(ctx context.Context, topics []string) (map[string]int64, error)

	// Traced is called before a message from another instance is passed to its topic, if the message has a Trace. The returned
	// function done is called after that. Traced may be nil.
	Traced func(topic, trace string) (done func())

	// WentBack is called when the store has lost messages that the hub has delivered: had is the last seq of the topic, has
	// that of the store. The topic's connections are closed (3014) by then. WentBack must not block, and may be nil.
	WentBack func(topic string, had, has int64)

	Bus        Bus           // nil: this is the only instance
	Log        *slog.Logger  // nil: nothing is logged
	QueueBytes int           // of a connection; default 1 MiB; over it, pushes without Seq are dropped, or it is closed (3008)
	ReplyBytes int64         // default 256 MiB; over it, the connections with the most unread replies end; see CountReplies
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
	o.ReplyBytes = cmp.Or(o.ReplyBytes, 256<<20)
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
		Ping: o.Ping, QueueBytes: o.QueueBytes, ReplyBytes: o.ReplyBytes, FrameBytes: o.FrameBytes,
		PingEvery: o.PingEvery, PongWithin: o.PongWithin,
	}, h.wheels, h.poller)
	return h
}

// SetPeers sets the receiver of the notices of other instances. Call it before Run.
func (h *Hub) SetPeers(p Peers) { h.peers, h.env.final = p, p.Final }

// Pollable wraps the ResponseWriter that is passed to the WebSocket upgrade. On Linux, a plain TCP connection made from the
// result needs no goroutine while it is idle.
func Pollable(w http.ResponseWriter) http.ResponseWriter { return socket.Pollable(w) }

// Attach makes an upgraded WebSocket a connection of the hub. It calls handler to create the connection's Handler, and
// then starts reading. handler must not subscribe the connection.
func (h *Hub) Attach(ws *websocket.Conn, e Encoding, handler func(*Conn) Handler) *Conn {
	return h.conns.attach(ws, e, handler)
}

// Publish delivers m to the topic's subscribers on this instance and passes it to the bus for the other instances.
// Sequenced messages may be published in any order; subscribers receive them in order. Publish never waits for a socket, the
// bus or the store. The caller must not change m.Data and m.Meta afterwards.
func (h *Hub) Publish(topic string, m Message) {
	h.topics.publish(topic, m)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, m.envelope(h.env.epochName()).Encode(), Rank(max(m.Seq, 0)))
	}
}

// Signal calls Handler.Signal for every connection that is subscribed to the topic, on every instance. The call comes
// after all messages that this instance published to the topic before Signal, unless maxWaiting signals wait already. The bus
// may lose the signal, and does not send it again: see Peers.BusLost.
func (h *Hub) Signal(topic string, data []byte) {
	h.topics.signal(topic, data)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, envelope.Envelope{Kind: envelope.Signal, Data: data}.Encode(), Kept)
	}
}

// CompareTopic makes every instance compare the topic with the store soon. It is for messages that may be stored although nobody publishes
// them. The bus may lose the request.
func (h *Hub) CompareTopic(topic string) {
	h.topics.compare(topic)
	if h.o.Bus != nil {
		h.o.Bus.Publish(topic, envelope.Envelope{Kind: envelope.Compare}.Encode(), Loose)
	}
}

// Notify calls Peers.Notice on every other instance. While the bus is down, the notice is kept and sent later. It may be
// lost (see Peers).
func (h *Hub) Notify(data []byte) {
	if h.o.Bus != nil {
		h.o.Bus.Publish(noticeTopic, envelope.Envelope{Kind: envelope.Notice, Data: data}.Encode(), Kept)
	}
}

// DropRecent drops what this instance keeps of the topic for clients that reconnect. It is for messages that have changed in the store.
func (h *Hub) DropRecent(topic string) { h.topics.dropRecent(topic) }

// Recent returns the messages of spans of topics, for a client that has reconnected. The client's connection must be
// subscribed to the topics, and each span must end at a position that Subscribe has returned. A span is omitted if it
// is longer than the backlog, incomplete in the store, or not available in time. While the topic's backlog is kept, all clients
// share it: its messages are read from the store again only if a client has missed more than was read, or if a read failed.
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

// CountReplies adds bytes of replies that wait for clients elsewhere, such as over HTTP. They use up Options.ReplyBytes,
// too. When the replies are written, the caller subtracts them with a negative number.
func (h *Hub) CountReplies(bytes int) { h.conns.sockets.Elsewhere.Add(int64(bytes)) }

// Connections returns how many connections this instance has.
func (h *Hub) Connections() int { return h.conns.Count() }

// Run runs the hub's timers, poller, bus, repairs and comparisons until ctx is done or the bus fails. Then it closes the
// remaining connections and waits until they have ended. It returns the error of the bus, or nil. It may be called again
// after it returns.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.conns.Resume()
	var group sync.WaitGroup
	var failed error
	if h.o.Bus != nil {
		r := receiver{h}
		r.start()
		group.Go(func() {
			err := h.o.Bus.Run(ctx, r)
			if err != nil && ctx.Err() == nil {
				failed = err
				cancel(err)
			}
		})
	}
	group.Go(func() { h.runClock(ctx) })
	group.Go(func() { h.poller.Run(ctx) })
	group.Go(func() { h.comparer.Run(ctx) })
	for range repairers {
		group.Go(func() { h.repairer.run(ctx) })
	}
	group.Wait()
	h.conns.Stop(func(c *Conn) { c.socket.Abort() })
	return failed
}

// runClock fires the timers at each tick, until ctx is done.
func (h *Hub) runClock(ctx context.Context) {
	ticker := time.NewTicker(wheel.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		h.wheels.Advance()
		h.conns.sockets.Tick()
		h.conns.sockets.Relieve(h.conns.listSockets)
	}
}

// SetEpoch names the epoch, which is the numbering of the store's messages. If no instance names one, all of them count as
// being in the same epoch. While the hub runs, set another name only within the renew of Reset. The name must not contain "!".
func (h *Hub) SetEpoch(name string) { h.env.epoch.Store(&name) }

// Reset is for a store that has lost messages, so that a new epoch begins. It closes all connections (3014) and forgets the
// positions of all topics. Then it calls renew, which must make new connections use the new epoch. Finally it closes and
// forgets once more, because connections that opened before renew may have the old epoch.
//
// A message that was committed before the loss may be published after it. Therefore, for doubtFor after Reset began, the hub
// takes only the seq of a new message that is published, and reads the message itself from the store.
func (h *Hub) Reset(renew func()) {
	h.env.doubtUntil.Store(time.Now().Add(doubtFor).UnixNano())
	h.invalidate()
	renew()
	h.invalidate()
}

// invalidate closes all connections and forgets the positions of all topics. Connections are closed first: otherwise an
// open one could subscribe with an old position to a topic that has just been forgotten.
func (h *Hub) invalidate() {
	for _, c := range h.conns.List() {
		c.Close(CloseStateInvalidated, reasonStateInvalidated)
	}
	for _, t := range h.topics.all() {
		t.Reset()
	}
}

// Compare requests a comparison of every topic with the store. It does not wait for the comparison.
func (h *Hub) Compare() { h.comparer.CompareAll() }

const (
	// drainInterval is how often Drain looks for connections whose time to be closed has come.
	drainInterval = 50 * time.Millisecond
	// drainPatience is how long a connection with commands in progress may stay open after its time to be closed.
	drainPatience = 10 * time.Second
)

// Drain closes every connection with the code and reason. Each connection is closed at a random time within the window. If it
// has a command in progress then (Handler.Idle), it is closed when the command ends, or after drainPatience. Connections that
// attach during the drain get a time in the rest of the window. Drain returns when all have ended or ctx is done.
func (h *Hub) Drain(ctx context.Context, window time.Duration, code int, reason string) error {
	ticker := time.NewTicker(drainInterval)
	defer ticker.Stop()
	end := time.Now().Add(window)
	dueAt := map[*Conn]time.Time{} // when each connection is to be closed; the zero time: it is closed already
	for {
		now := time.Now()
		conns := h.conns.List()
		if len(conns) == 0 {
			return nil
		}
		for _, c := range conns {
			due, known := dueAt[c]
			if !known {
				due = now.Add(rand.N(max(end.Sub(now), 1)))
				dueAt[c] = due
			}
			if due.IsZero() || now.Before(due) || !c.handler.Idle() && now.Before(due.Add(drainPatience)) {
				continue
			}
			c.Close(code, reason)
			dueAt[c] = time.Time{}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// shardCount is the number of shards over which the topics are distributed. Each has its own lock.
const shardCount = 64

// registry holds the topics of a hub, by name.
type registry struct {
	// static
	env    *environment
	bus    Bus // nil: there are no other instances
	seed   maphash.Seed
	shards [shardCount]shard
}

// shard holds some of the topics. The bus is subscribed to a topic exactly as long as the topic is in this map.
type shard struct {
	mu     sync.RWMutex
	topics map[string]*topic
}

func (r *registry) init(env *environment, bus Bus) {
	r.env, r.bus, r.seed = env, bus, maphash.MakeSeed()
	for i := range r.shards {
		r.shards[i].topics = map[string]*topic{}
	}
}

func (r *registry) shardOf(name string) *shard {
	return &r.shards[maphash.String(r.seed, name)%shardCount]
}

// lookup returns the topic of that name, or nil if no connection of this instance is subscribed to it. The topic may be dead.
func (r *registry) lookup(name string) *topic {
	s := r.shardOf(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.topics[name]
}

// lock returns the topic of that name, locked, or nil if no connection of this instance is subscribed to it.
func (r *registry) lock(name string) *topic {
	for {
		t := r.lookup(name)
		if t == nil {
			return nil
		}
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
		if r.lookup(name) == t {
			return nil // the topic is dead, and no new one of that name exists yet
		}
	}
}

// lockOrCreate returns the topic of that name, locked. It creates the topic if there is none.
func (r *registry) lockOrCreate(name string) *topic {
	for {
		t := r.findOrCreate(name)
		t.mu.Lock()
		if !t.dead.Load() {
			return t
		}
		t.mu.Unlock()
	}
}

func (r *registry) findOrCreate(name string) *topic {
	s := r.shardOf(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.topics[name]
	if old != nil && !old.dead.Load() {
		return old
	}
	t := &topic{env: r.env, name: name, last: unsequenced}
	r.env.wheels.Assign(&t.timer, t)
	s.topics[name] = t
	if old == nil && r.bus != nil {
		r.bus.Subscribe(name)
	}
	return t
}

// unlock unlocks a topic. If the topic has no subscriptions, it is removed.
func (r *registry) unlock(t *topic) {
	if len(t.subscriptions) > 0 {
		t.mu.Unlock()
		return
	}
	t.die()
	t.mu.Unlock()

	s := r.shardOf(t.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[t.name] == t {
		delete(s.topics, t.name)
		if r.bus != nil {
			r.bus.Unsubscribe(t.name)
		}
	}
}

// all returns the topics of all shards.
func (r *registry) all() []*topic {
	var topics []*topic
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.RLock()
		topics = slices.AppendSeq(topics, maps.Values(s.topics))
		s.mu.RUnlock()
	}
	return topics
}

// publish delivers a message to the topic's subscribers on this instance. While environment.doubts is true, it only notes that
// a new message with a seq exists.
func (r *registry) publish(name string, m Message) {
	if t := r.lookup(name); t != nil && m.Seq > 0 && t.crowded.Load() && r.publishTogether(t, m) {
		return
	}
	if t := r.lock(name); t != nil {
		r.acceptAndUnlock(t, m)
	}
}

// publishTogether delivers a message, and with it those that other publishers have handed to the topic meanwhile. It returns false
// if the topic has died before.
func (r *registry) publishTogether(t *topic, m Message) bool {
	number := t.arrivals.add(m)
	runtime.Gosched() // lets the publishers of the same commit come first, and what was queued before be written
	t.mu.Lock()
	if !t.arrivals.has(number) { // another publisher has delivered it
		t.mu.Unlock()
		return true
	}
	if t.dead.Load() {
		t.mu.Unlock()
		return false
	}
	messages := t.arrivals.take()
	r.acceptAndUnlock(t, messages...)
	t.arrivals.reuse(messages)
	return true
}

// acceptAndUnlock delivers messages to the topic, which is locked, and unlocks it.
func (r *registry) acceptAndUnlock(t *topic, messages ...Message) {
	doubts := r.env.doubts()
	messages = slices.DeleteFunc(messages, func(m Message) bool {
		doubtful := doubts && m.Seq > t.last && t.last != unsequenced
		if doubtful {
			t.exists(m.Seq)
		}
		return doubtful
	})
	ready := t.accept(messages...)
	subscribers := t.subscribers(ready)
	name := t.name
	r.unlock(t)
	signalAll(name, subscribers, ready)
}

// compare has the topic compared with the store soon, if it has subscribers here.
func (r *registry) compare(name string) {
	if t := r.lookup(name); t != nil {
		t.recheck()
	}
}

// dropRecent drops the backlog of a topic. The result of a read that is in progress is not kept either.
func (r *registry) dropRecent(name string) {
	if t := r.lock(name); t != nil {
		t.dropBacklog()
		t.mu.Unlock()
	}
}

// signal passes a signal to the topic's subscribers on this instance. The signal waits for messages that are known to
// exist and have not arrived, unless maxWaiting signals wait already.
func (r *registry) signal(name string, data []byte) {
	t := r.lock(name)
	if t == nil {
		return
	}
	signals := []heldSignal{{data: data}}
	if t.gap != nil && t.gap.hold(data) {
		signals = nil
	}
	subscribers := t.subscribers(signals)
	t.mu.Unlock()
	signalAll(name, subscribers, signals)
}

// signalAll passes each signal to each subscriber. No lock may be held.
func signalAll(name string, subscribers []Subscriber, signals []heldSignal) {
	for _, signal := range signals {
		for _, s := range subscribers {
			s.signal(name, signal.data)
		}
	}
}

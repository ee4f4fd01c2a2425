package bus

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/hub"
	"hongbao/redpacket/meter"
)

// Timing of the bus. Another instance counts as silent when none of its heartbeats arrives for silentAfter. A link counts
// as silent when for silentAfter no heartbeat of this instance came back and no subscription was confirmed.
const (
	stepTimeout    = time.Second // limit for one dial, for one write, and for the wait for one reply
	heartbeatEvery = time.Second
	silentAfter    = 3 * heartbeatEvery
)

// Options holds what the bus cannot learn from its Redis client.
type Options struct {
	Log      *slog.Logger
	Key      []byte // tags the messages; all instances share it
	Sentinel bool   // Redis is behind sentinels: another node may become master while the old one still answers
}

// Bus implements hub.Bus by pub/sub. In a cluster it has 16 shards, and each topic belongs to one of them. Otherwise it has
// one shard.
type Bus struct {
	// immutable after New
	id     uint64 // random id of this instance
	client redis.UniversalClient
	o      Options
	shards []*shard

	stepTimeout, silentAfter time.Duration // the constants, unless a test has set others

	notifying  sync.Mutex // guards the fields below; held during Receiver.Suspect, Compare and Down, so that these calls do not overlap
	receiver   hub.Receiver
	shardsDown int // shards that are not up

	mu    sync.Mutex      // guards the fields below
	peers map[uint64]peer // other instances, by id
}

// New returns one instance's end of the bus. The client is used only to find the servers and their options: each
// shard opens its own connections.
//
// The names of the channels contain the version of the messages' format. So instances with another version of the format
// do not receive the messages.
func New(client redis.UniversalClient, o Options) *Bus {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	b := &Bus{id: binary.BigEndian.Uint64(id[:]), client: client, o: o, stepTimeout: stepTimeout, silentAfter: silentAfter, peers: map[uint64]peer{}}
	switch c := client.(type) {
	case *redis.ClusterClient:
		for _, tag := range shardTags {
			b.shards = append(b.shards, newShard(b, "hb:v2:{"+tag+"}", len(shardTags)))
		}
	case *redis.Client:
		// Pub/sub channels are shared by all databases of a server, so the channel's name contains the database.
		b.shards = append(b.shards, newShard(b, "hb:v2:"+strconv.Itoa(c.Options().DB), 1))
	}
	return b
}

// Publish queues the payload. It does not block.
func (b *Bus) Publish(topic string, payload []byte, rank hub.Rank) {
	b.shardOf(topic).queue.put(topic, payload, rank)
}

// Subscribe requests the topics' messages and does not wait for Redis. Messages that are published before Redis has
// received the command do not arrive. If Redis confirms the command later than slowAfter, Receiver.Suspect is called. While
// the topic's shard is down, Suspect or Down(false) is called when the shard is up again.
func (b *Bus) Subscribe(topics ...string) {
	for _, topic := range topics {
		b.shardOf(topic).subscriptions.set(topic, true)
	}
}

// Unsubscribe ends subscriptions and does not wait for Redis. Messages may still arrive for a moment.
func (b *Bus) Unsubscribe(topics ...string) {
	for _, topic := range topics {
		b.shardOf(topic).subscriptions.set(topic, false)
	}
}

// Run keeps all shards connected until ctx is done. Then each connected shard sends its queued messages, for at most
// stepTimeout. If none remain, it sends a goodbye, so that the other instances do not take this one for crashed.
func (b *Bus) Run(ctx context.Context, r hub.Receiver) error {
	b.notifying.Lock()
	b.receiver, b.shardsDown = r, len(b.shards)
	for _, s := range b.shards {
		s.up = false
	}
	b.notifying.Unlock()
	var running sync.WaitGroup
	for _, s := range b.shards {
		running.Go(func() { s.run(ctx) })
	}
	running.Wait()
	return nil
}

// Meters returns what the bus measures.
func (b *Bus) Meters() *meter.Bus {
	m := &meter.Bus{}
	for _, s := range b.shards {
		s.queue.mu.Lock()
		m.Queued, m.QueuedBytes, m.Dropped = m.Queued+s.queue.size.count, m.QueuedBytes+s.queue.size.bytes, m.Dropped+s.queue.dropped
		s.queue.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m.Peers = len(b.peers)
	return m
}

// sharded reports whether the bus has more than one shard.
func (b *Bus) sharded() bool { return len(b.shards) > 1 }

func (b *Bus) shardOf(topic string) *shard {
	if !b.sharded() {
		return b.shards[0]
	}
	// FNV-1a: all instances must choose the same shard for a topic.
	h := uint32(2166136261)
	for i := range len(topic) {
		h = (h ^ uint32(topic[i])) * 16777619
	}
	return b.shards[h%uint32(len(b.shards))]
}

// shardDown records that the shard may lose messages. The shard is up again when a heartbeat arrives that this instance
// has sent after this call. If the shard was up and no other shard is down, shardDown calls Receiver.Down(true).
func (b *Bus) shardDown(s *shard) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	s.proof = s.numbered.Load() + 1
	if !s.up {
		return
	}
	s.up = false
	b.shardsDown++
	if b.shardsDown == 1 {
		b.receiver.Down(true)
	}
}

// shardHeartbeat handles a heartbeat of this instance that came back through the shard. If the shard was down, and
// the heartbeat was sent after the failure, the shard is up again. If the shard was up already, checkPeers
// looks for other instances whose heartbeats have stopped. awake is false if this instance's listener was held up since
// the previous heartbeat. Then missing heartbeats prove nothing, and checkPeers is not called.
func (b *Bus) shardHeartbeat(s *shard, n uint64, awake bool) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	switch {
	case s.up && !awake:
		b.resetPeers()
	case s.up:
		switch suspect, compare := b.checkPeers(); {
		case suspect:
			b.receiver.Suspect()
		case compare:
			b.receiver.Compare()
		}
	case n >= s.proof:
		s.up = true
		b.shardsDown--
		b.resetPeers()
		if b.shardsDown == 0 {
			b.receiver.Down(false)
		} else {
			b.receiver.Suspect()
		}
	}
}

// suspect calls Receiver.Suspect, because the shard may have lost messages. While the shard is down, suspect does nothing:
// Receiver.Suspect or Receiver.Down(false) follows when the shard is up again.
func (b *Bus) suspect(s *shard) {
	b.notifying.Lock()
	defer b.notifying.Unlock()
	if s.up {
		b.receiver.Suspect()
	}
}

// A peer is another instance. A peer that dies may have committed entries that it never published, and no gap in the seqs
// need show this. So when a peer's heartbeats stop, Receiver.Suspect is called: the hub compares all topics with the store.
//
// A silent peer may also be alive, cut off from Redis, and go on committing. So Receiver.Compare is called every few
// seconds while the peer is silent, and Suspect every half minute. After two minutes the peer is forgotten, with a
// last Suspect.
//
// A heartbeat through any one shard shows that the peer lives. Missing heartbeats on the other shards do not matter:
// messages that a living peer cannot send through a shard stay in the peer's queue for that shard.

// compareEvery and suspectEvery are the pauses between calls of Receiver.Compare and Suspect because of a silent
// peer. After silentPeerLimit of silence these calls end, because the hub's regular comparison suffices.
const (
	compareEvery    = 4 * time.Second
	suspectEvery    = 30 * time.Second
	silentPeerLimit = 2 * time.Minute
)

// peer is what this instance remembers of another instance.
type peer struct {
	heard     time.Time
	compared  time.Time // last Compare because of this peer's silence; zero: the peer is not silent
	suspected time.Time // last Suspect because of this peer's silence
}

// heardPeer records that a heartbeat of a peer, or the first message from an unknown peer, has arrived.
func (b *Bus) heardPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peers[id] = peer{heard: time.Now()}
}

// forgetPeer removes a peer that has shut down, and has left nothing unsent on a shard.
func (b *Bus) forgetPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.peers, id)
}

// checkPeers looks for silent peers: other instances whose heartbeats have stopped. It reports whether
// Receiver.Suspect or Receiver.Compare is due because of one. A peer silent for over two minutes is forgotten after a
// last Suspect.
func (b *Bus) checkPeers() (suspect, compare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, p := range b.peers {
		switch {
		case now.Sub(p.heard) <= b.silentAfter:
			continue
		case now.Sub(p.heard) > silentPeerLimit:
			suspect = true
			delete(b.peers, id)
			continue
		case now.Sub(p.suspected) >= suspectEvery:
			suspect = true
			p.suspected, p.compared = now, now
		case now.Sub(p.compared) >= compareEvery:
			compare = true
			p.compared = now
		}
		b.peers[id] = p
	}
	return suspect, compare
}

// resetPeers restarts the timers of all peers that did not count as silent. It is called after a time in which this
// instance received nothing, so that missing heartbeats prove nothing about the peers.
func (b *Bus) resetPeers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.peers {
		if p.compared.IsZero() {
			b.peers[id] = peer{heard: time.Now()}
		}
	}
}

// queueLen and queueBytes limit all send queues of this instance together. pipelineLen and pipelineBytes limit the
// messages of one round trip.
const (
	queueLen      = 128 << 10
	queueBytes    = 64 << 20
	pipelineLen   = 512
	pipelineBytes = 1 << 20
)

// queueSize counts messages and their bytes.
type queueSize struct{ count, bytes int }

func (s queueSize) exceeds(limit queueSize) bool {
	return s.count > limit.count || s.bytes > limit.bytes
}

func (s queueSize) fraction(n int) queueSize { return queueSize{s.count / n, s.bytes / n} }

func sizeOf(messages []message) queueSize {
	s := queueSize{count: len(messages)}
	for _, m := range messages {
		s.bytes += len(m.bytes)
	}
	return s
}

// sendQueue holds the messages of a shard in order until they are sent. When it grows long, messages that may be lost
// are dropped first.
type sendQueue struct {
	// immutable
	wake  chan struct{} // one slot, never closed
	limit queueSize

	mu        sync.Mutex // guards the fields below
	messages  []message
	size      queueSize
	compactAt queueSize
	lost      bool  // messages of any rank may have been dropped; the peers must be told
	dropped   int64 // messages, so far
}

func newSendQueue(shards int) *sendQueue {
	limit := queueSize{queueLen, queueBytes}.fraction(shards)
	return &sendQueue{wake: make(chan struct{}, 1), limit: limit, compactAt: limit.fraction(4)}
}

func (q *sendQueue) put(topic string, payload []byte, rank hub.Rank) {
	m := newMessage(topic, payload, rank)
	q.mu.Lock()
	q.messages = append(q.messages, m)
	q.size = queueSize{q.size.count + 1, q.size.bytes + len(m.bytes)}
	q.boundLocked()
	q.mu.Unlock()
	q.notify()
}

func (q *sendQueue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes and returns the messages of one round trip. It wakes the sender again if some are left.
func (q *sendQueue) take() []message {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken queueSize
	for taken.count < min(len(q.messages), pipelineLen) && taken.bytes < pipelineBytes {
		taken.bytes += len(q.messages[taken.count].bytes)
		taken.count++
	}
	messages := q.messages[:taken.count:taken.count]
	q.messages = q.messages[taken.count:]
	q.size = queueSize{q.size.count - taken.count, q.size.bytes - taken.bytes}
	if len(q.messages) == 0 {
		q.messages, q.compactAt = nil, q.limit.fraction(4)
	} else {
		q.notify()
	}
	return messages
}

// putBack puts messages that could not be sent back to the front of the queue. Messages of rank hub.Loose are
// dropped, because they would arrive too late.
func (q *sendQueue) putBack(messages []message) {
	all := len(messages)
	messages = slices.DeleteFunc(messages, func(m message) bool { return m.rank == hub.Loose })
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += int64(all - len(messages))
	q.messages = append(messages, q.messages...)
	q.size = sizeOf(q.messages)
	q.boundLocked()
}

// boundLocked keeps the queue within its limit. It first drops what compact may drop. If the queue still exceeds half
// of the limit, it sets lost and drops all messages not of rank hub.Kept. If that is not enough, it drops the oldest kept
// messages, too.
func (q *sendQueue) boundLocked() {
	if !q.size.exceeds(q.compactAt) {
		return
	}
	before := len(q.messages)
	defer func() { q.dropped += int64(before - len(q.messages)) }()
	q.setLocked(compact(q.messages))
	if half := q.limit.fraction(2); q.size.exceeds(half) {
		q.lost = true
		q.setLocked(slices.DeleteFunc(q.messages, func(m message) bool { return m.rank != hub.Kept }))
		for q.size.exceeds(half) {
			q.setLocked(slices.Clone(q.messages[(len(q.messages)+1)/2:])) // the oldest are dropped first
		}
	}
	q.compactAt = queueSize{max(2*q.size.count, q.limit.count/4), max(2*q.size.bytes, q.limit.bytes/4)}
}

func (q *sendQueue) setLocked(messages []message) { q.messages, q.size = messages, sizeOf(messages) }

// compact drops loose messages. It also drops each ranked message that a later message of its topic replaces: one with
// at least the same rank, and without a kept message of the topic between the two. Subscribers must see a ranked message
// before a kept message that follows it.
func compact(messages []message) []message {
	kept := make([]message, 0, len(messages)/2)
	highest := map[string]hub.Rank{} // by topic: the highest rank of the later messages, up to the next kept one
	for _, m := range slices.Backward(messages) {
		switch {
		case m.rank == hub.Kept:
			delete(highest, m.topic)
		case m.rank <= highest[m.topic]: // includes loose messages
			continue
		default:
			highest[m.topic] = m.rank
		}
		kept = append(kept, m)
	}
	slices.Reverse(kept)
	return kept
}

// takeLost reports whether the peers must be told that messages were dropped, and clears this mark.
func (q *sendQueue) takeLost() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	lost := q.lost
	q.lost = false
	return lost
}

// setLost sets the mark that takeLost cleared: the peers were not told, or it is unknown whether they were.
func (q *sendQueue) setLost() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost = true
}

// empty reports whether there is nothing left to send and no loss to report.
func (q *sendQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages) == 0 && !q.lost
}

// A message on the bus begins with a header: the publisher's id, the message's number and its tag. The payload follows.
//
// On one shard, the numbers of a publisher only grow. A message is sent again if the outcome of the first time is
// unknown. Its number shows receivers that it is a repeat, even if bytes of a lost connection arrive after those of
// the next one. A number is also a time, so that receivers can drop old messages of a publisher that they do not know.
//
// The tag is the HMAC-SHA-256, cut to 128 bits, of the channel and of everything else in the message. Its key lies in
// SQL, so a client of Redis can neither forge a message nor move one to another channel.
const (
	tagAt     = 16 // the id and the number come before the tag
	tagLen    = 16
	headerLen = tagAt + tagLen
)

// message is a payload with its header, on its way to Redis.
type message struct {
	topic string
	rank  hub.Rank
	bytes []byte // header and payload
}

func newMessage(topic string, payload []byte, rank hub.Rank) message {
	bytes := make([]byte, headerLen, headerLen+len(payload))
	return message{topic: topic, rank: rank, bytes: append(bytes, payload...)}
}

// setNumber writes the header's id and number. Number 0 means that the message has no number yet.
func (m message) setNumber(id, number uint64) {
	binary.BigEndian.PutUint64(m.bytes, id)
	binary.BigEndian.PutUint64(m.bytes[8:], number)
}

func (m message) number() uint64 { return binary.BigEndian.Uint64(m.bytes[8:]) }

// A tagger computes and checks tags. It is not safe for concurrent use.
type tagger struct {
	mac   hash.Hash
	start []byte // reused by sum
}

func newTagger(key []byte) *tagger { return &tagger{mac: hmac.New(sha256.New, key)} }

// sum computes the tag of a message on this channel. The message must have a complete header; sum ignores the tag in it.
// The result is valid until the next call.
func (t *tagger) sum(channel string, message []byte) []byte {
	t.start = binary.AppendUvarint(t.start[:0], uint64(len(channel)))
	t.start = append(t.start, channel...)
	t.start = append(t.start, message[:tagAt]...)
	t.mac.Reset()
	t.mac.Write(t.start)
	t.mac.Write(message[headerLen:])
	t.start = t.mac.Sum(t.start[:0])
	return t.start[:tagLen]
}

// write puts the tag into the header of a message that has its number.
func (t *tagger) write(channel string, m message) { copy(m.bytes[tagAt:], t.sum(channel, m.bytes)) }

// open splits a received message. It reports false if the message has no valid tag for the channel.
func (t *tagger) open(channel string, message []byte) (id, number uint64, payload []byte, ok bool) {
	if len(message) < headerLen || !hmac.Equal(t.sum(channel, message), message[tagAt:headerLen]) {
		return 0, 0, nil, false
	}
	return binary.BigEndian.Uint64(message), binary.BigEndian.Uint64(message[8:]), message[headerLen:], true
}

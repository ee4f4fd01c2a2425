package redisstore

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// rememberFor is how long the last number of a publisher is remembered, so that a repeated message is recognised.
const rememberFor = 10 * time.Minute

// listen handles what Redis sends until the connection is closed.
func (l *link) listen(ctx context.Context) error {
	for {
		what, err := l.sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch what := what.(type) {
		case *redis.Message:
			l.receive(what)
		case *redis.Subscription:
			if err := l.confirmed(what); err != nil {
				return err
			}
		}
	}
}

// confirmed handles the reply to a subscription, and the server's message that a subscription has ended.
func (l *link) confirmed(sub *redis.Subscription) error {
	l.markHeard()
	s := l.shard
	ended := strings.HasSuffix(sub.Kind, "unsubscribe")
	switch {
	case ended && sub.Channel == s.heartbeat:
		return errMoved // the bus never unsubscribes from its heartbeats, so Redis ended the subscription
	case ended:
	case sub.Channel == s.heartbeat:
		l.requestHeartbeat()
	case s.subscriptions.confirmed(s.topic(sub.Channel)):
		s.bus.suspect(s)
	}
	return nil
}

func (l *link) requestHeartbeat() {
	select {
	case l.heartbeatNow <- struct{}{}:
	default:
	}
}

// receive handles a heartbeat, or passes a message's payload to the receiver. Messages that this instance published,
// and repeats, are skipped.
func (l *link) receive(msg *redis.Message) {
	s := l.shard
	from, number, ok := parseHeader(msg.Payload)
	if !ok {
		s.bus.o.log.Warn("bus payload dropped: no header of an instance", "channel", msg.Channel)
		return
	}
	own := from == s.bus.id
	switch {
	case msg.Channel == s.heartbeat && own:
		l.markHeard()
		// A listener that was held up has not received the peers' heartbeats either.
		awake := time.Since(l.lastOwnHeartbeat) < 2*heartbeatEvery
		l.lastOwnHeartbeat = time.Now()
		s.bus.shardHeartbeat(s, number, awake)
		maps.DeleteFunc(s.seen, func(_ uint64, t publisherState) bool { return time.Since(t.at) > rememberFor })
	case msg.Channel == s.heartbeat:
		l.peerHeartbeat(from, msg.Payload[headerLen:])
	case !own && l.isNew(from, number):
		l.deliveries.Add(1)
		s.bus.receiver.Receive(s.topic(msg.Channel), []byte(msg.Payload[headerLen:]))
		l.deliveries.Add(1)
	}
}

// isNew reports whether a peer's message arrives for the first time. Heartbeats must not be passed to it: they may
// arrive before messages with lower numbers.
func (l *link) isNew(from, number uint64) bool {
	s := l.shard
	last, known := s.seen[from]
	if known && number <= last.number {
		return false
	}
	if !known {
		s.bus.heardPeer(from)
	}
	s.seen[from] = publisherState{number, time.Now()}
	return true
}

func (l *link) peerHeartbeat(id uint64, says string) {
	b := l.shard.bus
	if says == heartbeatGoodbye {
		b.forgetPeer(id)
		return
	}
	b.heardPeer(id)
	if says == heartbeatLost {
		b.suspect(l.shard)
	}
}

// A peer is another instance. A peer that dies may have committed entries that it never published, and receivers need
// not see a gap. So when a peer's heartbeats stop, Receiver.Suspect is called: the hub compares all topics with the
// store.
//
// A silent peer may also be alive, cut off from Redis, and go on committing. So Receiver.Compare is called every few
// seconds while the peer is silent, and Suspect every half minute. After two minutes the peer is forgotten, with a
// last Suspect.
//
// Any shard may bring a peer's heartbeat: messages that a living peer cannot send through one shard stay in its
// queue.

// compareEvery and suspectEvery are the pauses between calls of Receiver.Compare and Suspect because of a silent
// peer. silentPeerLimit ends them: afterwards the hub's regular comparison suffices.
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
func (b *bus) heardPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peers[id] = peer{heard: time.Now()}
}

// forgetPeer removes a peer that has shut down and left nothing unsent.
func (b *bus) forgetPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.peers, id)
}

// checkPeers looks for silent peers: other instances whose heartbeats have stopped. It reports whether
// Receiver.Suspect or Receiver.Compare is due because of one. A peer silent for over two minutes is forgotten after a
// last Suspect.
func (b *bus) checkPeers() (suspect, compare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, p := range b.peers {
		switch {
		case now.Sub(p.heard) <= silentAfter:
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
func (b *bus) resetPeers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.peers {
		if p.compared.IsZero() {
			b.peers[id] = peer{heard: time.Now()}
		}
	}
}

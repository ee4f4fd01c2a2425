package redisstore

import "time"

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

package redisstore

import "time"

// A peer that dies may have committed what it never published, and no gap need show that. So when its heart is not
// heard any more everything is suspected. It may also live on and commit, cut off from Redis: so what is in sequence
// is compared again and again for a while, and everything is suspected now and then, and once more at the end of it. Which lane brings a heartbeat does not matter: what a living peer
// cannot send on one of them it keeps.

// How often, and for how long, topics are compared because of a peer that is not heard. Later it is what the hub does
// anyway.
const (
	mournEvery   = 4 * time.Second
	suspectEvery = 30 * time.Second
	mournFor     = 2 * time.Minute
)

// peer is another instance.
type peer struct {
	heard     time.Time
	compared  time.Time // lastly because it was silent; zero: it is not
	suspected time.Time // likewise
}

// heardPeer notes a peer's heartbeat, or its first payload.
func (b *bus) heardPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peers[id] = peer{heard: time.Now()}
}

// forgetPeer is for one that has left in good order, with nothing unsent.
func (b *bus) forgetPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.peers, id)
}

// missPeers looks for those that are silent: what may be missing because of them, if anything, when it is time to say
// so again.
func (b *bus) missPeers() (suspect, compare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for id, p := range b.peers {
		switch {
		case now.Sub(p.heard) <= silence:
			continue
		case now.Sub(p.heard) > mournFor:
			suspect = true
			delete(b.peers, id)
			continue
		case now.Sub(p.suspected) >= suspectEvery:
			suspect = true
			p.suspected, p.compared = now, now
		case now.Sub(p.compared) >= mournEvery:
			compare = true
			p.compared = now
		}
		b.peers[id] = p
	}
	return suspect, compare
}

// excusePeers begins to listen anew to all that were not silent before: it was we who heard nothing.
func (b *bus) excusePeers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.peers {
		if p.compared.IsZero() {
			b.peers[id] = peer{heard: time.Now()}
		}
	}
}

package redisstore

import "time"

// A peer that dies may have committed what it never published, and no gap need show that. So when its heart is not
// heard any more everything is suspected, once. Which lane brings a heartbeat does not matter: what a living peer
// cannot send on one of them it keeps.

// heardPeer notes a peer's heartbeat, or its first payload.
func (b *bus) heardPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peers[id] = time.Now()
}

// forgetPeer is for one that has left in good order, with nothing unsent.
func (b *bus) forgetPeer(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.peers, id)
}

// buryPeers forgets those that are silent; true: there were some.
func (b *bus) buryPeers() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	dead := false
	for id, heard := range b.peers {
		if time.Since(heard) > silence {
			delete(b.peers, id)
			dead = true
		}
	}
	return dead
}

// excusePeers begins to listen to all of them anew: it was we who heard nothing.
func (b *bus) excusePeers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.peers {
		b.peers[id] = time.Now()
	}
}

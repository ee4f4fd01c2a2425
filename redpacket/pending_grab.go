package redpacket

import "sync"

// PendingGrab lets the caller of a grab answer "pending" while the grab still runs, once a share is granted and waits
// for its commit. The zero value is ready for one grab. It is safe for concurrent use.
//
// The client of a grab receives the outcome in exactly one way. If the caller has not called Take with success, it
// sends what the grab returns. After a successful Take the outcome is published as a GrabDecided.
type PendingGrab struct {
	mu       sync.Mutex // guards the fields below
	packet   *Packet
	claimed  int // shares of the packet that are granted, including the one of this grab; 0: this grab has none yet
	taken    bool
	finished bool
}

// begin sets the packet of the grab. On a nil PendingGrab it does nothing.
func (g *PendingGrab) begin(p *Packet) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.packet = p
}

// granted records that the Pool has granted a share to this grab. Only the first call counts.
func (g *PendingGrab) granted(claimed int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.claimed == 0 {
		g.claimed = claimed
	}
}

// Take calls answer with the result "pending" if a share is granted and the grab has not finished. The answer must go to the client, and
// nothing of what the grab returns. The grab does not finish before answer returns, so its GrabDecided comes behind. Otherwise
// Take reports false and may be called again later.
func (g *PendingGrab) Take(answer func(Result)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.claimed == 0 || g.taken || g.finished {
		return false
	}
	g.taken = true
	answer(Result{Packet: g.packet.ID, Outcome: OutcomePending, Claimed: g.claimed, Count: g.packet.Count})
	return true
}

// finish ends the time in which Take can succeed, and reports whether Take has succeeded.
func (g *PendingGrab) finish() (taken bool) {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.finished = true
	return g.taken
}

package redpacket

import (
	"context"
	"sync"
	"time"

	"hongbao/chat"
)

// progress publishes how many shares of each packet are claimed, at most five times a second for each packet, and
// never after the packet's end.
type progress struct {
	// static
	pub     chat.Publisher
	limiter chat.Limiter // shared by all instances; nil: this is the only one

	mu      sync.Mutex
	packets map[string]*tally // guarded by mu; packets with a claim since the last tick
}

// tally holds the claims of one packet since its last publication.
type tally struct {
	event Progress
	timer *time.Timer
	dirty bool
}

const (
	latestShown = 5
	limiterTime = 100 * time.Millisecond // if the limiter does not answer within this time, progress is published anyway
)

// progressEvery returns the least time between two publications for a packet. It grows with the number of shares,
// because a packet of thousands of shares is in a room of thousands of members. Five messages a second to all of them
// would take a fifth of a core away from the grabs.
func progressEvery(shares int) time.Duration {
	const least, most, each = 200 * time.Millisecond, time.Second, 250 * time.Microsecond
	return min(max(time.Duration(shares)*each, least), most)
}

// add counts a committed claim, unless the packet is known to have ended: a caller may settle a claim before the end
// and call add after it. The first claim is published at once, the following ones together at the end of the interval.
// With several instances, the first claim also waits for this instance's turn.
func (p *progress) add(k *known, rank int, user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.final.Load() != nil {
		return
	}
	k.claimed = max(k.claimed, rank)
	t := p.packets[k.packet.ID]
	first := t == nil
	if first {
		t = &tally{event: Progress{Packet: k.packet.ID, Room: k.packet.Room, Count: k.packet.Count}}
		t.timer = time.AfterFunc(p.firstTick(t), func() { p.tick(k.packet.ID, t) })
		p.packets[k.packet.ID] = t
	}
	t.event.Claimed = k.claimed
	t.event.Latest = append(t.event.Latest, user)
	if over := len(t.event.Latest) - latestShown; over > 0 {
		t.event.Latest = t.event.Latest[over:]
	}
	if t.dirty = true; first && p.limiter == nil {
		p.publish(t)
	}
}

func (p *progress) firstTick(t *tally) time.Duration {
	if p.limiter == nil {
		return progressEvery(t.event.Count)
	}
	return 0
}

// publish publishes the tally. The caller holds mu, so that nothing is published after end. The publisher does not
// block.
func (p *progress) publish(t *tally) {
	p.pub.ToRoom(t.event.Room, t.event)
	t.event.Latest = nil
	t.dirty = false
}

func (p *progress) tick(packet string, t *tally) {
	if !p.hasNews(packet, t) {
		return
	}
	every := progressEvery(t.event.Count) // the count never changes, so reading it needs no lock
	wait := p.turn(packet, every)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packets[packet] != t {
		return
	}
	if wait > 0 {
		t.timer.Reset(wait)
		return
	}
	p.publish(t)
	t.timer.Reset(every)
}

// hasNews reports whether claims came since the last publication. If none came, it forgets the packet.
func (p *progress) hasNews(packet string, t *tally) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packets[packet] != t {
		return false
	}
	if !t.dirty {
		delete(p.packets, packet)
	}
	return t.dirty
}

// turn returns how long this instance must wait before it may publish the packet's progress. All instances share the
// rate.
func (p *progress) turn(packet string, every time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), limiterTime)
	defer cancel()
	wait, err := p.limiter.Take(ctx, "progress:"+packet, chat.Rate{PerSecond: float64(time.Second) / float64(every), Burst: 1})
	if err != nil {
		return 0
	}
	return wait
}

// end forgets the packet. The packet's final state is in memory by now, so add ignores later claims.
func (p *progress) end(packet string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.packets[packet]; t != nil {
		t.timer.Stop()
		delete(p.packets, packet)
	}
}

package redpacket

import (
	"context"
	"sync"
	"time"

	"hongbao/chat"
)

// progress tells rooms how their packets go, merged to five times a second per packet at most, and never after the end.
type progress struct {
	// static
	pub     chat.Publisher
	limiter chat.Limiter // over all instances; nil: there is only this one

	mu      sync.Mutex
	packets map[string]*tally // guarded by mu; those with a claim in the last interval
}

// tally of one packet since it was last told.
type tally struct {
	event Progress
	timer *time.Timer
	dirty bool
}

const (
	latestShown = 5
	limiterTime = 100 * time.Millisecond // who does not answer by then does not limit
)

// progressEvery is how often a packet's progress is told. One of thousands of shares has a room of thousands, whom to tell
// five times a second would take a fifth of a core from those who grab.
func progressEvery(shares int) time.Duration {
	const least, most, each = 200 * time.Millisecond, time.Second, 250 * time.Microsecond
	return min(max(time.Duration(shares)*each, least), most)
}

// note counts a committed claim, unless the packet's end is known: whoever settled a claim before the end may come
// here after it. The first is told at once, the next ones together when the interval is over. Among several instances
// the first one, too, has to wait for its turn.
func (p *progress) note(k *known, rank int, user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.ending.Load() != nil {
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
		p.tell(t)
	}
}

func (p *progress) firstTick(t *tally) time.Duration {
	if p.limiter == nil {
		return progressEvery(t.event.Count)
	}
	return 0
}

// tell publishes under mu, so that nothing can come after end. The publisher does not block.
func (p *progress) tell(t *tally) {
	p.pub.ToRoom(t.event.Room, t.event)
	t.event.Latest = nil
	t.dirty = false
}

func (p *progress) tick(packet string, t *tally) {
	if !p.goesOn(packet, t) {
		return
	}
	every := progressEvery(t.event.Count) // which never changes
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
	p.tell(t)
	t.timer.Reset(every)
}

// goesOn tells whether there is anything to tell, and forgets the packet if not.
func (p *progress) goesOn(packet string, t *tally) bool {
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

// turn is how long it takes until this instance may tell the packet's progress; 0: now.
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

// end forgets the packet, whose ending is remembered by now: so note cannot begin anew.
func (p *progress) end(packet string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.packets[packet]; t != nil {
		t.timer.Stop()
		delete(p.packets, packet)
	}
}

package redpacket

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/trace"
)

// Progress says how many shares of a packet are claimed. It is published to the packet's room at most five times a
// second, unless the shared limiter fails. An instance publishes none after it has learned that the packet has ended.
type Progress struct {
	Packet  string
	Room    string
	Claimed int
	Count   int
	Latest  []string // users whose claims are new in this Progress, or that have just entered the draw, newest last

	Participants int        // of a draw: how many users have entered
	Cause        trace.Link // the span of one of these claims
}

// WalletChanged tells a user how the user's balance has changed.
type WalletChanged struct {
	Account Account
	Change  Money
	Kind    TransferKind
	Packet  string
	Cause   trace.Link
}

// EventName implements chat.Event.
func (Progress) EventName() string { return "packet_progress" }

// EventName implements chat.Event.
func (WalletChanged) EventName() string { return "wallet" }

// progress publishes how many shares of each packet are claimed, at most five times a second for each packet, and none after
// this instance has learned that the packet has ended.
type progress struct {
	// static
	pub     chat.Publisher
	limiter chat.Limiter // shared by all instances; nil: this is the only one

	mu      sync.Mutex
	packets map[string]*tally // guarded by mu; packets with a claim since the last tick
}

// tally holds the next Progress of one packet. dirty is true if claims have come since the last publication.
type tally struct {
	event Progress
	timer *time.Timer
	dirty bool
}

const (
	latestShown = 5                      // most users in Progress.Latest
	limiterTime = 100 * time.Millisecond // if the limiter does not answer within this time, progress is published anyway
)

// progressEvery returns the least time between two publications for a packet. It grows with the number of shares,
// because a packet of thousands of shares is in a room of thousands of members. Five messages a second to all of them
// would take a fifth of a core away from the grabs.
func progressEvery(shares int) time.Duration {
	const least, most, each = 200 * time.Millisecond, time.Second, 250 * time.Microsecond
	return min(max(time.Duration(shares)*each, least), most)
}

// add counts a committed claim, with which at least so many shares are taken, unless the packet is known to have ended. (A caller may settle a claim before the end of the
// packet, and call add after the end.) The first claim of a packet is published at once, and so is the first claim after an
// interval (progressEvery) without claims. The following claims are published together at the end of the interval. With
// several instances, even the first claim waits until the shared limiter lets this instance publish.
func (p *progress) add(k *cachedPacket, taken int, user string, cause trace.Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.claimed = max(k.claimed, taken)
	t, first := p.tallyOf(k)
	if t == nil {
		return
	}
	t.event.Claimed = k.claimed
	if !cause.IsZero() {
		t.event.Cause = cause
	}
	t.show(user)
	if t.dirty = true; first && p.limiter == nil {
		p.publish(t)
	}
}

// enter does for the participants of a draw what add does for claims. total is the number of participants that this instance has seen.
func (p *progress) enter(k *cachedPacket, total int, users []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, first := p.tallyOf(k)
	if t == nil {
		return
	}
	t.event.Participants = max(t.event.Participants, total)
	t.show(users...)
	if t.dirty = true; first && p.limiter == nil {
		p.publish(t)
	}
}

// tallyOf returns the tally of the packet, or nil if the packet is known to have ended. first reports whether this call has begun the
// tally. The caller holds mu.
func (p *progress) tallyOf(k *cachedPacket) (t *tally, first bool) {
	if k.final.Load() != nil {
		return nil, false
	}
	if t = p.packets[k.packet.ID]; t != nil {
		return t, false
	}
	t = &tally{event: Progress{Packet: k.packet.ID, Room: k.packet.Room, Count: k.packet.Count}}
	t.timer = time.AfterFunc(p.firstTick(t), func() { p.tick(k.packet.ID, t) })
	p.packets[k.packet.ID] = t
	return t, true
}

// show adds users to the latest ones.
func (t *tally) show(users ...string) {
	t.event.Latest = append(t.event.Latest, users...)
	if over := len(t.event.Latest) - latestShown; over > 0 {
		t.event.Latest = t.event.Latest[over:]
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
	t.event.Latest, t.event.Cause = nil, trace.Link{}
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
// rate. If the limiter fails, turn returns 0.
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

// wallets publishes changes of balances to their users. Two changes of one user may arrive here in the wrong order.
// Clients that read the version ignore the older account. For other clients the last push of an instance must be
// right. So a change that is older than the last push is published with the account of that last push.
type wallets struct {
	pub  chat.Publisher
	seed maphash.Seed

	// The index is a hash of the user. Of two users with the same index only the later push is kept. That matters only
	// if two changes of the other user arrive in the wrong order at that moment.
	lastPushes [1024]lastPush
}

// lastPush is the account that was published last. Its lock is held while an account is published. Publishing does not
// block.
type lastPush struct {
	mu      sync.Mutex
	user    string
	account Account
	at      time.Time
}

// reorderWindow is how long after a push an older change of the same user may still arrive. A change with a lower version
// that comes later probably means that SQL has lost the changes that were published before. It is published as it is.
const reorderWindow = 10 * time.Second

func newWallets(pub chat.Publisher) *wallets { return &wallets{pub: pub, seed: maphash.MakeSeed()} }

// publish publishes a committed change to the user. If a newer account of the user was just published, the change has that one.
func (w *wallets) publish(user string, e WalletChanged) {
	last := &w.lastPushes[maphash.String(w.seed, user)%uint64(len(w.lastPushes))]
	last.mu.Lock()
	defer last.mu.Unlock()
	if now := time.Now(); last.user == user && last.account.Version > e.Account.Version && now.Sub(last.at) < reorderWindow {
		e.Account = last.account
	} else {
		last.user, last.account, last.at = strings.Clone(user), e.Account, now
	}
	w.pub.ToUser(user, e)
}

// clear forgets the last pushes: the next account of each user is published as it is, even if its version is lower.
func (w *wallets) clear() {
	for i := range w.lastPushes {
		last := &w.lastPushes[i]
		last.mu.Lock()
		last.user, last.account, last.at = "", Account{}, time.Time{}
		last.mu.Unlock()
	}
}

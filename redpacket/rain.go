package redpacket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
	"hongbao/redpacket/proof"
)

// A rain is a draw whose shares are drawn in waves. The instants of the waves follow from the seed, and no client learns one before it has
// come. Users enter each wave for WaveWindow. Then Ledger.Draw fixes its participants by a root, and stores which of them win: that
// follows from the seed and the entries of this wave and the earlier ones. They are paid and told at once. When the last wave is drawn, or
// when the rain ends early, it is closed like every draw.
//
// Each instance knows the instants of all open rains (rains). So it tells the beginning of a wave, and ends it, although the instance that
// sent the rain has died. The ledger's clock decides which wave users can enter, and whether its end has come. An instance may die when it has
// drawn a wave, before it has paid and told the winners. So each of the others also looks at each wave after its end.

// Rain says how a draw is divided into waves. Its zero value is that of a packet that is no rain.
type Rain struct {
	Waves   int // each has as many shares
	MaxWins int // waves that one user may win
}

// RainSoon is how long before a rain begins the instances follow it.
const RainSoon = time.Minute

// WaveWindow is how long users can enter a wave.
const WaveWindow = proof.WaveWindow * time.Millisecond

// WaveCell is how much time each wave needs at least.
const WaveCell = proof.WaveCell * time.Millisecond

// Wave is a wave that has been drawn.
type Wave struct {
	Number       int // from 1
	At           time.Time
	Participants int
	Root         string   // hex
	First        int      // the share of the first winner. The others follow
	Winners      []string // users, in the order in which they were drawn
}

// RainPlan is an open rain with the instants of its waves, which are secret before they come.
type RainPlan struct {
	Ref
	Room   string
	Begins time.Time   // the first wave opens then, or later
	Opens  []time.Time // when users can begin to enter each wave, by the ledger's clock
	Drawn  int         // how many waves have been drawn
}

// RainState is the state of a rain as one user may see it.
type RainState struct {
	Drawn int       // how many waves have been drawn
	Wins  []Paid    // by wave
	Wave  int       // the last wave that has begun; 0: none. Only package redpacket sets it
	Ends  time.Time // when users can enter it no more; zero: they cannot. Only package redpacket sets it
}

// AddWin adds a share that the user has won. Wins are added in the order of their waves. Mine is then all of them together, with the rank and
// time of the first.
func (s *State) AddWin(w Paid) {
	s.Rain.Wins = append(s.Rain.Wins, w)
	if s.Mine == nil {
		first := w
		first.Amount, s.Mine = 0, &first
	}
	s.Mine.Amount += w.Amount
}

// WaveEvent tells a room that users can enter a wave, or, with Drawn, what has become of it.
type WaveEvent struct {
	Packet string
	Room   string
	Wave   int
	Ends   time.Time // when users can enter it no more
	Drawn  *WaveDrawn
}

// WaveDrawn is what a room is told of a wave that has been drawn.
type WaveDrawn struct {
	Participants int
	Won          int    // how many have won
	Winners      []Paid // the first of them, without names and times
}

// EventName implements chat.Event.
func (WaveEvent) EventName() string { return "packet_wave" }

// winnersShown bounds WaveDrawn.Winners. Each winner also gets the event of the wallet.
const winnersShown = 20

// rule returns the rain for package proof.
func (p *Packet) rule() proof.Rain {
	return proof.Rain{
		Waves: p.Rain.Waves, OverS: int(p.Window / time.Second), MaxWins: p.Rain.MaxWins, Begin: p.ExpiresAt.Add(-p.Window).UnixMilli(),
	}
}

// Opens returns when users can begin to enter each wave of the rain, by the ledger's clock. It returns nil if the packet is no rain.
func (p *Packet) Opens(seed Seed) []time.Time {
	if p.Rain.Waves == 0 {
		return nil
	}
	r := p.rule()
	opens := make([]time.Time, r.Waves)
	for i, offset := range r.Opens(seed, p.From.ID, p.Key) {
		opens[i] = time.UnixMilli(r.Begin + offset).UTC()
	}
	return opens
}

// DrawWave draws the next wave of a rain: the one after the waves before.
func (p *Packet) DrawWave(seed Seed, before []Wave, participants []Participant, at time.Time) Wave {
	round := p.rule().NewRound(p.Count)
	for _, w := range before {
		for _, user := range w.Winners {
			round.Won(user)
		}
	}
	w := Wave{Number: len(before) + 1, At: at, Participants: len(participants), Root: rootOf(participants), First: round.Next(), Winners: []string{}}
	order := proof.Order(seed, p.From.ID, p.Key, uint32(w.Number), leavesOf(participants))
	for _, i := range round.Draw(w.Number, order, func(i int) string { return participants[i].User }) {
		w.Winners = append(w.Winners, participants[i].User)
	}
	return w
}

// winnersOf returns the grants of waves.
func winnersOf(waves []Wave) (grants []Grant) {
	for _, w := range waves {
		for i, user := range w.Winners {
			grants = append(grants, Grant{User: user, Share: w.First + i, Wave: w.Number})
		}
	}
	return grants
}

// payWaves pays the winners of waves that have been drawn, and tells the observer of the new ones, even if some cannot be paid.
func (f *flow) payWaves(ctx context.Context, p Ref, d *Draw) error {
	paying, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	_, err := f.settleLacking(paying, p, winnersOf(d.Waves))
	crashpoint.Here("wave.after-settle")
	f.observer.waves(d, err == nil)
	if err != nil && d.Refused {
		return fmt.Errorf("%w: %w", errUnpaid, err)
	}
	return err
}

// payTime bounds how long the payment of winners delays what the room is told of their wave.
const payTime = 2 * time.Second

// errUnpaid means that some winners of a rain that goes on could not be paid yet.
var errUnpaid = errors.New("winners of a wave are not paid")

// waves implements observer.
func (s *Service) waves(d *Draw, paid bool) {
	p := &d.Book.Packet
	opens := p.Opens(d.Book.Seed)
	fresh := len(d.Waves) - d.New
	known := min(s.rains.drawn(p.ID, len(d.Waves), fresh, paid), fresh)
	for i, w := range d.Waves[known:] {
		told := fmt.Sprintf("wave-drawn:%s:%d", p.ID, w.Number)
		if known+i < fresh && !s.isFirst(told) {
			continue // by the instance that has drawn it
		}
		drawn := WaveDrawn{Participants: w.Participants, Won: len(w.Winners)}
		for i, user := range w.Winners[:min(len(w.Winners), winnersShown)] {
			drawn.Winners = append(drawn.Winners, Paid{Share: w.First + i, Wave: w.Number, User: chat.User{ID: user}, Amount: d.Book.Shares[w.First+i]})
		}
		s.pub.ToRoom(p.Room, WaveEvent{Packet: p.ID, Room: p.Room, Wave: w.Number, Ends: opens[w.Number-1].Add(WaveWindow), Drawn: &drawn})
		if known+i >= fresh {
			s.isFirst(told) // nobody needs to tell it again
		}
	}
}

// showRain adds to the state of an open rain which wave has begun, as far as this instance knows.
func (s *Service) showRain(state *State) {
	if state.Rain == nil || state.Status != Open {
		return
	}
	state.Rain.Wave, state.Rain.Ends = s.rains.present(state.Packet)
}

const (
	rainsKept = 10_000 // open rains that an instance follows; more wait until others have ended
	rainsPage = 200
)

// rains follows the open rains: it tells the beginnings of their waves, and lets them be drawn at their ends.
type rains struct {
	// static
	now     func() time.Time // by the ledger's clock, or earlier; zero: not known yet
	stopped func() bool
	begun   func(room, packet string, wave int, ends time.Time) // is told that a wave has begun
	due     func(p Ref, then func()) bool                       // is told, again and again, that the next wave can be drawn, or that the rain can end: see closeThen

	mu   sync.Mutex
	open map[string]*rain // guarded by mu
}

// rain is an open rain.
type rain struct {
	RainPlan // Drawn counts the waves that this instance has seen drawn, paid and told; guarded by mu of rains

	told int // waves that this instance has seen drawn and told; guarded by mu of rains

	own     bool        // guarded by mu of rains; this instance has sent it
	drawing atomic.Bool // a try to draw runs

	begun int // waves whose beginning was told; guarded by mu of rains
	timer *time.Timer
	round int // of find that has seen it last; guarded by mu of rains
}

// follow begins to follow a rain, or learns that it is still open. A rain without instants is left to others: this instance may lack its key. The
// last wave that has been drawn is looked at again: perhaps its instance has died before it has told the result.
func (r *rains) follow(plan RainPlan, own bool, round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.open[plan.ID]; known != nil {
		known.round, known.own = round, known.own || own // a list may have had the rain before its sending had returned
		return
	}
	if len(plan.Opens) == 0 || !own && len(r.open) >= rainsKept || r.stopped() {
		return
	}
	plan.Drawn = max(0, plan.Drawn-1)
	n := &rain{RainPlan: plan, told: plan.Drawn, own: own, round: round}
	r.open[plan.ID] = n
	n.timer = time.AfterFunc(0, func() { r.step(n) })
}

// step does what has come in a rain, and sets the timer for what comes next.
func (r *rains) step(n *rain) {
	r.mu.Lock()
	if r.open[n.ID] != n || r.stopped() {
		r.mu.Unlock()
		return
	}
	now, begun := r.now(), 0
	if now.IsZero() {
		n.timer.Reset(drawAgain)
		r.mu.Unlock()
		return
	}
	for n.begun < len(n.Opens) && !n.Opens[n.begun].After(now) {
		n.begun++
		begun = n.begun
	}
	due := !r.end(n).After(now)
	next := r.end(n)
	if due {
		next = now.Add(drawAgain)
	}
	if n.begun < len(n.Opens) && n.Opens[n.begun].Before(next) {
		next = n.Opens[n.begun]
	}
	n.timer.Reset(next.Sub(now))
	r.mu.Unlock()
	if begun > 0 && now.Before(n.Opens[begun-1].Add(WaveWindow)) {
		r.begun(n.Room, n.ID, begun, n.Opens[begun-1].Add(WaveWindow))
	}
	if due && n.drawing.CompareAndSwap(false, true) && !r.due(n.Ref, func() { n.drawing.Store(false) }) {
		n.drawing.Store(false)
	}
}

// end returns when the next wave can be drawn. An instance that did not send the rain leaves it for a while to the one that did. The caller
// holds mu.
func (r *rains) end(n *rain) time.Time {
	if n.Drawn >= len(n.Opens) {
		return time.Time{} // all are drawn, and the rain can be closed
	}
	end := n.Opens[n.Drawn].Add(WaveWindow)
	if !n.own {
		end = end.Add(drawOthers + rand.N(drawOthers)) //nolint:gosec // only spreads the instances
	}
	return end
}

// drawn learns that so many waves of the rain have been drawn, and whether all their winners are paid. It returns how many of them were told, or
// unknown if it does not follow the rain.
func (r *rains) drawn(packet string, waves, unknown int, paid bool) (told int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.open[packet]
	if n == nil {
		return unknown
	}
	told = n.told
	n.told = max(told, waves)
	if paid {
		n.Drawn = max(n.Drawn, waves)
	}
	return told
}

// present returns the last wave of a rain that has begun, and when it ends. ends is zero if it has ended.
func (r *rains) present(packet string) (wave int, ends time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.open[packet]
	if n == nil {
		return 0, time.Time{}
	}
	now := r.now()
	for wave < len(n.Opens) && !n.Opens[wave].After(now) {
		wave++
	}
	if wave > 0 && now.Before(n.Opens[wave-1].Add(WaveWindow)) {
		ends = n.Opens[wave-1].Add(WaveWindow)
	}
	return wave, ends
}

// forget stops to follow the rains that keep does not hold.
func (r *rains) forget(keep func(*rain) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, n := range r.open {
		if !keep(n) {
			n.timer.Stop()
			delete(r.open, id)
		}
	}
}

// ended stops to follow a rain that has ended.
func (r *rains) ended(packet string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.open[packet]; n != nil {
		n.timer.Stop()
		delete(r.open, packet)
	}
}

// findRains reads which rains are open, and follows them. It reads at most rainsKept: those that begin first.
func (s *Service) findRains(ctx context.Context) error {
	s.rainRound++
	after := RainPlan{}
	for range rainsKept / rainsPage {
		page, err := s.ledger.OpenRains(ctx, after, rainsPage)
		if err != nil {
			return err
		}
		for _, plan := range page {
			s.rains.follow(plan, s.sentRains.has(plan.ID), s.rainRound)
		}
		if len(page) < rainsPage {
			break
		}
		after = page[len(page)-1]
	}
	s.rains.forget(func(n *rain) bool { return n.round == s.rainRound || n.own })
	return nil
}

// waveBegun publishes the beginning of a wave, unless another instance has.
func (s *Service) waveBegun(room, packet string, wave int, ends time.Time) {
	if s.isFirst(fmt.Sprintf("wave:%s:%d", packet, wave)) {
		s.pub.ToRoom(room, WaveEvent{Packet: packet, Room: room, Wave: wave, Ends: ends})
	}
}

// isFirst reports whether this instance is the first one that asks for the key: the instances share a limiter, so that one of them tells what
// all know. If the limiter fails, each is the first, which is harmless: clients know the number of the wave.
func (s *Service) isFirst(key string) bool {
	if s.o.Limiter == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), limiterTime)
	defer cancel()
	wait, err := s.o.Limiter.Take(ctx, key, chat.Rate{Burst: 1})
	return err != nil || wait <= 0
}

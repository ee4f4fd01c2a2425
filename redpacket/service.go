package redpacket

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight" // the usual way to let concurrent callers share one call

	"hongbao/chat"
	"hongbao/redpacket/keylock"
	"hongbao/redpacket/meter"
	"hongbao/redpacket/trace"
)

// Rooms is the part of chat that the service needs. chat.Service implements it.
type Rooms interface {
	Standing(ctx context.Context, room, user string) (chat.Standing, error)
	// StoredStanding is Standing without a cache.
	StoredStanding(ctx context.Context, room, user string) (chat.Standing, error)
	// Forget drops what is cached of a user, if the room is empty.
	Forget(room, user string)
	// Away returns members of the room without a socket that were active in it lately, the most active ones first. See chat.Service.
	Away(ctx context.Context, room, user string) ([]string, error)
	// NoteOutcome is told the error of each write of entries into the room.
	NoteOutcome(room string, err error)
}

// Limits are the limits of packets. A zero field takes its default, except MaxOpen.
type Limits struct {
	MaxTotal      Money
	MaxCount      int
	MinTTL        time.Duration
	MaxTTL        time.Duration
	DefaultTTL    time.Duration
	MinWindow     time.Duration // of draws
	MaxWindow     time.Duration
	MinWaves      int // of rains
	MaxWaves      int
	MinOver       time.Duration
	MaxOver       time.Duration
	MaxAhead      time.Duration // how long before it opens a packet can be sent
	GreetingChars int

	To              int // recipients that a packet may name
	PassphraseChars int

	MaxOpen int // packets that a user may have open at a time; 0: any number

	Skins []Skin // that the host brings, beside Skins()
}

// Options configures a Service. The zero value works, but accepts no passphrases.
type Options struct {
	Now           func() time.Time
	NewID         func(time.Time) string
	Limits        Limits
	DayLimits     DayLimits
	Log           *slog.Logger
	Limiter       chat.Limiter  // limits the progress events and samples of all instances together; nil: this is the only instance
	GuessLimiter  chat.Limiter  // counts guesses at passphrases on all instances together; nil: no packet can have a passphrase
	MemoryBytes   int           // memory for cached packets; default 64 MiB
	SweepEvery    time.Duration // default 200 ms
	RecoverEvery  time.Duration // default 1 s
	BackstopEvery time.Duration // default 3 s
	ClocksEvery   time.Duration // between two measurements of the engines' clocks; default 30 s
	AuditEvery    time.Duration // between two audits in the background, of all instances together; 0: only when AskAudit asks

	Fundings Fundings // nil: no packet can be funded by the host

	ReceiptKey  ed25519.PrivateKey  // signs the receipts of draws; nil: a key that is drawn now
	ReceiptKeys []ed25519.PublicKey // all that have signed receipts, the present one last; nil: only ReceiptKey
}

// Service implements all that users do with red packets. Everything that it publishes was committed before.
type Service struct {
	// static after New
	flow   *flow
	ledger Ledger
	pool   Pool
	rooms  Rooms
	pub    chat.Publisher
	o      Options

	memory       *memory
	wallets      *wallets
	unknown      recentSet // ids that no packet had when they were looked up; see unknownFor
	passphrases  passphraseGuard
	receivers    keylock.Locks // by user; used only if there is a limit on what the user receives
	progress     progress
	entering     together[Entering]
	binding      together[map[string]string] // persons to users: see grabAs
	rains        rains
	sentRains    recentSet          // rains that this instance has sent and that open later
	rainRound    int                // number of calls of findRains; only findRains uses it
	closing      singleflight.Group // merges concurrent closes of one packet for one reason on this instance, except cancels
	ends         singleflight.Group // merges reads of one draw that has ended
	campaigns    keylock.Locks      // bounds calls of Campaign
	lastCampaign atomic.Pointer[Campaign]
	closeSlots   closeSlots
	drawSlots    closeSlots
	recloses     retries[string] // packets whose close has failed although both engines seem to work, by id
	poolTries    retries[string] // packets whose close has failed in the Pool, by id
	busyCloses   retries[string] // packets whose close may succeed soon (isBusy), by id
	inQuarantine recentSet       // claims that were counted and logged as put into quarantine
	recovery     *recovery
	background   background
	deleted      deletedRooms
	counts       counts
	clocks       clocks
	heads        headWatch
	sampled      atomic.Pointer[Sample]
	answerTime   *meter.Histogram // see Stats.AnswerTime
	auditRenew   time.Duration
}

// counts holds what happened in this process, mostly for Stats.
type counts struct {
	won, already, empty, expired, entered, missed, elsewhere atomic.Int64
	failed                                                   atomic.Int64
	swept, quarantined                                       atomic.Int64

	endedEarly atomic.Int64

	fundingsSent, fundingsReversed atomic.Int64

	sweep, close, backstop, deleted, recover, recount, heads, audit, fromBefore, sample, fundings, rains taskFailures
}

// New returns a service over a ledger and a pool.
func New(ledger Ledger, pool Pool, rooms Rooms, pub chat.Publisher, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = chat.NewID
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	o.MemoryBytes = cmp.Or(o.MemoryBytes, 64<<20)
	o.SweepEvery = cmp.Or(o.SweepEvery, 200*time.Millisecond)
	o.RecoverEvery = cmp.Or(o.RecoverEvery, time.Second)
	o.BackstopEvery = cmp.Or(o.BackstopEvery, 3*time.Second)
	o.ClocksEvery = cmp.Or(o.ClocksEvery, 30*time.Second)
	o.Limits = o.Limits.withDefaults()
	if o.ReceiptKey == nil {
		_, o.ReceiptKey, _ = ed25519.GenerateKey(nil) // never fails
	}
	if o.ReceiptKeys == nil {
		o.ReceiptKeys = []ed25519.PublicKey{o.ReceiptKey.Public().(ed25519.PublicKey)}
	}

	s := &Service{ledger: ledger, pool: pool, rooms: rooms, pub: pub, o: o, memory: newMemory(o.MemoryBytes), unknown: recentSet{keep: unknownFor}, wallets: newWallets(pub), auditRenew: auditRenew, answerTime: meter.NewDurations()}
	s.passphrases.limiter, s.passphrases.chars = o.GuessLimiter, s.o.Limits.PassphraseChars
	s.progress = progress{pub: pub, limiter: o.Limiter, packets: map[string]*tally{}}
	s.campaigns.Holders = campaignsAtOnce
	s.entering, s.binding = newTogether(&s.background, s.enterAll), newTogether(&s.background, s.bindPersons)
	s.rains = rains{now: s.ledgerTime, stopped: s.background.stopping, begun: s.waveBegun, due: s.closeThen, open: map[string]*rain{}}
	s.flow = &flow{
		pool: pool, ledger: ledger, now: o.Now, newID: o.NewID, observer: s,
		ack: (&acks{pool: pool, background: &s.background}).add, image: newImages(ledger).read, parallel: runParallel,
	}
	s.recovery = newRecovery(s.flow)
	s.recloses = retries[string]{least: leastReclose, most: mostReclose, capacity: pausedCloses}
	s.poolTries = retries[string]{least: leastReclose, most: leastReclose, capacity: pausedCloses}
	s.busyCloses = retries[string]{least: busyReclose, most: busyReclose, capacity: pausedCloses}
	return s
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxTotal:      cmp.Or(l.MaxTotal, 20_000_000),
		MaxCount:      cmp.Or(l.MaxCount, 10_000),
		MinTTL:        cmp.Or(l.MinTTL, 5*time.Second),
		MaxTTL:        cmp.Or(l.MaxTTL, 7*24*time.Hour),
		DefaultTTL:    cmp.Or(l.DefaultTTL, 24*time.Hour),
		MinWindow:     cmp.Or(l.MinWindow, 3*time.Second),
		MaxWindow:     cmp.Or(l.MaxWindow, 10*time.Minute),
		MinWaves:      cmp.Or(l.MinWaves, 3),
		MaxWaves:      cmp.Or(l.MaxWaves, 100),
		MinOver:       cmp.Or(l.MinOver, 10*time.Second),
		MaxOver:       cmp.Or(l.MaxOver, 10*time.Minute),
		MaxAhead:      cmp.Or(l.MaxAhead, 7*24*time.Hour),
		GreetingChars: cmp.Or(l.GreetingChars, 60),

		To:              cmp.Or(l.To, 200),
		PassphraseChars: cmp.Or(l.PassphraseChars, 32),

		MaxOpen: l.MaxOpen,
	}
}

// Limits returns the limits that the service applies.
func (s *Service) Limits() Limits { return s.o.Limits }

// Stats says what has happened in this process since its start, and what its state is now.
type Stats struct {
	Won, Already, Empty, Expired, Entered, Missed, Elsewhere, Failed       int64 // grabs by outcome
	Swept, SweepFailures, CloseFailures, BackstopFailures, RecoverFailures int64
	Quarantined                                                            int64 // claims that were put into quarantine
	SettledAtClose                                                         int64 // claims that a close has settled, without those that Ledger.End inserts
	EndedEarly                                                             int64 // packets ended early, because of lost commits
	SetAside                                                               int   // claims that recovery could not settle, and tries again
	Remembered                                                             int   // bytes of cached packets now

	FundingsSent, FundingsReversed int64 // fundings of the host by their end
	FundingFailures                int64 // failed runs of the task that reverses fundings

	// AnswerTime is the time of grabs that won, from the end of GrabRequest.Admit to the result.
	AnswerTime meter.Counts
	// OutOfReach means that the ledger's engine is known to be out of reach.
	OutOfReach bool
}

// Stats returns the figures of this process.
func (s *Service) Stats() Stats {
	c := &s.counts
	return Stats{
		Won: c.won.Load(), Already: c.already.Load(), Empty: c.empty.Load(), Expired: c.expired.Load(), Entered: c.entered.Load(), Missed: c.missed.Load(), Elsewhere: c.elsewhere.Load(), Failed: c.failed.Load(),
		Swept: c.swept.Load(), SweepFailures: c.sweep.failures.Load(), CloseFailures: c.close.failures.Load(),
		BackstopFailures: c.backstop.failures.Load() + c.deleted.failures.Load() + c.fromBefore.failures.Load() + c.rains.failures.Load(), RecoverFailures: c.recover.failures.Load(),
		SettledAtClose: s.flow.settledAtClose.Load(), EndedEarly: c.endedEarly.Load(),
		Quarantined: c.quarantined.Load(), SetAside: s.recovery.aside.count(),
		FundingsSent: c.fundingsSent.Load(), FundingsReversed: c.fundingsReversed.Load(), FundingFailures: c.fundings.failures.Load(),
		Remembered: s.memory.bytes(), AnswerTime: s.answerTime.Read(), OutOfReach: s.ledger.OutOfReach() != nil,
	}
}

// Run runs the background tasks until ctx is done, and returns when they and all that they have started have ended.
// After that this service closes a packet only for a call of Cancel.
func (s *Service) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	repeat := func(task string, t *taskFailures, d time.Duration, run func(context.Context) error) {
		tasks.Go(func() { every(ctx, d, func() { s.recordTask(task, t, run(ctx)) }) })
	}
	tasks.Go(func() { every(ctx, s.o.SweepEvery, func() { s.sweep(ctx) }) })
	tasks.Go(func() { every(ctx, s.o.BackstopEvery, func() { s.closeDeletedRooms(ctx) }) })
	tasks.Go(func() { every(ctx, s.o.BackstopEvery, func() { s.endFromBefore(ctx) }) })
	repeat("recovery", &s.counts.recover, s.o.RecoverEvery, s.recovery.run)
	repeat("recount", &s.counts.recount, recountPeriod, s.flow.recount)
	repeat("backstop", &s.counts.backstop, s.o.BackstopEvery, func(ctx context.Context) error {
		return s.flow.backstop(ctx, func(p Ref) { s.closeSoon(p) })
	})
	repeat("rains", &s.counts.rains, s.o.BackstopEvery, s.findRains)
	repeat("heads", &s.counts.heads, headsEvery, s.logHeads)
	repeat("audit", &s.counts.audit, auditPoll, s.auditIfDue)
	repeat("sample", &s.counts.sample, sampleEvery, s.sample)
	if s.o.Fundings != nil {
		repeat("fundings", &s.counts.fundings, fundingEvery, s.reverseFundings)
	}
	for _, engine := range s.clockEngines() {
		tasks.Go(func() { s.watchClocks(ctx, engine) })
	}
	tasks.Wait()
	s.background.stop()
	s.recordTask("heads", &s.counts.heads, s.logHeads(context.WithoutCancel(ctx))) // after the last write of this service
	return nil
}

// every calls f at once and then at each tick, until ctx is done.
func every(ctx context.Context, d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for ctx.Err() == nil {
		f()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// taskFailures counts the failures of one background task, and holds whether its last run failed.
type taskFailures struct {
	failures atomic.Int64
	failing  atomic.Bool
}

// recordTask records the result of one run of a background task. It logs a warning for the first of several failures in a
// row, and the first success after them. It logs further failures only at debug level, so that an outage does not fill the
// log.
func (s *Service) recordTask(task string, t *taskFailures, err error) {
	switch failed := t.failing.Swap(err != nil); {
	case err != nil && !failed:
		s.o.Log.Warn("background task fails, and is tried again", "task", task, "err", err)
	case err != nil:
		s.o.Log.Debug("background task still fails", "task", task, "err", err)
	case failed:
		s.o.Log.Info("background task works again", "task", task)
	}
	if err != nil {
		t.failures.Add(1)
	}
}

// detachedTimeout bounds work in the background that no caller's context bounds, such as one close or one ack.
const detachedTimeout = 10 * time.Second

// paid implements observer.
func (s *Service) paid(ctx context.Context, c Claim, settled Settlement) {
	cause := trace.From(ctx)
	s.wallets.publish(c.User, WalletChanged{Account: settled.Account, Change: settled.Amount, Kind: TransferClaim, Packet: c.ID, Cause: cause})
	if known := s.memory.get(c.ID); known != nil && !c.IsDraw() { // the end of a draw tells all its winners at once
		known.stall.succeeded()
		s.progress.add(known, takenBy(c, known.packet.Hold), c.User, cause)
	}
}

// takenBy returns how many shares are taken at least. While some are held for users, a share says nothing about how many are taken.
func takenBy(c Claim, h Hold) int {
	if c.Taken == 0 && len(h.For) == 0 {
		return c.Share + 1
	}
	return max(c.Taken, 1)
}

// unsettled implements observer. While the ledger is out of reach, the failure says nothing about the packet.
func (s *Service) unsettled(c Claim) {
	if known := s.memory.get(c.ID); known != nil && s.ledger.OutOfReach() == nil {
		known.stall.failed()
	}
}

// quarantined implements observer.
func (s *Service) quarantined(c Claim, why string) {
	name := fmt.Sprintf("%s/%d/%s", c.ID, c.Share, c.User)
	if s.inQuarantine.has(name) { // counted and logged before: for example, the user has grabbed again
		return
	}
	s.inQuarantine.add(name)
	s.counts.quarantined.Add(1)
	s.o.Log.Error("claim quarantined: it can never be paid, see table quarantine", "packet", c.ID, "share", c.Share, "why", why)
}

// endFailed implements observer. Nobody knows the room of a packet that is not cached; the hub compares all rooms each minute.
func (s *Service) endFailed(packet string, err error) {
	if k := s.memory.get(packet); k != nil {
		s.rooms.NoteOutcome(k.packet.Room, err)
	}
}

// closed implements observer. It caches the final state. It must not be called before packet_done is committed.
func (s *Service) closed(c Closed) {
	s.memory.finish(c.Book)
	s.progress.end(c.Book.Packet.ID)
	s.rains.ended(c.Book.Packet.ID)
	if !c.Done {
		return
	}
	for _, p := range c.Inserted {
		s.wallets.publish(p.User.ID, WalletChanged{Account: c.Accounts[p.User.ID], Change: p.Amount, Kind: TransferClaim, Packet: c.Book.Packet.ID})
	}
	if from := c.Book.Packet.From.ID; c.Book.Refunded > 0 {
		s.wallets.publish(from, WalletChanged{Account: c.Accounts[from], Change: c.Book.Refunded, Kind: TransferRefund, Packet: c.Book.Packet.ID})
	}
	s.pub.Entry(c.Entry)
}

// background runs the goroutines that close packets, read how packets ended, or ack claims. Once stop has returned, no such
// goroutine runs or can be started. A grab may still be running then, because it outlives its client. If this grab leaves
// a packet to be closed, the due date in the Pool makes another instance close that packet.
type background struct {
	mu      sync.Mutex
	stopped bool // guarded by mu
	running sync.WaitGroup
}

// start runs f in a goroutine. It reports false, and does not run f, after stop.
func (b *background) start(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		b.running.Go(f)
	}
	return !b.stopped
}

// stopping reports whether stop was called. A goroutine with many steps checks it and ends after its current step.
func (b *background) stopping() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// stop blocks until all goroutines that were started have ended.
func (b *background) stop() {
	b.mu.Lock()
	b.stopped = true
	b.mu.Unlock()
	b.running.Wait()
}

// acks passes claims to Pool.Ack on a background goroutine. Claims that are added during one call of the Pool go together in its
// next call. Claims that are lost when the process dies stay in the outbox, where recovery finds them.
type acks struct {
	pool       Pool
	background *background

	mu      sync.Mutex
	waiting []Claim // guarded by mu
	busy    bool    // guarded by mu; a goroutine acks until none is waiting
}

// maxAcks is the number of waiting claims from which on add calls the Pool itself.
const maxAcks = 10_000

// add acks the claims soon. It blocks only if too many wait or the service has stopped. A claim whose ack fails stays in the outbox.
func (a *acks) add(ctx context.Context, claims []Claim) {
	if !a.take(claims) {
		_ = a.pool.Ack(ctx, claims)
	}
}

// take lets the claims wait. It reports false if the caller must ack them itself.
func (a *acks) take(claims []Claim) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) >= maxAcks || !a.busy && !a.background.start(a.run) {
		return false
	}
	a.busy, a.waiting = true, append(a.waiting, claims...)
	return true
}

func (a *acks) run() {
	for claims := a.next(); claims != nil; claims = a.next() {
		ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
		_ = a.pool.Ack(ctx, claims)
		cancel()
	}
}

// next returns the waiting claims, or nil when there are none.
func (a *acks) next() (claims []Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	claims, a.waiting = a.waiting, nil
	a.busy = claims != nil
	return claims
}

package redpacket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight" // the settled way to let many askers share one answer

	"hongbao/chat"
)

// Rooms is what the service must know of rooms; chat.Service is it.
type Rooms interface {
	Standing(ctx context.Context, room, user string) (chat.Standing, error)
}

// Limits of packets; zero fields take the defaults.
type Limits struct {
	MaxTotal      Money
	MaxCount      int
	MinTTL        time.Duration
	MaxTTL        time.Duration
	DefaultTTL    time.Duration
	GreetingChars int

	To              int // that a packet may name
	PassphraseChars int
}

// Options of a Service; the zero value works, without passphrases.
type Options struct {
	Now           func() time.Time
	NewID         func(time.Time) string
	Limits        Limits
	Log           *slog.Logger
	Limiter       chat.Limiter  // shared by all instances, for progress; nil: there is only this one
	Tries         chat.Limiter  // of all instances, for guesses at passphrases; required for packets that have one
	PendingAfter  time.Duration // when who was granted a share hears that it is not committed yet; default 1 s
	MemoryBytes   int           // for packets remembered; default 64 MiB
	SweepEvery    time.Duration // default 200 ms
	RecoverEvery  time.Duration // default 1 s
	BackstopEvery time.Duration // default 3 s
}

// Service is everything that people do with red packets. It publishes only what has been committed.
type Service struct {
	// static after New
	flow   *flow
	ledger Ledger
	pool   Pool
	rooms  Rooms
	pub    chat.Publisher
	o      Options

	memory   *memory
	wallets  *wallets
	unknown  recent // ids that no packet has: one that is asked for again stays unknown, so guessing does not reach SQL
	tries    tries
	progress progress
	closing  singleflight.Group // one close per packet and instance
	closers  closers
	counts   counts
}

// counts of what happened in this process.
type counts struct {
	won, already, empty, expired atomic.Int64
	pending, failed              atomic.Int64
	swept                        atomic.Int64

	sweep, close, backstop, recover trouble
}

// New makes a service over a ledger and a pool.
func New(ledger Ledger, pool Pool, rooms Rooms, pub chat.Publisher, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = chat.NewID
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	o.PendingAfter = cmp.Or(o.PendingAfter, time.Second)
	o.MemoryBytes = cmp.Or(o.MemoryBytes, 64<<20)
	o.SweepEvery = cmp.Or(o.SweepEvery, 200*time.Millisecond)
	o.RecoverEvery = cmp.Or(o.RecoverEvery, time.Second)
	o.BackstopEvery = cmp.Or(o.BackstopEvery, 3*time.Second)
	o.Limits = o.Limits.withDefaults()

	s := &Service{ledger: ledger, pool: pool, rooms: rooms, pub: pub, o: o, memory: newMemory(o.MemoryBytes), wallets: newWallets(ledger, pub)}
	s.tries.limiter = o.Tries
	s.progress = progress{pub: pub, limiter: o.Limiter, packets: map[string]*tally{}}
	s.flow = &flow{pool: &laterAcks{Pool: pool, closers: &s.closers}, ledger: newSharedImages(ledger), now: o.Now, newID: o.NewID, witness: s}
	return s
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxTotal:      cmp.Or(l.MaxTotal, 20_000_000),
		MaxCount:      cmp.Or(l.MaxCount, 10_000),
		MinTTL:        cmp.Or(l.MinTTL, 5*time.Second),
		MaxTTL:        cmp.Or(l.MaxTTL, 7*24*time.Hour),
		DefaultTTL:    cmp.Or(l.DefaultTTL, 24*time.Hour),
		GreetingChars: cmp.Or(l.GreetingChars, 60),

		To:              cmp.Or(l.To, 200),
		PassphraseChars: cmp.Or(l.PassphraseChars, 32),
	}
}

// Limits in force.
func (s *Service) Limits() Limits { return s.o.Limits }

// Stats is what happened in this process so far.
type Stats struct {
	Won, Already, Empty, Expired, Failed                                   int64 // grabs by outcome
	Pending                                                                int64 // of these, who heard so meanwhile
	Swept, SweepFailures, CloseFailures, BackstopFailures, RecoverFailures int64
	Remembered                                                             int // bytes
}

// Stats counts.
func (s *Service) Stats() Stats {
	c := &s.counts
	return Stats{
		Won: c.won.Load(), Already: c.already.Load(), Empty: c.empty.Load(), Expired: c.expired.Load(), Failed: c.failed.Load(),
		Pending: c.pending.Load(),
		Swept:   c.swept.Load(), SweepFailures: c.sweep.failures.Load(), CloseFailures: c.close.failures.Load(),
		BackstopFailures: c.backstop.failures.Load(), RecoverFailures: c.recover.failures.Load(),
		Remembered: s.memory.bytes(),
	}
}

// Run drives the background tasks until ctx is done, and returns when all they started has ended. After that no
// packet is closed by this service any more.
func (s *Service) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	tasks.Go(func() { every(ctx, s.o.SweepEvery, func() { s.sweep(ctx) }) })
	tasks.Go(func() {
		every(ctx, s.o.RecoverEvery, func() { s.note("recovery", &s.counts.recover, s.flow.recover(ctx)) })
	})
	tasks.Go(func() {
		every(ctx, s.o.BackstopEvery, func() {
			s.note("backstop", &s.counts.backstop, s.flow.backstop(ctx, s.closeSoon))
		})
	})
	tasks.Wait()
	s.closers.stop()
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

// trouble is how often a background task has failed, and whether it did the last time.
type trouble struct {
	failures atomic.Int64
	lasts    atomic.Bool
}

// note counts the failures of a background task, which the next tick tries again, and logs the first of a row and its end:
// an outage is no reason to fill the log.
func (s *Service) note(task string, t *trouble, err error) {
	switch lasted := t.lasts.Swap(err != nil); {
	case err != nil && !lasted:
		s.o.Log.Warn("background task fails, and is tried again", "task", task, "err", err)
	case err != nil:
		s.o.Log.Debug("background task still fails", "task", task, "err", err)
	case lasted:
		s.o.Log.Info("background task works again", "task", task)
	}
	if err != nil {
		t.failures.Add(1)
	}
}

// sweep closes the packets whose time has come, several at once so that one hanging close holds up nobody.
func (s *Service) sweep(ctx context.Context) {
	due, err := s.pool.Due(ctx, pageOfWork)
	s.note("sweep", &s.counts.sweep, err)
	for _, p := range due {
		s.counts.swept.Add(1)
		s.closeSoon(p)
	}
}

// closeSoon closes the packet in the background. Failing is no loss: its due date brings it back.
func (s *Service) closeSoon(p Ref) {
	s.closers.start(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err := s.closeOne(ctx, p)
		if err != nil {
			err = fmt.Errorf("packet %s: %w", p.ID, err)
		}
		s.note("close", &s.counts.close, err)
	})
}

func (s *Service) closeOne(ctx context.Context, p Ref) error {
	_, err, _ := s.closing.Do(p.ID, func() (any, error) {
		_, err := s.flow.close(ctx, p, false)
		return nil, err
	})
	if errors.Is(err, errNotDue) {
		return nil // its deadline brings it back
	}
	return err
}

// patience is how long money on its way is waited for, whatever becomes of the asker.
const patience = 10 * time.Second

// paid implements witness.
func (s *Service) paid(c Claim, settled Settlement) {
	s.wallets.tell(c.User, WalletChanged{Account: settled.Account, Change: settled.Amount, Kind: TransferClaim, Packet: c.ID}, "")
	if known := s.memory.get(c.ID); known != nil {
		s.progress.note(known, settled.Share+1, c.User)
	}
}

// closed implements witness. The end is remembered only now, when packet_done is committed.
func (s *Service) closed(c Closed) {
	s.memory.finish(c.Book)
	s.progress.end(c.Book.Packet.ID)
	if !c.Done {
		return
	}
	for _, p := range c.Inserted {
		s.wallets.tell(p.User.ID, WalletChanged{Account: c.Accounts[p.User.ID], Change: p.Amount, Kind: TransferClaim, Packet: c.Book.Packet.ID}, "")
	}
	if from := c.Book.Packet.From.ID; c.Book.Refunded > 0 {
		s.wallets.tell(from, WalletChanged{Account: c.Accounts[from], Change: c.Book.Refunded, Kind: TransferRefund, Packet: c.Book.Packet.ID}, "")
	}
	s.pub.Entry(c.Entry)
}

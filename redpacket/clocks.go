package redpacket

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

// The instance that sends a packet sets its deadline. The Pool and every instance compare the deadline with their own
// clocks. So a packet ends early or late by as much as these clocks differ. The Ledger's clock decides only when the window of a draw
// ends, so the instance that sends a draw counts the window from that clock as it was measured last.
const (
	// clockWarning is the difference between two clocks, less its uncertainty, above which a warning is logged.
	clockWarning = 500 * time.Millisecond
	// clockBound is the difference, less its uncertainty, above which this instance sends, grabs and closes no packet.
	clockBound = 5 * time.Second
	// clockTimeout bounds one measurement of one engine.
	clockTimeout = 5 * time.Second
	// clockRetry is the pause after a measurement that failed. It is also the pause while the clocks differ by more
	// than clockBound.
	clockRetry = time.Second
	// ownClock names the clock of this process.
	ownClock = "this instance"
)

// ClockDifference is the difference between the clock of an engine and the clock of the caller.
type ClockDifference struct {
	Clock string        // its name for operators, such as "Redis at 10.0.0.5:6379"
	Ahead time.Duration // how far the engine's clock is ahead of the caller's; negative: behind
	// Uncertainty is half of the round trip of the reading. The true difference lies between Ahead - Uncertainty and
	// Ahead + Uncertainty.
	Uncertainty time.Duration
}

// clockReads is how often a clock is read for one comparison. The reading with the shortest round trip counts.
const clockReads = 3

// CompareClock compares an engine's clock, which read returns, with the caller's clock, which now returns. An engine
// calls it once for each of its clocks.
func CompareClock(clock string, now func() time.Time, read func() (time.Time, error)) (ClockDifference, error) {
	best := ClockDifference{Clock: clock}
	for i := range clockReads {
		before := now()
		there, err := read()
		if err != nil {
			return ClockDifference{}, err
		}
		half := now().Sub(before) / 2
		if i == 0 || half < best.Uncertainty {
			best.Ahead, best.Uncertainty = there.Sub(before.Add(half)), half
		}
	}
	return best, nil
}

// clocks holds the latest measurement of all engines' clocks, and whether two clocks differ by more than clockBound.
// It is safe for concurrent use.
type clocks struct {
	apart atomic.Pointer[ClocksApartError] // nil unless the clocks differ by more than clockBound

	mu     sync.Mutex
	pool   []ClockDifference // guarded by mu; the last measurement in which at least one of the Pool's clocks was read
	ledger []ClockDifference // guarded by mu; the last measurement of the Ledger's clock
	state  clockState        // guarded by mu; the state that was logged last
	known  bool              // guarded by mu; the Ledger's clock was measured, or it has none of its own
}

// clockState says how well the clocks agree.
type clockState int

const (
	clocksAgree clockState = iota
	clocksDiffer
	clocksTooFar
)

// ClocksApartError names the two clocks that differ most. It wraps chat.ErrUnavailable.
type ClocksApartError struct {
	Ahead, Behind string // names of the clocks
	Difference    time.Duration
	Uncertainty   time.Duration
}

func (e *ClocksApartError) Error() string {
	return fmt.Sprintf("the clock of %s is %v ahead of the clock of %s (measured to within %v); at most %v are allowed: synchronise both machines by NTP",
		e.Ahead, e.Difference.Round(time.Millisecond), e.Behind, e.Uncertainty.Round(time.Microsecond), clockBound)
}

func (e *ClocksApartError) Unwrap() error { return chat.ErrUnavailable }

// certain returns the least difference that is possible: the measured difference minus its uncertainty.
func (e *ClocksApartError) certain() time.Duration { return e.Difference - e.Uncertainty }

// err returns an error while the clocks are known to be too far apart: this instance may not send, grab or close a packet
// then. Otherwise it returns nil, also if no clock was measured yet.
func (c *clocks) err() error {
	if apart := c.apart.Load(); apart != nil {
		return apart
	}
	return nil
}

// ledgerAhead returns how far the Ledger's clock was ahead of this instance's when it was measured last; 0 if it was not.
func (c *clocks) ledgerAhead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ledger) == 0 {
		return 0
	}
	return c.ledger[0].Ahead
}

// ledgerTime returns a time that is not after the Ledger's clock. It returns zero if that clock was not measured yet.
func (s *Service) ledgerTime() time.Time {
	c := &s.clocks
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.known:
		return time.Time{}
	case len(c.ledger) == 0:
		return s.o.Now()
	}
	return s.o.Now().Add(c.ledger[0].Ahead - c.ledger[0].Uncertainty)
}

// widest returns the two clocks whose certain difference is the largest. The clock of this process is compared as well.
// widest returns nil if nothing was measured.
func widest(measured []ClockDifference) (most *ClocksApartError) {
	all := append([]ClockDifference{{Clock: ownClock}}, measured...)
	for i, one := range all {
		for _, other := range all[:i] {
			a, b := one, other
			if a.Ahead < b.Ahead {
				a, b = b, a
			}
			pair := &ClocksApartError{Ahead: a.Clock, Behind: b.Clock, Difference: a.Ahead - b.Ahead, Uncertainty: a.Uncertainty + b.Uncertainty}
			if most == nil || pair.certain() > most.certain() {
				most = pair
			}
		}
	}
	return most
}

// learn stores the measurement of one engine. It returns the two clocks that differ most, and the state of all clocks
// before and after this measurement.
func (c *clocks) learn(engine *[]ClockDifference, measured []ClockDifference) (most *ClocksApartError, before, now clockState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*engine = measured
	c.known = c.known || engine == &c.ledger
	most = widest(append(append([]ClockDifference{}, c.pool...), c.ledger...))
	switch {
	case most == nil || most.certain() <= clockWarning:
		now = clocksAgree
	case most.certain() <= clockBound:
		now = clocksDiffer
	default:
		now = clocksTooFar
	}
	if now == clocksTooFar {
		c.apart.Store(most)
	} else {
		c.apart.Store(nil)
	}
	before, c.state = c.state, now
	return most, before, now
}

// Clocks returns the last measurement of each engine's clocks: how far each is ahead of the clock of this instance.
func (s *Service) Clocks() []ClockDifference {
	s.clocks.mu.Lock()
	defer s.clocks.mu.Unlock()
	return append(append([]ClockDifference{}, s.clocks.pool...), s.clocks.ledger...)
}

// ClocksErr returns an error while the clocks are known to be too far apart, so that no packet can be sent, grabbed or
// closed. Otherwise it returns nil.
func (s *Service) ClocksErr() error { return s.clocks.err() }

// CheckClocks measures all clocks once. Call it before Run. It returns an error if the clocks are too far apart. A clock
// that cannot be read causes no error: Run measures that clock again.
func (s *Service) CheckClocks(ctx context.Context) error {
	var both sync.WaitGroup
	for _, engine := range s.clockEngines() {
		both.Go(func() { _ = s.measure(ctx, engine) })
	}
	both.Wait()
	return s.clocks.err()
}

// clockEngine is one of the two engines whose clocks are measured.
type clockEngine struct {
	read func(ctx context.Context, now func() time.Time) ([]ClockDifference, error)
	kept *[]ClockDifference
}

func (s *Service) clockEngines() []clockEngine {
	return []clockEngine{{s.pool.Clocks, &s.clocks.pool}, {s.ledger.Clocks, &s.clocks.ledger}}
}

// watchClocks measures the clocks of one engine until ctx is done. Each engine has its own goroutine, so an engine
// that does not answer delays no other.
func (s *Service) watchClocks(ctx context.Context, engine clockEngine) {
	for ctx.Err() == nil {
		pause := s.o.ClocksEvery
		if err := s.measure(ctx, engine); err != nil || s.clocks.err() != nil {
			pause = min(pause, clockRetry)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// measure reads the clocks of one engine, stores the result, and logs a change of state. It returns an error if any of
// these clocks could not be read. If none could be read, the engine's last measurement is kept.
func (s *Service) measure(ctx context.Context, engine clockEngine) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	measured, err := engine.read(ctx, s.o.Now)
	if err != nil {
		s.o.Log.Debug("clock not measured", "err", err)
	}
	if err == nil || len(measured) > 0 {
		s.logClocks(s.clocks.learn(engine.kept, measured))
	}
	return err
}

// logClocks logs a change of state: the clocks begin to differ, differ too much, or agree again.
func (s *Service) logClocks(most *ClocksApartError, before, now clockState) {
	if before == now {
		return
	}
	level, text := slog.LevelInfo, "clocks agree again"
	switch now {
	case clocksDiffer:
		level, text = slog.LevelWarn, "clocks differ: packets may end early or late; synchronise the machines by NTP"
	case clocksTooFar:
		level, text = slog.LevelError, "clocks differ too much: packets are neither sent, grabbed nor closed until they agree; synchronise the machines by NTP"
	}
	if most == nil {
		s.o.Log.Log(context.Background(), level, text)
		return
	}
	s.o.Log.Log(context.Background(), level, text, "ahead", most.Ahead, "behind", most.Behind,
		"difference", most.Difference.String(), "uncertainty", most.Uncertainty.String(), "allowed", clockBound.String())
}

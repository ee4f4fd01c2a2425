package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// engineClock is the clock of an engine. A test can set it, or make a reading of it block.
type engineClock struct {
	name  string
	ahead atomic.Int64 // of the real time, in nanoseconds
	round time.Duration
	stuck bool
	reads atomic.Int64
}

func (c *engineClock) Clocks(ctx context.Context, _ func() time.Time) ([]redpacket.ClockDifference, error) {
	c.reads.Add(1)
	if c.stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []redpacket.ClockDifference{{Clock: c.name, Ahead: time.Duration(c.ahead.Load()), Uncertainty: c.round / 2}}, nil
}

func (c *engineClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// clockedPool and clockedLedger are engines whose clocks are engineClocks.
type clockedPool struct {
	redpacket.Pool
	*engineClock
}

func (p clockedPool) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	return p.engineClock.Clocks(ctx, now)
}

type clockedLedger struct {
	redpacket.Ledger
	*engineClock
}

func (l clockedLedger) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	return l.engineClock.Clocks(ctx, now)
}

// clockedService is a second Service over the engines of a testService. Here both engines have clocks that the test
// sets.
type clockedService struct {
	*testService
	packets   *redpacket.Service
	pool, sql engineClock
	log       lockedLog
}

// lockedLog holds log lines. It can be read while other goroutines write to it.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), s)
}

func newClockedService(t *testing.T, users ...string) *clockedService {
	c := &clockedService{testService: newTestService(t, users...)}
	c.pool.name, c.sql.name = "Redis at r:1", "Postgres at p:2"
	c.packets = redpacket.New(clockedLedger{c.store, &c.sql}, clockedPool{c.testService.pool, &c.pool}, c.rooms, c.published, redpacket.Options{
		Now: c.clock.now, Log: slog.New(slog.NewTextHandler(&c.log, nil)), ClocksEvery: 5 * time.Millisecond,
	})
	return c
}

// runClocked runs the service's background tasks until the test ends.
func (c *clockedService) runClocked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = c.packets.Run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
}

// waitUntil polls until the condition holds. If that takes too long, the test fails and names what was awaited.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); <-time.After(time.Millisecond) {
		if time.Since(began) > 60*time.Second {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

func mustBeUnavailable(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), "NTP") {
		t.Errorf("%s: %v, want unavailable", what, err)
	}
}

// TestCompareClock compares a clock whose readings have different round trips. The reading with the shortest round
// trip must count, and half of that round trip must be the uncertainty.
func TestCompareClock(t *testing.T) {
	here := time.UnixMilli(1_800_000_000_000)
	ways := []time.Duration{40 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond} // round trips; a reply takes no time
	read := func() (time.Time, error) {
		here, ways = here.Add(ways[0]), ways[1:]
		return here.Add(3 * time.Second), nil
	}
	got, err := redpacket.CompareClock("there", func() time.Time { return here }, read)
	want := redpacket.ClockDifference{Clock: "there", Ahead: 3*time.Second + 5*time.Millisecond, Uncertainty: 5 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if len(ways) > 0 {
		t.Errorf("%d readings left", len(ways))
	}
	broken := errors.New("broken")
	if _, err := redpacket.CompareClock("there", time.Now, func() (time.Time, error) { return time.Time{}, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestClocksTooFarApartPausePackets sets a clock beyond clockBound. Then nothing may be sent, grabbed, cancelled or
// closed, but repeated requests get their first results. When the clocks agree again, everything must work.
func TestClocksTooFarApartPausePackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockedService(t, "boss", "a", "b")
		c.credit(t, "boss", 1000)
		expiring := c.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 2, TTL: 5 * time.Second})
		open := c.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 2})
		finished := c.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 2})
		if _, _, err := c.packets.Cancel(t.Context(), "boss", finished.ID); err != nil {
			t.Fatal(err)
		}
		request := redpacket.SendRequest{Room: c.room, Key: "before", Total: 100, Count: 2}
		if _, err := c.packets.Send(t.Context(), person("boss"), request); err != nil {
			t.Fatal(err)
		}

		c.pool.set(-7 * time.Second)
		err := c.packets.CheckClocks(t.Context())
		mustBeUnavailable(t, "the first check", err)
		for _, word := range []string{"Redis at r:1", "this instance", "7s"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v does not contain %q", err, word)
			}
		}
		c.runClocked(t)
		waitUntil(t, "the clocks are measured again", func() bool { return c.pool.reads.Load() > 1 })
		_, err = c.packets.Grab(t.Context(), redpacket.GrabRequest{User: "a", Packet: open.ID})
		mustBeUnavailable(t, "a grab", err)
		again := request
		again.Key = "another"
		_, err = c.packets.Send(t.Context(), person("boss"), again)
		mustBeUnavailable(t, "a send", err)
		_, _, err = c.packets.Cancel(t.Context(), "boss", open.ID)
		mustBeUnavailable(t, "a cancel", err)
		if sent, err := c.packets.Send(t.Context(), person("boss"), request); err != nil || !sent.Dup {
			t.Errorf("a repeated send: %+v, %v", sent, err)
		}
		if r, err := c.packets.Grab(t.Context(), redpacket.GrabRequest{User: "a", Packet: finished.ID}); err != nil || r.Outcome != redpacket.OutcomeExpired {
			t.Errorf("a grab of a finished packet: %+v, %v", r, err)
		}
		c.clock.advance(10 * time.Second) // the deadline of one of the packets passes
		time.Sleep(500 * time.Millisecond)
		if i, err := c.store.Image(t.Context(), expiring.ID); err != nil || i.Status != redpacket.Open {
			t.Errorf("closed meanwhile: %+v, %v", i, err)
		}

		c.pool.set(0)
		waitUntil(t, "grabs go on", func() bool {
			r, err := c.packets.Grab(t.Context(), redpacket.GrabRequest{User: "a", Packet: open.ID})
			return err == nil && r.Outcome == redpacket.OutcomeWon
		})
		if _, err := c.packets.Send(t.Context(), person("boss"), again); err != nil {
			t.Error(err)
		}
		c.published.waitFor(t, "packet_done", packetDone(expiring))
		if err := c.packets.CheckClocks(t.Context()); err != nil {
			t.Error(err)
		}
		c.mustBalance(t)
	})
}

// TestClocksAreLoggedOnceAnEpisode lets the clocks differ twice, the second time beyond clockBound. Each change of
// state must be logged once.
func TestClocksAreLoggedOnceAnEpisode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockedService(t, "boss")
		c.runClocked(t)
		moves := func(ahead time.Duration, text string, times int) {
			t.Helper()
			c.sql.set(ahead)
			waitUntil(t, text, func() bool { return c.log.count(text) == times })
			for n := c.sql.reads.Load(); c.sql.reads.Load() < n+2; {
				time.Sleep(time.Millisecond)
			}
			if got := c.log.count(text); got != times {
				t.Errorf("%q was logged %d times, want %d", text, got, times)
			}
		}
		moves(-600*time.Millisecond, "clocks differ: packets may", 1)
		moves(0, "clocks agree again", 1)
		moves(4*time.Second, "clocks differ: packets may", 2)
		moves(6*time.Second, "clocks differ too much", 1)
		moves(0, "clocks agree again", 2)
		if n := c.log.count("level=ERROR"); n != 1 {
			t.Errorf("%d errors", n)
		}
	})
}

// TestStuckClockDelaysNothing blocks the reading of one engine's clock. Meanwhile the clock of the other engine must
// be measured, and packets must be closed.
func TestStuckClockDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClockedService(t, "boss")
		c.credit(t, "boss", 100)
		c.pool.stuck = true
		began := time.Now()
		c.runClocked(t)
		p := c.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 2, TTL: 5 * time.Second})
		c.clock.advance(5 * time.Second)
		c.published.waitFor(t, "packet_done", packetDone(p))
		c.sql.set(time.Minute)
		waitUntil(t, "the other clock is measured", func() bool { return c.packets.ClocksErr() != nil })
		if n := c.pool.reads.Load(); n < 1 || n > 1+int64(time.Since(began)/(5*time.Second)) { // given up after 5 s
			t.Errorf("the stuck clock was asked %d times", n)
		}
		if all := c.packets.Clocks(); len(all) != 1 || all[0].Clock != "Postgres at p:2" || all[0].Ahead != time.Minute {
			t.Errorf("%+v", all)
		}
	})
}

// TestClocksBoundIgnoresUncertainty checks that a difference counts only if it exceeds clockBound by more than the
// error of measurement. The clocks of the two engines must be compared with each other, too.
func TestClocksBoundIgnoresUncertainty(t *testing.T) {
	for _, test := range []struct {
		pool, sql, round time.Duration
		want             string // in the error; "": no error
	}{
		{pool: 5100 * time.Millisecond, round: 300 * time.Millisecond},
		{pool: 5100 * time.Millisecond, round: 100 * time.Millisecond, want: "Redis at r:1 is 5.1s ahead of the clock of this instance"},
		{sql: -5100 * time.Millisecond, round: 100 * time.Millisecond, want: "this instance is 5.1s ahead of the clock of Postgres at p:2"},
		{pool: 3 * time.Second, sql: -3 * time.Second, round: 100 * time.Millisecond, want: "Redis at r:1 is 6s ahead of the clock of Postgres at p:2"},
		{pool: 3 * time.Second, sql: -3 * time.Second, round: 1100 * time.Millisecond},
	} {
		c := newClockedService(t, "boss")
		c.pool.set(test.pool)
		c.sql.set(test.sql)
		c.pool.round, c.sql.round = test.round, test.round
		err := c.packets.CheckClocks(t.Context())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/flaws"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/store/loopback"
)

// contest runs one scheme, in the comparison or in a match of the subcommand engines.
type contest struct {
	*compare

	scheme  schemes.Named
	servers *servers
}

// outcomes returns the outcome of the scheme. A scheme that jams also gets a second outcome, with packets that it can
// finish.
func (c contest) outcomes(ctx context.Context, w workload) ([]Outcome, error) {
	o, err := c.outcome(ctx, w)
	if err != nil || c.scheme.Name != jams || w.shares <= jamless || o.Won == w.packets*w.shares {
		return []Outcome{o}, err
	}
	o.Note = "jams; below: packets that it can serve"
	can := w
	can.name, can.packets, can.shares, can.grabbers, can.mean = "small", min(2000, max(1, w.packets*w.shares/jamless)), jamless, jamless, 200_000_000
	small, _, err := c.race(ctx, can)
	small.Scheme = fmt.Sprintf("%s, packets of %d", jams, jamless)
	small.Note = fmt.Sprintf("%d packets with more money: %s in total", can.packets, yuan(can.mean*int64(can.packets*can.shares)))
	return []Outcome{o, small}, err
}

// jams names the scheme that does not finish a packet of many shares. It does finish packets of jamless shares with
// much money.
const (
	jams    = "lua-split"
	jamless = 10
)

// outcome runs the workload and checks its result. If the scheme stores its grabs, outcome also makes the checks of a kill and
// of refunds, and measures the mean share of each rank.
func (c contest) outcome(ctx context.Context, w workload) (Outcome, error) {
	o, stores, err := c.race(ctx, w)
	if err != nil {
		return o, err
	}
	if !stores {
		return o, nil
	}
	for _, observe := range []func(context.Context) (Check, error){c.killed, c.refunded} {
		check, err := observe(ctx)
		if err != nil {
			return o, err
		}
		o.Verdicts = append(o.Verdicts, check)
		if err := c.servers.release(); err != nil {
			return o, err
		}
	}
	o.MeanByPlace, err = c.places(ctx)
	return o, errors.Join(err, c.servers.release())
}

// begin starts the scheme over an empty Redis and a new database, and opens the packets of a workload.
func (c contest) begin(ctx context.Context, w workload) (*schemes.Instance, schemes.Engines, []schemes.Packet, error) {
	packets, err := w.all()
	if err != nil {
		return nil, schemes.Engines{}, nil, err
	}
	e, err := c.servers.fresh(ctx)
	if err != nil {
		return nil, e, nil, err
	}
	process, err := c.scheme.Start(ctx, e)
	if err != nil {
		return nil, e, nil, err
	}
	if err := each(ctx, packets, process.Open); err != nil {
		return nil, e, nil, errors.Join(err, process.Stop())
	}
	return process, e, packets, nil
}

// race opens the packets of a workload and calls run. stores reports whether the scheme stores its grabs.
func (c contest) race(ctx context.Context, w workload) (o Outcome, stores bool, err error) {
	process, _, packets, err := c.begin(ctx, w)
	if err != nil {
		return o, false, err
	}
	return c.run(ctx, w, process, packets)
}

// run makes the grabs until none is left or the budget is used up. It waits until the scheme has stored them, for at most half
// of the budget. It reads and checks the books, and stops the scheme.
func (c contest) run(ctx context.Context, w workload, process *schemes.Instance, packets []schemes.Packet) (o Outcome, stores bool, err error) {
	defer func() { err = errors.Join(err, process.Stop(), c.servers.release()) }()
	t := newTally(w)
	stopLog := c.logProgress(t)
	err = t.play(ctx, process, c.budget)
	stopLog()
	if err != nil {
		return o, false, err
	}
	o = t.outcome(c.scheme)
	c.say("%s: %d of %d grabs made, %d won, %.0f/s", c.scheme.Name, o.Grabs, len(t.attempts), o.Won, o.GrabsPerSecond)
	b, waited, err := t.caughtUp(ctx, process, c.budget/2)
	if err != nil {
		return o, false, err
	}
	if b != nil && b.grabs() < o.Won { // perhaps the scheme was still storing: stop it, and read the books again
		if err := process.Stop(); err != nil {
			return o, false, err
		}
		if b, err = readBooks(ctx, process, w); err != nil {
			return o, false, err
		}
	}
	o.Verdicts = []Check{t.money(packets, b), t.twice(b)}
	if b != nil {
		o.Verdicts = append(o.Verdicts, t.stored(b, waited))
	}
	o.Verdicts = append(o.Verdicts, t.refused())
	return o, b != nil, nil
}

// stored checks that the books have every acknowledged grab. waited is how long the storing took.
func (t *tally) stored(b books, waited time.Duration) Check {
	if lost := t.lost(b); lost > 0 {
		return Check{Name: checkStored, Detail: fmt.Sprintf("%d of %d acknowledged grabs are not stored %.1f s after the last grab: lost or still queued", lost, len(t.acknowledged()), waited.Seconds())}
	}
	detail := "before the answer"
	if waited > 200*time.Millisecond {
		detail = fmt.Sprintf("within %.1f s of the last grab", waited.Seconds())
	}
	return Check{Name: checkStored, Held: true, Detail: detail}
}

// logProgress logs the number of grabs from time to time, until the returned function is called.
func (c contest) logProgress(t *tally) (stop func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.say("%s: %d of %d", c.scheme.Name, t.begun.Load(), len(t.attempts))
			case <-over:
				return
			}
		}
	}()
	return func() { close(over); <-gone }
}

// places returns the mean share of each rank.
func (c contest) places(ctx context.Context) ([]float64, error) {
	w := c.few("place", 10, 1000)
	w.packets = c.placePackets
	packets, err := w.all()
	if err != nil {
		return nil, err
	}
	e, err := c.servers.fresh(ctx)
	if err != nil {
		return nil, err
	}
	process, err := c.scheme.Start(ctx, e)
	if err != nil {
		return nil, err
	}
	means, err := flaws.MeanByPlace(ctx, process, packets)
	return means, errors.Join(err, process.Stop())
}

// few returns a workload of one packet, with the callers and the seed of the comparison.
func (c contest) few(name string, shares int, mean int64) workload {
	return workload{name: name, callers: c.callers, packets: 1, shares: shares, grabbers: shares, mean: mean, seed: c.seed, ttl: time.Hour}
}

// killed kills the process in the middle of the grabs, and starts another one on the same Redis and Postgres. It checks that
// every grab that was acknowledged before the kill is stored. The packets are small enough for every scheme.
func (c contest) killed(ctx context.Context) (check Check, err error) {
	w := c.few("kill", 8, 250_000_000)
	w.packets = 40
	process, e, _, err := c.begin(ctx, w)
	if err != nil {
		return check, err
	}
	t := newTally(w)
	half := len(t.attempts) / 2
	dying, stop := context.WithCancel(ctx)
	defer stop()
	var died time.Time
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C { // until half of the grabs have begun, or play has returned
			if int(t.begun.Load()) >= half || dying.Err() != nil {
				tick.Stop()
				died = time.Now()
				process.Kill()
				stop()
				return
			}
		}
	}()
	if err := t.play(dying, process, c.budget/2); err != nil && ctx.Err() != nil {
		return check, err
	}
	stop()
	<-gone
	for i := range t.responses {
		t.responses[i].closed = t.responses[i].at.After(died) // an answer after the kill has reached no user
	}
	e, err = c.servers.twin(ctx, e)
	if err != nil {
		return check, err
	}
	next, err := c.scheme.Start(ctx, e)
	if err != nil {
		return check, err
	}
	b, _, err := t.caughtUp(ctx, next, c.late+time.Second)
	acknowledged := len(t.acknowledged())
	check = Check{Name: checkKill, Held: true, Detail: fmt.Sprintf("%d were acknowledged before, all are stored", acknowledged)}
	if lost := t.lost(b); lost > 0 {
		check.Held, check.Detail = false, fmt.Sprintf("%d were acknowledged before, %d of them have nothing", acknowledged, lost)
	}
	return check, errors.Join(err, next.Stop())
}

// refunded opens packets of five shares, lets users grab three shares of each, and checks the refunds after the deadline.
func (c contest) refunded(ctx context.Context) (check Check, err error) {
	w := c.few("refund", 5, 250_000_000)
	w.packets, w.ttl, w.grabbers = 6, c.limit, 3
	process, _, packets, err := c.begin(ctx, w)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, process.Stop()) }()
	deadline := time.Now().Add(c.limit)
	if err := newTally(w).play(ctx, process, c.limit/2); err != nil {
		return check, err
	}
	var should, refunded, left int64
	for late := deadline.Add(c.late); ; {
		b, err := readBooks(ctx, process, w)
		if err != nil {
			return check, err
		}
		should, refunded, left = refunds(packets, b)
		if left == 0 && time.Now().After(deadline) || time.Now().After(late) {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return check, ctx.Err()
		}
	}
	check = Check{Name: checkRefund, Held: left == 0 && refunded == should, Detail: fmt.Sprintf("to be refunded %s, refunded %s", yuan(should), yuan(refunded))}
	if refunded == 0 {
		check.Detail = fmt.Sprintf("%v after the deadline nothing of %s is refunded", c.late, yuan(should))
	}
	return check, nil
}

// refunds returns sums over all packets: the refunds that are due, the refunds that were made, and the money that is
// neither paid nor refunded.
func refunds(packets []schemes.Packet, b books) (should, refunded, left int64) {
	for n, p := range packets {
		should += p.Total()
		for _, paid := range b[n].Paid {
			should -= paid.Amount
		}
		refunded += b[n].Refunded
		left += b[n].Left
	}
	return should, refunded, left
}

// yuan formats an amount with two decimal places.
func yuan(amount int64) string { return fmt.Sprintf("%d.%02d", amount/100, amount%100) }

// servers are the Redis and the Postgres on which all schemes run, one after the other.
type servers struct {
	redis       *loopback.Redis
	postgres    *loopback.Postgres
	connections int // to Postgres
	callers     int // that use one client of Redis at the same time, as the subcommand engines sets it; 0 in compare
	lent        []func() error
}

// startServers starts a private Redis and Postgres.
func startServers(ctx context.Context, s *testbed, connections int) (*servers, error) {
	r, err := s.redis(ctx)
	if err != nil {
		return nil, err
	}
	pg, err := s.postgres(ctx)
	return &servers{redis: r, postgres: pg, connections: connections}, err
}

// cpuTime returns the CPU time that this process, Redis and Postgres have used so far; 0 if the system does not tell. Redis is
// counted as a child of this process.
func (s *servers) cpuTime() time.Duration { return cpuTime(os.Getpid(), s.postgres.PID()) }

// fresh returns connections to a Redis that was just emptied, and to a new database with the empty tables of the schemes.
func (s *servers) fresh(ctx context.Context) (schemes.Engines, error) {
	database, err := s.postgres.NewDatabase(ctx)
	if err != nil {
		return schemes.Engines{}, err
	}
	e, err := s.connect(ctx, database)
	if err == nil {
		err = errors.Join(e.Redis.FlushDB(ctx).Err(), e.DB.MakeTables(ctx))
	}
	return e, err
}

// twin returns connections to the same Redis and database, as another process of the scheme would have.
func (s *servers) twin(ctx context.Context, e schemes.Engines) (schemes.Engines, error) {
	return s.connect(ctx, e.DB.URL())
}

func (s *servers) connect(ctx context.Context, database string) (schemes.Engines, error) {
	c, err := s.client()
	if err != nil {
		return schemes.Engines{}, err
	}
	s.lent = append(s.lent, c.Close)
	db, err := schemes.Connect(ctx, database, s.connections)
	if err != nil {
		return schemes.Engines{}, err
	}
	s.lent = append(s.lent, db.Close)
	return schemes.Engines{Redis: c, RedisURL: s.redis.URL(), DB: db}, nil
}

func (s *servers) client() (*redis.Client, error) {
	o, err := redis.ParseURL(s.redis.URL())
	if err != nil {
		return nil, err
	}
	o.PoolSize = max(s.connections, s.callers) + 4 // for subscriptions and blocking calls
	return redis.NewClient(o), nil
}

// release closes all connections that fresh and twin have returned.
func (s *servers) release() (failed error) {
	for _, end := range s.lent {
		failed = errors.Join(failed, end())
	}
	s.lent = nil
	return failed
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/flaws"
	"hongbao/cmd/hongbao-bench/schemes"
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

package load

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Tell tells a person something beside the results.
type Tell func(format string, args ...any)

// scenario is what users do.
type scenario interface {
	// prepare makes rooms and what else there must be, and puts the users into them.
	prepare(ctx context.Context, c *crew) error
	// play is the load itself. It returns when the last request is said; answers may be on their way.
	play(ctx context.Context, c *crew) error
}

func (p Plan) scenario() (scenario, error) {
	switch p.Scenario {
	case "grab":
		return grab{}, nil
	case "chat":
		return chat{}, nil
	case "idle":
		return idle{}, nil
	case "storm":
		return storm{}, nil
	}
	return nil, fmt.Errorf("there is no scenario %q", p.Scenario)
}

// Run plays a plan. An error is that it could not be played to its end; what did not hold is in the result.
func Run(ctx context.Context, t *Target, p Plan, tell Tell) (Result, error) {
	s, err := p.scenario()
	if err != nil {
		return Result{}, err
	}
	c, err := assemble(t, p)
	if err != nil {
		return Result{}, err
	}
	defer c.dismiss()
	tell("%s: %d users are being made ready", p.Scenario, p.Users)
	if err := s.prepare(ctx, c); err != nil {
		return Result{}, fmt.Errorf("make ready: %w", err)
	}
	m := newMeter(t.Processes)
	watching, stop := context.WithCancel(ctx)
	var told []Moment
	var watch sync.WaitGroup
	watch.Go(func() { told = c.watch(watching, tell) })
	r, err := c.perform(ctx, s, m)
	stop()
	watch.Wait()
	if err != nil {
		return Result{}, err
	}
	c.dismiss() // who checks journals wants nobody to write in them
	if err := c.verify(ctx); err != nil {
		return Result{}, fmt.Errorf("check: %w", err)
	}
	r.Timeline, r.Checks = told, c.checks.all()
	return r, nil
}

// stillBusy is how long a server has things to do for those who have just come.
const stillBusy = 1500 * time.Millisecond

// perform has everybody come, measures what is played until all is answered, and waits until all is heard.
func (c *crew) perform(ctx context.Context, s scenario, m *meter) (Result, error) {
	if err := c.come(ctx); err != nil {
		return Result{}, err
	}
	came := seen([]*series{c.board.come}, max(c.plan.Ramp, time.Millisecond), (*series).all)
	pause(ctx, min(c.plan.Ramp/4, stillBusy))
	c.board.begin()
	m.begin()
	began := time.Now()
	if err := c.target.around(c.plan, func() error { return s.play(ctx, c) }); err != nil {
		return Result{}, err
	}
	c.settle(ctx)
	took := time.Since(began)
	parts := m.end()
	operation, n := c.operations(took)
	for i := range parts {
		parts[i].each(n, took)
	}
	r := Result{
		Plan: c.plan, Seconds: took.Seconds(), Lost: c.board.lost.Load(), Resent: c.board.resent.Load(),
		Series:    append(came, seen(c.board.series(), took, (*series).all)...),
		Operation: operation, Parts: parts, Bottleneck: bottleneck(parts, runtime.NumCPU()),
	}
	r.Errors, _ = c.board.failures()
	return r, c.rest(ctx)
}

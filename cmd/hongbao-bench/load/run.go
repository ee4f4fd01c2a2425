package load

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Logf logs a message for the person that waits for the results.
type Logf func(format string, args ...any)

// scenario is what users do in a load.
type scenario interface {
	// prepare creates rooms and other data, and puts the users into the rooms.
	prepare(ctx context.Context, c *group) error
	// play sends the requests of the load. It may return before the last ones are answered: then settle waits for the answers.
	play(ctx context.Context, c *group) error
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
	return nil, fmt.Errorf("unknown scenario %q", p.Scenario)
}

// Run runs a plan. It returns an error if the plan could not be run to its end. Checks that failed are in the result.
func Run(ctx context.Context, t *Target, p Plan, logf Logf) (Result, error) {
	s, err := p.scenario()
	if err != nil {
		return Result{}, err
	}
	c, err := newGroup(t, p)
	if err != nil {
		return Result{}, err
	}
	defer c.endAll()
	logf("%s: preparing %d users", p.Scenario, p.Users)
	if err := s.prepare(ctx, c); err != nil {
		return Result{}, fmt.Errorf("prepare: %w", err)
	}
	m := newMeter(t.Processes)
	r, err := c.perform(ctx, s, m)
	if err != nil {
		return Result{}, err
	}
	c.endAll() // from here on no user changes a journal
	if err := c.verify(ctx); err != nil {
		return Result{}, fmt.Errorf("check: %w", err)
	}
	r.Checks = c.checks.all()
	return r, nil
}

// stillBusy is the longest pause between the last connect and the measured window: a server is still busy with the connects.
const stillBusy = 1500 * time.Millisecond

// perform connects every user. It measures the load until all requests are answered and their entries are received. Then it waits for
// the entries that the server adds. Each wait is bounded, and verify finds what is missing.
func (c *group) perform(ctx context.Context, s scenario, m *meter) (Result, error) {
	if err := c.connectAll(ctx); err != nil {
		return Result{}, err
	}
	came := seen([]*series{c.runStats.connects}, max(c.plan.Ramp, time.Millisecond))
	pause(ctx, min(c.plan.Ramp/4, stillBusy))
	c.runStats.begin()
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
		Plan: c.plan, Seconds: took.Seconds(), Lost: c.runStats.lost.Load(), Resent: c.runStats.resent.Load(),
		Series:    append(came, seen(c.runStats.series(), took)...),
		Operation: operation, Parts: parts, Bottleneck: bottleneck(parts, runtime.NumCPU()),
	}
	r.Errors = c.runStats.failures()
	return r, c.rest(ctx)
}

package flaws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// scenario is one run of a flaw's scenario with one scheme, on an emptied Redis and a new database.
type scenario struct {
	environment *Environment
	scheme      schemes.Named
	engines     schemes.Engines // connections of its first process
	processes   []*schemes.Instance
}

// both runs a scenario with the scheme, and then with our service. It returns an error if a run fails (see alone).
func both[T any](ctx context.Context, st *Environment, scheme string, play func(ctx context.Context, sc *scenario) (T, error)) (theirs, ours T, err error) {
	i := slices.IndexFunc(st.Schemes, func(n schemes.Named) bool { return n.Name == scheme })
	if i < 0 {
		return theirs, ours, fmt.Errorf("unknown scheme %q", scheme)
	}
	if theirs, err = alone(ctx, st, st.Schemes[i], play); err != nil {
		return theirs, ours, fmt.Errorf("%s: %w", scheme, err)
	}
	if ours, err = alone(ctx, st, st.Ours, play); err != nil {
		return theirs, ours, fmt.Errorf("%s: %w", st.Ours.Name, err)
	}
	return theirs, ours, nil
}

// alone runs a scenario with one scheme, which may be our service, on fresh engines, and stops its processes. If the scheme has an
// audit, alone runs the audit, and returns an error if the books are wrong. It also returns an error if our service stops with one.
func alone[T any](ctx context.Context, st *Environment, scheme schemes.Named, play func(ctx context.Context, sc *scenario) (T, error)) (result T, err error) {
	sc := &scenario{environment: st, scheme: scheme}
	if sc.engines, err = st.Fresh(ctx); err != nil {
		return result, err
	}
	defer func() {
		for _, p := range slices.Backward(sc.processes) {
			if stopped := p.Stop(); scheme.Name == st.Ours.Name { // others may end with an error if their Redis has died
				err = errors.Join(err, stopped)
			}
		}
	}()
	if result, err = play(ctx, sc); err != nil {
		return result, err
	}
	return result, sc.audit(ctx)
}

// ours reports whether the scenario runs on our service.
func (sc *scenario) ours() bool { return sc.scheme.Name == sc.environment.Ours.Name }

// audit checks the scheme's books, if the scheme has an audit.
func (sc *scenario) audit(ctx context.Context) error {
	for _, p := range slices.Backward(sc.processes) {
		if books, ok := p.Scheme.(interface {
			Audit(ctx context.Context) error
		}); ok {
			return books.Audit(ctx)
		}
	}
	return nil
}

// start starts the first process.
func (sc *scenario) start(ctx context.Context) (*schemes.Instance, error) {
	return sc.run(ctx, sc.engines)
}

// another starts one more process of the scheme, with connections of its own.
func (sc *scenario) another(ctx context.Context) (*schemes.Instance, error) {
	e, err := sc.environment.Twin(ctx, sc.engines)
	if err != nil {
		return nil, err
	}
	return sc.run(ctx, e)
}

func (sc *scenario) run(ctx context.Context, e schemes.Engines) (*schemes.Instance, error) {
	p, err := sc.scheme.Start(ctx, e)
	if err == nil {
		sc.processes = append(sc.processes, p)
	}
	return p, err
}

// opened starts the first process of the scheme and opens a packet in it.
func (sc *scenario) opened(ctx context.Context, p schemes.Packet) (*schemes.Instance, error) {
	process, err := sc.start(ctx)
	if err == nil {
		err = process.Open(ctx, p)
	}
	return process, err
}

// packet returns a packet of equal shares.
func packet(id string, shares int, each int64, ttl time.Duration) schemes.Packet {
	p := schemes.Packet{ID: id, Sender: "sender", TTL: ttl, Shares: make([]int64, shares)}
	for i := range p.Shares {
		p.Shares[i] = each
	}
	return p
}

// timeout is how long a step may take on a busy machine.
const timeout = 10 * time.Second

// book reads the packet from the database until wanted returns true, but not longer than within. It returns what it read last.
func book(ctx context.Context, s schemes.Scheme, packet string, within time.Duration, wanted func(b schemes.Book) bool) (schemes.Book, error) {
	for deadline := time.Now().Add(within); ; {
		b, err := s.Stored(ctx, packet)
		if err != nil || wanted(b) || time.Now().After(deadline) {
			return b, err
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil { // a table does not announce its changes, so it is read again
			return b, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func sum(b schemes.Book) (paid int64) {
	for _, p := range b.Paid {
		paid += p.Amount
	}
	return paid
}

// money formats minor units with two decimal places.
func money(m int64) string { return fmt.Sprintf("%d.%02d", m/100, m%100) }

package flaws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// scene is one scenario, played by one scheme on engines of its own.
type scene struct {
	stage     *Stage
	who       schemes.Named
	engines   schemes.Engines // of its first process
	processes []*schemes.Instance
}

// both plays the same with the scheme and with ours. Whatever happens on ours, its books must be right afterwards.
func both[T any](ctx context.Context, st *Stage, scheme string, play func(ctx context.Context, sc *scene) (T, error)) (theirs, ours T, err error) {
	i := slices.IndexFunc(st.Schemes, func(n schemes.Named) bool { return n.Name == scheme })
	if i < 0 {
		return theirs, ours, fmt.Errorf("there is no scheme %q", scheme)
	}
	if theirs, err = alone(ctx, st, st.Schemes[i], play); err != nil {
		return theirs, ours, fmt.Errorf("%s: %w", scheme, err)
	}
	if ours, err = alone(ctx, st, st.Ours, play); err != nil {
		return theirs, ours, fmt.Errorf("%s: %w", st.Ours.Name, err)
	}
	return theirs, ours, nil
}

// alone plays it with one of them.
func alone[T any](ctx context.Context, st *Stage, who schemes.Named, play func(ctx context.Context, sc *scene) (T, error)) (result T, err error) {
	sc := &scene{stage: st, who: who}
	if sc.engines, err = st.Fresh(ctx); err != nil {
		return result, err
	}
	defer func() {
		for _, p := range slices.Backward(sc.processes) {
			if stopped := p.Stop(); who.Name == st.Ours.Name { // of others, those whose Redis died end with an error
				err = errors.Join(err, stopped)
			}
		}
	}()
	if result, err = play(ctx, sc); err != nil {
		return result, err
	}
	return result, sc.audit(ctx)
}

// ours tells whether it is ours that plays.
func (sc *scene) ours() bool { return sc.who.Name == sc.stage.Ours.Name }

// audit reads the books of a process that has any.
func (sc *scene) audit(ctx context.Context) error {
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
func (sc *scene) start(ctx context.Context) (*schemes.Instance, error) {
	return sc.run(ctx, sc.engines)
}

// another starts one more process, with connections of its own.
func (sc *scene) another(ctx context.Context) (*schemes.Instance, error) {
	e, err := sc.stage.Twin(ctx, sc.engines)
	if err != nil {
		return nil, err
	}
	return sc.run(ctx, e)
}

func (sc *scene) run(ctx context.Context, e schemes.Engines) (*schemes.Instance, error) {
	p, err := sc.who.Start(ctx, e)
	if err == nil {
		sc.processes = append(sc.processes, p)
	}
	return p, err
}

// opened starts the first process and opens a packet there.
func (sc *scene) opened(ctx context.Context, p schemes.Packet) (*schemes.Instance, error) {
	process, err := sc.start(ctx)
	if err == nil {
		err = process.Open(ctx, p)
	}
	return process, err
}

// packet of equal shares.
func packet(id string, shares int, each int64, ttl time.Duration) schemes.Packet {
	p := schemes.Packet{ID: id, Sender: "sender", TTL: ttl, Shares: make([]int64, shares)}
	for i := range p.Shares {
		p.Shares[i] = each
	}
	return p
}

// patience is what a machine with much to do is given.
const patience = 10 * time.Second

// book reads the packet until it is as wanted, or for so long.
func book(ctx context.Context, s schemes.Scheme, packet string, within time.Duration, wanted func(b schemes.Book) bool) (schemes.Book, error) {
	for deadline := time.Now().Add(within); ; {
		b, err := s.Stored(ctx, packet)
		if err != nil || wanted(b) || time.Now().After(deadline) {
			return b, err
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil { // a table tells nobody when it changes
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

// money in minor units, as people write it.
func money(m int64) string { return fmt.Sprintf("%d.%02d", m/100, m%100) }

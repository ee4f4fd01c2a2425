package flaws

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/schemes"
)

// contention counts the results of some packets. Each has as many users as shares, and its users grab at the same time.
type contention struct {
	rounds, users, got, gaveUp, retries int
	left                                int64
}

func (f contention) String() string {
	return fmt.Sprintf("%d packets, %d users for as many shares: %d got one, %d gave up, %d retries, %s was left",
		f.rounds, f.users, f.got, f.gaveUp, f.retries, money(f.left))
}

func tooFewRetries(ctx context.Context, st *Environment) (Finding, error) {
	return contentionFinding(ctx, st, "optimistic")
}
func retriesAtTheEnd(ctx context.Context, st *Environment) (Finding, error) {
	return contentionFinding(ctx, st, "prealloc")
}

func contentionFinding(ctx context.Context, st *Environment, scheme string) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scenario) (f contention, err error) {
		s, err := sc.start(ctx)
		if err != nil {
			return f, err
		}
		for round := 0; round < 20 && (round < 2 || f.gaveUp == 0 && !sc.ours()); round++ {
			if err := f.play(ctx, s, fmt.Sprintf("fight-%d", round)); err != nil {
				return f, err
			}
		}
		return f, nil
	})
	return Finding{
		Reproduced: theirs.gaveUp > 0 && theirs.left > 0, Evidence: theirs.String(),
		Ours: ours.String(), OursPasses: ours.got == ours.users && ours.left == 0 && ours.users > 0,
	}, err
}

func (f *contention) play(ctx context.Context, s schemes.Scheme, id string) error {
	const shares = 40
	if err := s.Open(ctx, packet(id, shares, 1000, 6*timeout)); err != nil {
		return err
	}
	t := newAnswers()
	t.atOnce(ctx, s, id, userNames(0, shares)).Wait()
	if t.failure != nil {
		return t.failure
	}
	b, err := s.Stored(ctx, id)
	f.rounds++
	f.users += shares
	f.got += len(t.amounts)
	f.gaveUp += t.verdicts[schemes.GaveUp]
	f.retries += t.retries
	f.left += b.Left
	return err
}

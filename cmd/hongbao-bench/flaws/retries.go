package flaws

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/schemes"
)

// fight is what came of as many people as shares, all at once.
type fight struct {
	rounds, people, got, gaveUp, retries int
	left                                 int64
}

func (f fight) String() string {
	return fmt.Sprintf("%d packets, %d people for as many shares: %d got one, %d gave up, %d began anew, %s was left",
		f.rounds, f.people, f.got, f.gaveUp, f.retries, money(f.left))
}

func tooFewRetries(ctx context.Context, st *Stage) (Finding, error) {
	return fightFinding(ctx, st, "optimistic")
}
func retriesAtTheEnd(ctx context.Context, st *Stage) (Finding, error) {
	return fightFinding(ctx, st, "prealloc")
}

func fightFinding(ctx context.Context, st *Stage, scheme string) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scene) (f fight, err error) {
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
		Ours: ours.String(), OursPasses: ours.got == ours.people && ours.left == 0 && ours.people > 0,
	}, err
}

func (f *fight) play(ctx context.Context, s schemes.Scheme, id string) error {
	const shares = 40
	if err := s.Open(ctx, packet(id, shares, 1000, 6*patience)); err != nil {
		return err
	}
	t := newTold()
	t.atOnce(ctx, s, id, people(0, shares)).Wait()
	if t.failure != nil {
		return t.failure
	}
	b, err := s.Stored(ctx, id)
	f.rounds++
	f.people += shares
	f.got += len(t.amounts)
	f.gaveUp += t.heard[schemes.GaveUp]
	f.retries += t.retries
	f.left += b.Left
	return err
}

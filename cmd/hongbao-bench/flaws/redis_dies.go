package flaws

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/schemes"
)

// survivors of a Redis that died, which keeps nothing.
type survivors struct {
	told, lost, paid, twice int
	money                   int64
}

func (s survivors) String() string {
	return fmt.Sprintf("%d were told shares of a packet in 50, and Redis, which keeps nothing, died; %d of them have nothing (%s); after all have asked again %d shares are paid, %d users twice",
		s.told, s.lost, money(s.money), s.paid, s.twice)
}

func redisDies(ctx context.Context, st *Stage, scheme string) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scene) (s survivors, err error) {
		for round := range 5 { // who stores it may have been faster than the kill
			s, err = sc.killRedis(ctx, fmt.Sprintf("redis-%d", round))
			if err != nil || s.lost > 0 || sc.ours() {
				break
			}
		}
		return s, err
	})
	return Finding{
		Reproduced: theirs.lost > 0, Evidence: theirs.String(),
		Ours: ours.String(), OursPasses: ours.told == 40 && ours.lost == 0 && ours.paid == 50 && ours.twice == 0,
	}, err
}

// killRedis as soon as 40 have been told. The process goes on, if it can; another one comes.
func (sc *scene) killRedis(ctx context.Context, id string) (s survivors, err error) {
	process, err := sc.another(ctx)
	if err != nil {
		return s, err
	}
	if err := process.Open(ctx, packet(id, 50, 1000, 6*patience)); err != nil {
		return s, err
	}
	t := newTold()
	t.atOnce(ctx, process, id, people(0, 40)).Wait()
	sc.stage.Redis.Kill()
	if err := sc.stage.Redis.Restart(ctx); err != nil {
		return s, err
	}
	if !sc.ours() {
		// What is on its way to SQL arrives; a consumer that ended with its Redis is started again.
		if _, err := book(ctx, process, id, patience/10, func(b schemes.Book) bool { return len(b.Paid) == len(t.amounts) }); err != nil {
			return s, err
		}
		process.Kill()
		if process, err = sc.another(ctx); err != nil {
			return s, err
		}
	}
	later := newTold()
	later.inTurn(ctx, process, id, people(0, 60))
	b, err := book(ctx, process, id, patience/4, func(b schemes.Book) bool { return len(b.Paid) == 50 })
	if err != nil {
		return s, err
	}
	s.told, s.paid = len(t.amounts), len(b.Paid)
	s.lost, s.money = t.lost(b)
	seen := map[string]bool{}
	for _, p := range b.Paid {
		if seen[p.User] {
			s.twice++
		}
		seen[p.User] = true
	}
	return s, nil
}

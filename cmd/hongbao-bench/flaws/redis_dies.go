package flaws

import (
	"context"
	"fmt"

	"hongbao/cmd/hongbao-bench/schemes"
)

// survivors describes a packet after the death of a Redis without persistence.
type survivors struct {
	answers, lost, paid, twice int
	money                      int64
}

func (s survivors) String() string {
	return fmt.Sprintf("%d users were answered with shares of a packet in 50, and Redis, without persistence, died; %d of them have nothing (%s); after all have grabbed again %d shares are paid, %d users twice",
		s.answers, s.lost, money(s.money), s.paid, s.twice)
}

func redisDies(ctx context.Context, st *Environment, scheme string) (Finding, error) {
	theirs, ours, err := both(ctx, st, scheme, func(ctx context.Context, sc *scenario) (s survivors, err error) {
		for round := range 5 { // repeated: in one round, the storing may have been faster than the kill
			s, err = sc.killRedis(ctx, fmt.Sprintf("redis-%d", round))
			if err != nil || s.lost > 0 || sc.ours() {
				break
			}
		}
		return s, err
	})
	return Finding{
		Reproduced: theirs.lost > 0, Evidence: theirs.String(),
		Ours: ours.String(), OursPasses: ours.answers == 40 && ours.lost == 0 && ours.paid == 50 && ours.twice == 0,
	}, err
}

// killRedis kills Redis after 40 grabs were answered, and starts it again without its data. A published scheme gets time to store
// what its process still has. Then another process replaces that process. Our service goes on with the same process.
func (sc *scenario) killRedis(ctx context.Context, id string) (s survivors, err error) {
	process, err := sc.another(ctx)
	if err != nil {
		return s, err
	}
	if err := process.Open(ctx, packet(id, 50, 1000, 6*timeout)); err != nil {
		return s, err
	}
	t := newAnswers()
	t.atOnce(ctx, process, id, userNames(0, 40)).Wait()
	sc.environment.Redis.Kill()
	if err := sc.environment.Redis.Restart(ctx); err != nil {
		return s, err
	}
	if !sc.ours() {
		// Statements that are on their way to SQL get time to arrive. If the consumer has ended with Redis, another process starts a
		// new one.
		if _, err := book(ctx, process, id, timeout/10, func(b schemes.Book) bool { return len(b.Paid) == len(t.amounts) }); err != nil {
			return s, err
		}
		process.Kill()
		if process, err = sc.another(ctx); err != nil {
			return s, err
		}
	}
	later := newAnswers()
	later.inTurn(ctx, process, id, userNames(0, 60))
	b, err := book(ctx, process, id, timeout/4, func(b schemes.Book) bool { return len(b.Paid) == 50 })
	if err != nil {
		return s, err
	}
	s.answers, s.paid = len(t.amounts), len(b.Paid)
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

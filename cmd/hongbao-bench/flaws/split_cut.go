package flaws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hongbao/cmd/hongbao-bench/schemes"
)

func jam(ctx context.Context, st *Environment) (Finding, error) {
	const shares = 100
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (*answers, error) {
		t := newAnswers()
		s, err := sc.opened(ctx, packet("jam", shares, 2, timeout*6))
		if err == nil {
			t.inTurn(ctx, s, "jam", userNames(0, shares))
		}
		return t, err
	})
	if err != nil {
		return Finding{}, err
	}
	say := func(t *answers) string {
		return fmt.Sprintf("%d of %d served, %s of 2.00 given, %d errors", len(t.amounts), shares, money(t.sum()), t.failed)
	}
	f := Finding{
		Reproduced: theirs.failed > 0 && len(theirs.amounts) < shares && theirs.sum() < 2*shares,
		Evidence:   say(theirs), Ours: say(ours),
		OursPasses: ours.failed == 0 && len(ours.amounts) == shares && ours.sum() == 2*shares && smallest(ours.amounts) >= 1,
	}
	if theirs.failure != nil {
		f.Evidence += ": " + strings.SplitN(theirs.failure.Error(), " script:", 2)[0]
	}
	return f, nil
}

func smallest(amounts map[string]int64) int64 {
	least := int64(1 << 62)
	for _, a := range amounts {
		least = min(least, a)
	}
	return least
}

// A share of our service has a standard deviation of 0.65 fair shares. So the mean share of a rank over 60 packets has a standard
// deviation of about 0.08. A mean below 0.6 or above 1.4 is not chance.
const (
	placePackets = 60
	places       = 10
)

func firstGetMost(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) ([]float64, error) {
		s, err := sc.start(ctx)
		if err != nil {
			return nil, err
		}
		var packets []schemes.Packet
		for n := range placePackets {
			packets = append(packets, packet(fmt.Sprintf("place-%d", n), places, 1000, timeout*6))
		}
		return MeanByPlace(ctx, s, packets)
	})
	if err != nil {
		return Finding{}, err
	}
	say := func(means []float64) string {
		return fmt.Sprintf("%d packets of 100.00 in 10, mean share by rank, 1 is fair: %.2f", placePackets, means)
	}
	return Finding{
		Reproduced: theirs[0] >= 2 && theirs[places-1] <= 0.5,
		Evidence:   say(theirs), Ours: say(ours),
		OursPasses: slices.Max(ours) < 1.4 && slices.Min(ours) > 0.6,
	}, nil
}

// MeanByPlace opens all packets at the same time. In each, as many users as it has shares grab one after the other. MeanByPlace
// returns the mean share of each rank, where 1 is the fair share. All packets must have the same number of shares.
func MeanByPlace(ctx context.Context, s schemes.Scheme, packets []schemes.Packet) ([]float64, error) {
	count := len(packets[0].Shares)
	means := make([]float64, count)
	var mu sync.Mutex // guards means and failed
	var failed error
	var all sync.WaitGroup
	for _, p := range packets {
		all.Go(func() {
			t, users := newAnswers(), userNames(0, count)
			err := s.Open(ctx, p)
			if err == nil {
				t.inTurn(ctx, s, p.ID, users) // after a jam, later users get nothing
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			fair := float64(p.Total()) / float64(count)
			for i, u := range users {
				means[i] += float64(t.amounts[u]) / fair / float64(len(packets))
			}
		})
	}
	all.Wait()
	return means, failed
}

func repeatedRandom(ctx context.Context, st *Environment) (Finding, error) {
	const starts, shares = 3, 5
	var version string
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) ([]string, error) {
		info, err := sc.engines.Redis.InfoMap(ctx, "server").Result()
		if err != nil {
			return nil, err
		}
		version = info["Server"]["redis_version"]
		var splits []string
		for n := range starts {
			if err := st.Redis.Restart(ctx); err != nil {
				return nil, err
			}
			s, err := sc.another(ctx)
			if err != nil {
				return nil, err
			}
			p := packet(fmt.Sprintf("start-%d", n), shares, 100_000, timeout*6)
			if err := s.Open(ctx, p); err != nil {
				return nil, err
			}
			var split []string
			for _, u := range userNames(0, shares) {
				a, err := s.Grab(ctx, p.ID, u)
				if err != nil {
					return nil, err
				}
				split = append(split, money(a.Amount))
			}
			splits = append(splits, strings.Join(split, " "))
		}
		return splits, nil
	})
	if err != nil {
		return Finding{}, err
	}
	say := func(splits []string) string {
		return fmt.Sprintf("5000.00 in 5, after each of %d starts of Redis %s: %s", starts, version, strings.Join(splits, "; "))
	}
	return Finding{
		Reproduced: len(slices.Compact(slices.Clone(theirs))) == 1,
		Evidence:   say(theirs), Ours: say(ours),
		OursPasses: len(slices.Compact(slices.Clone(ours))) == starts,
	}, nil
}

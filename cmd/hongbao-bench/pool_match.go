package main

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// poolSetting is one match of the pool beside lua-list.
type poolSetting struct {
	name    string
	callers int
	batch   batch
	asked   float64
}

func poolSettings(size size) []poolSetting {
	hot := batch{packets: 1, shares: 100_000}
	return []poolSetting{
		{"hot packet, 1 caller", 1, hot, 0.9},
		{"hot packet, 20 callers", 20, hot, 2},
		{"hot packet, 200 callers", 200, hot, 4},
		{fmt.Sprintf("%d packets, 200 callers", size.packets), 200, batch{packets: size.packets, shares: 100}, 2},
	}
}

// playPool measures grabs that the pool and lua-list decide on the same Redis. Neither stores anything in SQL.
func playPool(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	r, err := s.redis(ctx)
	if err != nil {
		return nil, err
	}
	store, err := s.redisStore(ctx, r)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, setting := range poolSettings(e.size) {
		client, err := s.redisClient(r, setting.callers)
		if err != nil {
			return nil, err
		}
		result, err := e.match(ctx, setting.match(e, store.Pool(), client))
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

func (p poolSetting) match(e *engines, pool redpacket.Pool, client *redis.Client) measure.Match {
	return measure.Match{
		Name: p.name, Unit: "grabs", Asked: measure.Asked{AtLeast: p.asked},
		Ours: measure.Side{Name: "Pool", Ready: func(ctx context.Context, round int) (measure.Play, error) {
			r := newPoolRound(pool, p.batch, fmt.Sprintf("ours-%d", round))
			if err := client.FlushAll(ctx).Err(); err != nil {
				return nil, err
			}
			return func(ctx context.Context) (measure.Round, error) { return r.play(ctx, e.crowd(p.callers)) }, r.load(ctx)
		}},
		Peer: measure.Side{Name: "lua-list", Ready: func(ctx context.Context, round int) (measure.Play, error) {
			r := newLuaListRound(client, p.batch, fmt.Sprintf("peer-%d", round))
			if err := client.FlushAll(ctx).Err(); err != nil {
				return nil, err
			}
			return func(ctx context.Context) (measure.Round, error) { return r.play(ctx, e.crowd(p.callers)) }, r.open(ctx)
		}},
	}
}

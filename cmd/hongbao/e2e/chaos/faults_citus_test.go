package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"hongbao/store/loopback"
)

// worker draws one of the workers.
func (w *world) worker(dice *rand.Rand) *loopback.Postgres {
	workers := w.postgres.citus.Workers
	return workers[dice.IntN(len(workers))]
}

func killWorker(ctx context.Context, w *world, dice *rand.Rand) error {
	server := w.worker(dice)
	server.Kill()
	_ = pause(ctx, between(dice, 50*time.Millisecond, 4*time.Second)) // it is started in any case
	return server.Restart(context.WithoutCancel(ctx))
}

func pauseWorker(ctx context.Context, w *world, dice *rand.Rand) error {
	server := w.worker(dice)
	server.Pause()
	defer server.Resume()
	return pause(ctx, between(dice, time.Second, 7*time.Second))
}

// moveShards moves a part of all split tables from one worker to the other. Another fault may make it fail: then nothing has moved.
func moveShards(ctx context.Context, w *world, dice *rand.Rand) error {
	const nodes = `select shardid, nodename || ':' || nodeport as addr from pg_dist_shard_placement join pg_dist_shard using (shardid)
		where logicalrelid = 'claims'::regclass`
	addresses := []string{w.postgres.citus.Workers[0].Addr(), w.postgres.citus.Workers[1].Addr()}
	dice.Shuffle(2, func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	within, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	err := w.postgres.execute(within, w.postgres.database, fmt.Sprintf(`select citus_move_shard_placement(shardid,
			split_part('%[2]s', ':', 1), split_part('%[2]s', ':', 2)::int, split_part('%[3]s', ':', 1), split_part('%[3]s', ':', 2)::int)
		from (select shardid from (%[1]s) n where addr = '%[2]s' order by md5(shardid || '%[4]d') limit 1) one`, nodes, addresses[0], addresses[1], dice.Int64()))
	if err != nil {
		w.t.Log("shards moved: ", err)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

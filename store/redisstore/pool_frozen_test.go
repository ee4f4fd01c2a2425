package redisstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// frozen is a Pool whose time only tests move. Its scripts are the real ones, but for the place where Redis
// tells the time: there the time itself is written. What Redis counts down by itself is shortened by hand.
type frozen struct {
	*Pool
	tb testing.TB

	mu  sync.Mutex
	now time.Time
}

func freeze(tb testing.TB, client redis.UniversalClient, outboxCap int) *frozen {
	f := &frozen{Pool: newPool(client, poolOptions{OutboxCap: outboxCap}), tb: tb}
	f.Restart()
	return f
}

// Restart begins again, with nothing, at the same time as ever.
func (f *frozen) Restart() {
	f.now = time.UnixMilli(1_771_286_400_000)
	f.write()
	forget(f.tb, f.nodes.client)
}

func (f *frozen) write() {
	sec, usec := f.now.Unix(), f.now.Nanosecond()/1000
	edit := func(text string) *script {
		ticks := "{'%d', '%d' + redis.call('INCR', KEYS[1] .. ':ticks') %% 1000}" // hardly two calls come in the same us
		return newScript(strings.Replace(text, "redis.call('TIME')", fmt.Sprintf(ticks, sec, usec), 1))
	}
	f.scripts = poolScripts{
		grab: edit(grabLua), load: edit(loadLua), close: edit(closeLua),
		ack: newScript(ackLua), due: edit(dueLua), unsettled: edit(unsettledLua),
	}
	masters(f.tb, f.nodes.client, func(ctx context.Context, node *redis.Client) error {
		pipe := node.Pipeline()
		for _, s := range []*script{f.scripts.grab, f.scripts.load, f.scripts.close, f.scripts.due, f.scripts.unsettled} {
			pipe.ScriptLoad(ctx, s.text)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
}

func (f *frozen) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance must not meet any call.
func (f *frozen) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	f.write()
	const shorten = `
		local function shorten(key)
		  local left = redis.call('PTTL', key)
		  return left >= 0 and redis.call('PEXPIRE', key, left - ARGV[1])
		end
		for _, key in ipairs(redis.call('KEYS', 'rp:*:k:*')) do shorten(key) end
		return 1`
	masters(f.tb, f.nodes.client, func(ctx context.Context, node *redis.Client) error {
		return node.Eval(ctx, shorten, nil, d.Milliseconds()).Err()
	})
}

// Forget loses everything. A moment passes: Redis names entries by the time, and that never stands still for a loss.
func (f *frozen) Forget() {
	f.Advance(time.Millisecond)
	forget(f.tb, f.nodes.client)
}

// NewGeneration gives every node another replication id, as a failover does.
func (f *frozen) NewGeneration() { newGeneration(f.tb, f.nodes.client) }

func forget(tb testing.TB, client redis.UniversalClient) {
	tb.Helper()
	masters(tb, client, func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
}

func newGeneration(tb testing.TB, client redis.UniversalClient) {
	tb.Helper()
	masters(tb, client, func(ctx context.Context, node *redis.Client) error {
		return node.Do(ctx, "DEBUG", "CHANGE-REPL-ID").Err()
	})
}

func masters(tb testing.TB, client redis.UniversalClient, do func(context.Context, *redis.Client) error) {
	tb.Helper()
	if err := eachMaster(context.Background(), client, do); err != nil {
		tb.Fatal(err)
	}
}

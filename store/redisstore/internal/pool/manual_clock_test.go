package pool

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
)

// manualClockPool is a Pool whose clock only tests move. Its scripts are the real ones, with a fixed time in place of
// the TIME command. Advance shortens the expiry times of keys accordingly.
type manualClockPool struct {
	*Pool
	tb testing.TB

	mu  sync.Mutex
	now time.Time
}

func newManualClockPool(tb testing.TB, client redis.UniversalClient, outboxCap int) *manualClockPool {
	f := &manualClockPool{Pool: New(nodes.Set{Client: client}.WithPatience(time.Minute), Options{OutboxCap: outboxCap}), tb: tb}
	f.Restart()
	return f
}

// Restart deletes all data and resets the time.
func (f *manualClockPool) Restart() {
	f.now = time.UnixMilli(1_771_286_400_000)
	f.write()
	forget(f.tb, f.nodes.Client)
}

func (f *manualClockPool) write() {
	sec, usec := f.now.Unix(), f.now.Nanosecond()/1000
	edit := func(text string) *nodes.Script {
		ticks := "{'%d', '%d' + redis.call('INCR', KEYS[1] .. ':ticks') %% 1000}" // so that two calls rarely have the same time
		return nodes.NewScript(strings.Replace(text, "redis.call('TIME')", fmt.Sprintf(ticks, sec, usec), 1))
	}
	f.scripts = poolScripts{
		grab: edit(grabLua), load: edit(loadLua), close: edit(closeLua),
		ack: nodes.NewScript(ackLua), due: edit(dueLua), unsettled: edit(unsettledLua), recount: nodes.NewScript(recountLua),
	}
	redistest.EachMaster(f.tb, f.nodes.Client, func(ctx context.Context, node *redis.Client) error {
		pipe := node.Pipeline()
		for _, s := range []*nodes.Script{f.scripts.grab, f.scripts.load, f.scripts.close, f.scripts.due, f.scripts.unsettled} {
			pipe.ScriptLoad(ctx, s.Text)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
}

func (f *manualClockPool) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the time. It must not run during a call.
func (f *manualClockPool) Advance(d time.Duration) {
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
	redistest.EachMaster(f.tb, f.nodes.Client, func(ctx context.Context, node *redis.Client) error {
		return node.Eval(ctx, shorten, nil, d.Milliseconds()).Err()
	})
}

// Forget deletes all data. It also moves the clock by a millisecond: entries are named by their time, and names must
// not occur twice.
func (f *manualClockPool) Forget() {
	f.Advance(time.Millisecond)
	forget(f.tb, f.nodes.Client)
}

// NewGeneration gives every node a new replication id, as a failover does.
func (f *manualClockPool) NewGeneration() { newGeneration(f.tb, f.nodes.Client) }

func forget(tb testing.TB, client redis.UniversalClient) {
	tb.Helper()
	redistest.EachMaster(tb, client, func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
}

func newGeneration(tb testing.TB, client redis.UniversalClient) {
	tb.Helper()
	redistest.EachMaster(tb, client, func(ctx context.Context, node *redis.Client) error {
		return node.Do(ctx, "DEBUG", "CHANGE-REPL-ID").Err()
	})
}

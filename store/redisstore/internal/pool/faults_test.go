package pool

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/redisstore/internal/nodes"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// poolOn returns a Pool whose calls do not fail on a busy machine.
func poolOn(t *testing.T, url string) *Pool {
	return New(redistest.Nodes(t, url), Options{OutboxCap: 1 << 30})
}

// impatientPool returns a Pool whose calls end within nodes.Patience.
func impatientPool(t *testing.T, r *loopback.Redis) *Pool {
	return New(nodes.Set{Client: redistest.Dial(t, r.URL())}, Options{OutboxCap: 1 << 30})
}

// TestPoolScriptsFlushed deletes all scripts of the server again and again during grabs. No grab fails.
func TestPoolScriptsFlushed(t *testing.T) {
	p := poolOn(t, storetest.Redis(t).URL())
	c := startGrabbers(t, p, 1, 50)
	for range 30 {
		c.await(20)
		noError(t, p.nodes.Client.ScriptFlush(t.Context()).Err())
	}
	c.wantGrantsHeld()
	if n := c.failed.Load(); n > 0 {
		t.Errorf("%d grabs failed", n)
	}
}

// inTime is how long a call may take in make nightly that must not wait longer than nodes.Patience. The rest is for a busy machine.
// TestCallsEndAfterPatience measures the same exactly, without a server.
const inTime = 2 * nodes.Patience

// late reports whether a call took longer than most. Only make nightly measures that.
func late(took, most time.Duration) bool { return took > most && enginetest.Tonight("waits") }

// TestPoolKilledServer checks that grabs fail at once while a server is down. When it is back without data, grabs
// succeed after the packet is loaded again.
func TestPoolKilledServer(t *testing.T) {
	t.Parallel() // it waits for restarts
	r := storetest.Redis(t)
	c := startGrabbers(t, poolOn(t, r.URL()), 1, 20)
	for range 3 {
		c.await(50)
		r.Kill()
		from := time.Now()
		_, err := c.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: c.image.Ref, User: "x"}})
		if took := time.Since(from); !errors.Is(err, chat.ErrUnavailable) || late(took, nodes.Patience) {
			t.Errorf("grab of a dead server: %v after %v", err, took)
		}
		noError(t, r.Restart(t.Context()))
	}
	c.await(50)
}

// TestPoolCallerReturnsAtItsDeadline pauses Redis during a grab with a deadline. The caller returns in time, and the
// grab is still made when Redis goes on.
func TestPoolCallerReturnsAtItsDeadline(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r.URL())
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), i))
	q, err := p.batcher(t.Context(), i.Ref)
	noError(t, err)
	r.Pause()
	attempts := []redpacket.Attempt{{Ref: i.Ref, User: "a"}}
	for wait, sent := 500*time.Millisecond, false; !sent; wait *= 2 { // on a busy machine, the deadline may pass before the grab is sent
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		from := time.Now()
		if _, err := p.Grab(ctx, attempts); !errors.Is(err, chat.ErrUnavailable) || late(time.Since(from), nodes.Patience) {
			t.Errorf("%v after %v", err, time.Since(from))
		}
		cancel()
		q.mu.Lock()
		sent = q.inFlight == 1
		q.mu.Unlock()
	}
	attempts[0].User = "b" // the caller may reuse its slice
	r.Resume()
	for deadline := time.Now().Add(60 * time.Second); ; {
		got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "a", May: redpacket.NotMember}})
		if err == nil && got[0].Decision == redpacket.Yours {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the grab was lost: %+v %v", got, err)
		}
	}
}

// TestPoolRefusesWhenTooManyWait checks that requests beyond maxWaiting are refused at once.
func TestPoolRefusesWhenTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nodes.Set{Client: redistest.SilentClient(t)}, Options{})
		full := make([]redpacket.Attempt, maxWaiting)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = p.Grab(context.Background(), full) })
		synctest.Wait()
		from := time.Now()
		_, err := p.Grab(t.Context(), []redpacket.Attempt{{User: "refused"}})
		if !errors.Is(err, errCrowded) || !errors.Is(err, chat.ErrUnavailable) || time.Since(from) != 0 {
			t.Errorf("%v after %v, want %v at once", err, time.Since(from), errCrowded)
		}
		wg.Wait()
		if n := p.batchers.waiting(); n != 0 {
			t.Errorf("%d attempts still wait", n)
		}
	})
}

// TestCallsEndAfterPatience makes each call of a Pool whose Redis never answers. Each ends after nodes.Patience, and one with a
// deadline at the deadline.
func TestCallsEndAfterPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nodes.Set{Client: redistest.SilentClient(t)}, Options{})
		i := redistest.InPartition(3)
		claims := []redpacket.Claim{{Ref: i.Ref, User: "u", Entry: "1"}}
		for name, call := range map[string]func(ctx context.Context) error{
			"grab":  func(ctx context.Context) error { _, err := p.Grab(ctx, []redpacket.Attempt{{Ref: i.Ref}}); return err },
			"ack":   func(ctx context.Context) error { return p.Ack(ctx, claims) },
			"load":  func(ctx context.Context) error { return p.Load(ctx, i) },
			"close": func(ctx context.Context) error { _, err := p.Close(ctx, i.Ref, redpacket.CloseDue); return err },
			"due":   func(ctx context.Context) error { _, err := p.Due(ctx, 1); return err },
			"unsettled": func(ctx context.Context) error {
				_, err := p.Unsettled(ctx, 0, new(redpacket.OutboxCursor), 1)
				return err
			},
			"recount": func(ctx context.Context) error { return p.Recount(ctx, 3) },
			"outbox":  func(ctx context.Context) error { _, _, err := p.Outbox(ctx); return err },
			"clocks":  func(ctx context.Context) error { _, err := p.Clocks(ctx, time.Now); return err },
		} {
			for _, most := range []time.Duration{nodes.Patience, nodes.Patience / 4} {
				ctx, cancel := t.Context(), func() {}
				if most < nodes.Patience {
					ctx, cancel = context.WithTimeout(ctx, most)
				}
				from := time.Now()
				if err := call(ctx); !errors.Is(err, chat.ErrUnavailable) || time.Since(from) != most {
					t.Errorf("%s: %v after %v, want unavailable after %v", name, err, time.Since(from), most)
				}
				cancel()
				time.Sleep(nodes.Patience) // the batch of a caller that has returned ends, too
			}
		}
		if n := p.batchers.waiting(); n != 0 {
			t.Errorf("%d requests still wait", n)
		}
	})
}

// TestPoolDemotedMaster makes the master a replica for a moment. A grab meanwhile is retried until nodes.Patience ends, and
// fails. Afterwards the server has a new replication id, so it believes no image until it is loaded. Grabs then
// succeed.
func TestPoolDemotedMaster(t *testing.T) {
	t.Parallel() // it waits for retries
	r, other := storetest.Redis(t), storetest.Redis(t)
	c := startGrabbers(t, impatientPool(t, r), 1, 20)
	c.await(100)
	admin := redistest.Dial(t, r.URL())
	redistest.ReplicaOf(t, admin, other)
	from := time.Now()
	_, err := c.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: c.image.Ref, User: "x"}})
	if took := time.Since(from); !errors.Is(err, chat.ErrUnavailable) || late(took, inTime) {
		t.Errorf("grab of a replica: %v after %v", err, took)
	}
	noError(t, admin.Do(t.Context(), "replicaof", "no", "one").Err())
	c.await(100)
}

// TestPoolFailsOver checks that grabs go on after the sentinels promote another master.
func TestPoolFailsOver(t *testing.T) {
	enginetest.Nightly(t, "waits")
	enginetest.Need(t, "Redis")
	t.Parallel() // it waits for the failover
	s, err := loopback.StartSentinel(t.Context(), t.TempDir())
	noError(t, err)
	t.Cleanup(s.Stop)
	client := redistest.Dial(t, s.URL())
	checks := nodes.NewChecks(client, s.URL(), slog.New(slog.DiscardHandler))
	noError(t, checks.FirstRound(t.Context()))
	c := startGrabbers(t, New(nodes.Set{Client: client, Checks: checks}, Options{}), 1, 20)
	c.await(100)
	s.Master().Kill()
	c.await(100)
}

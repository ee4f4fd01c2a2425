package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

func poolOn(t *testing.T, r *loopback.Redis) *Pool {
	return newPool(testClient(t, r.URL()), poolOptions{OutboxCap: 1 << 30})
}

// TestPoolScriptsFlushed: a server may forget scripts at any time, and nobody hears of it.
func TestPoolScriptsFlushed(t *testing.T) {
	p := poolOn(t, storetest.Redis(t))
	c := gather(t, p, 1, 50)
	for range 30 {
		c.await(20)
		if err := p.nodes.client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.wantWhole()
	if n := c.failed.Load(); n > 0 {
		t.Errorf("%d grabs failed", n)
	}
}

// TestPoolKilled: while a server is down grabs fail at once; when it is back, with nothing, they go on after a join.
func TestPoolKilled(t *testing.T) {
	r := storetest.Redis(t)
	c := gather(t, poolOn(t, r), 1, 20)
	for range 3 {
		c.await(50)
		r.Kill()
		from := time.Now()
		_, err := c.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: c.image.Ref, User: "x"}})
		if took := time.Since(from); !errors.Is(err, chat.ErrUnavailable) || took > time.Second {
			t.Errorf("grab of a dead server: %v after %v", err, took)
		}
		if err := r.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.await(50)
}

// TestPoolPaused: a server that is silent costs each caller at most patience, and afterwards nothing is left over.
func TestPoolPaused(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	c := gather(t, p, 1, 200)
	c.await(500)
	r.Pause()
	var wg sync.WaitGroup
	for n := range 200 { // these come one after the other, while the server is silent
		wg.Go(func() {
			<-time.After(time.Duration(n) * 20 * time.Millisecond)
			from := time.Now()
			err := p.Ack(context.Background(), []redpacket.Claim{{Ref: c.image.Ref, User: "x", Entry: "1"}})
			if took := time.Since(from); !errors.Is(err, chat.ErrUnavailable) || took > patience+500*time.Millisecond {
				t.Errorf("ack to a silent server: %v after %v", err, took)
			}
		})
	}
	wg.Wait()
	r.Resume()
	c.await(500)
	c.wantWhole()
	if slowest := time.Duration(c.slowest.Load()); slowest > patience+500*time.Millisecond {
		t.Errorf("a grab took %v", slowest)
	}
	w, _ := p.runway(t.Context(), c.image.Ref)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting != 0 || w.flying != 0 || w.next != nil {
		t.Errorf("%d attempts still wait, flying: %d", w.waiting, w.flying)
	}
}

// TestPoolLeaves: a caller whose time is up goes; what he asked for happens all the same.
func TestPoolLeaves(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if err := p.Load(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	r.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	attempts := []redpacket.Attempt{{Ref: i.Ref, User: "a"}}
	from := time.Now()
	if _, err := p.Grab(ctx, attempts); !errors.Is(err, chat.ErrUnavailable) || time.Since(from) > time.Second {
		t.Errorf("%v after %v", err, time.Since(from))
	}
	attempts[0].User = "b" // he may do with his own what he likes
	r.Resume()
	for deadline := time.Now().Add(10 * time.Second); ; {
		got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "a", May: redpacket.NotMember}})
		if err == nil && got[0].Decision == redpacket.Yours {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the grab was lost: %+v %v", got, err)
		}
	}
}

// TestPoolCrowded: whom a node cannot serve soon is told so at once.
func TestPoolCrowded(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	if err := p.Ack(t.Context(), []redpacket.Claim{{Entry: "1"}}); err != nil {
		t.Fatal(err)
	}
	r.Pause()
	defer r.Resume()
	full := make([]redpacket.Attempt, maxWaiting)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = p.Grab(context.Background(), full) })
	w, _ := p.runway(t.Context(), redpacket.Ref{})
	for waiting := 0; waiting == 0; {
		w.mu.Lock()
		waiting = w.waiting
		w.mu.Unlock()
	}
	from := time.Now()
	_, err := p.Grab(t.Context(), []redpacket.Attempt{{User: "late"}})
	if !errors.Is(err, errCrowded) || !errors.Is(err, chat.ErrUnavailable) || time.Since(from) > patience/4 {
		t.Errorf("%v after %v", err, time.Since(from))
	}
	wg.Wait()
}

// TestPoolReadOnly: a master that is demoted for a moment is waited for; as another generation it knows nothing.
func TestPoolReadOnly(t *testing.T) {
	r, other := storetest.Redis(t), storetest.Redis(t)
	c := gather(t, poolOn(t, r), 1, 20)
	c.await(100)
	admin := testClient(t, r.URL())
	replicaOf(t, admin, other)
	from := time.Now()
	_, err := c.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: c.image.Ref, User: "x"}})
	if took := time.Since(from); !errors.Is(err, chat.ErrUnavailable) || took > patience+500*time.Millisecond {
		t.Errorf("grab of a replica: %v after %v", err, took)
	}
	if err := admin.Do(t.Context(), "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	c.await(100)
}

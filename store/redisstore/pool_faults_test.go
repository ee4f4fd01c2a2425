package redisstore

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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
			err := p.Ack(context.Background(), []redpacket.Claim{{Ref: c.image.Ref, User: "x", Entry: "1-1"}})
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
	if w.waiting != 0 || w.inAir != 0 || w.next != nil {
		t.Errorf("%d attempts still wait, %d flights are in the air", w.waiting, w.inAir)
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
	if err := p.Ack(t.Context(), []redpacket.Claim{{Entry: "1-1"}}); err != nil {
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

// TestPoolTwoMasters: a promoted replica believes nothing until it is loaded, and then keeps what SQL does not deny.
func TestPoolTwoMasters(t *testing.T) {
	old, young := storetest.Redis(t), storetest.Redis(t)
	admin := testClient(t, young.URL())
	replicaOf(t, admin, old)
	c := gather(t, poolOn(t, old), 1, 10)
	c.await(200)
	info := func(client redis.UniversalClient, name string) string {
		return field(client.Info(t.Context(), "replication").Val(), name)
	}
	for info(admin, "master_link_status") != "up" {
		c.await(1)
	}
	c.await(200)
	c.leave()
	for upTo := info(c.pool.nodes.client, "master_repl_offset"); info(admin, "slave_repl_offset") < upTo; {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
	if err := admin.Do(t.Context(), "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	both := [2]*Pool{c.pool, poolOn(t, young)}
	attempt := []redpacket.Attempt{{Ref: c.image.Ref, User: c.owners[0]}}
	if got, err := both[1].Grab(t.Context(), attempt); err != nil || got[0].Decision != redpacket.Missing {
		t.Errorf("a new master: %+v %v", got, err)
	}
	if closing, err := both[1].Close(t.Context(), c.image.Ref, true); err != nil || !closing.Missing {
		t.Errorf("a new master: %+v %v", closing, err)
	}
	if err := both[1].Load(t.Context(), c.image); err != nil {
		t.Fatal(err)
	}
	next := len(c.owners)
	for n, p := range both {
		got, err := p.Grab(t.Context(), []redpacket.Attempt{attempt[0], {Ref: c.image.Ref, User: "of-" + strconv.Itoa(n)}})
		if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != 0 || got[1].Decision != redpacket.Granted || got[1].Share != next {
			t.Errorf("master %d: %+v %v", n, got, err)
		}
	}
	// SQL took the young one's. The old one, were it ever asked again, gives way.
	i := c.image
	i.Grants = []redpacket.Grant{{User: "of-1", Share: next}}
	if err := both[0].Load(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	got, err := both[0].Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "of-1"}, {Ref: i.Ref, User: "of-0"}})
	if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != next || got[1].Decision != redpacket.Granted || got[1].Share != next+1 {
		t.Errorf("after the join: %+v %v", got, err)
	}
}

// TestPoolStaleDump: a server that comes back from an older dump believes nothing of it, and offers again what was
// settled long ago.
func TestPoolStaleDump(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	ctx := t.Context()
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p", Partition: 3}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if err := p.Load(ctx, i); err != nil {
		t.Fatal(err)
	}
	claims := grabAll(t, p, i, "a", "b")
	if err := p.nodes.client.Save(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if err := p.Ack(ctx, claims); err != nil {
		t.Fatal(err)
	}
	grabAll(t, p, i, "c")
	r.Kill()
	if err := r.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := p.Grab(ctx, []redpacket.Attempt{{Ref: i.Ref, User: "d"}})
	if err != nil || got[0].Decision != redpacket.Missing {
		t.Fatalf("before the join: %+v %v", got, err)
	}
	i.Grants = []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}, {User: "c", Share: 2}}
	if err := p.Load(ctx, i); err != nil {
		t.Fatal(err)
	}
	grabAll(t, p, i, "d")
	left, err := p.Unsettled(ctx, 0, 10)
	if err != nil || len(left) != 3 || left[0].User != "a" || left[1].User != "b" || left[2].User != "d" || left[2].Share != 3 {
		t.Fatalf("unsettled: %+v %v", left, err)
	}
	if err := p.Ack(ctx, left); err != nil {
		t.Fatal(err)
	}
	if held := p.nodes.client.HGetAll(ctx, p.keys(3).acks).Val(); len(held) != 1 || held["#held"] != "0" {
		t.Errorf("the outbox is empty, but counts %v", held)
	}
}

func grabAll(t *testing.T, p *Pool, i redpacket.Image, users ...string) (claims []redpacket.Claim) {
	t.Helper()
	var attempts []redpacket.Attempt
	for _, user := range users {
		attempts = append(attempts, redpacket.Attempt{Ref: i.Ref, User: user})
	}
	got, err := p.Grab(t.Context(), attempts)
	if err != nil {
		t.Fatal(err)
	}
	for n, ans := range got {
		if ans.Decision != redpacket.Granted {
			t.Fatalf("%s: %+v", users[n], ans)
		}
		claims = append(claims, redpacket.Claim{Ref: i.Ref, User: users[n], Share: ans.Share, Entry: ans.Entry})
	}
	return claims
}

func replicaOf(t *testing.T, admin redis.UniversalClient, master *loopback.Redis) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Do(t.Context(), "replicaof", host, port).Err(); err != nil {
		t.Fatal(err)
	}
}

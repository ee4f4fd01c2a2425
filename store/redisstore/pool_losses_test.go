package redisstore

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

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
	if held := p.nodes.client.Get(ctx, p.keys(3).held).Val(); held != "0" {
		t.Errorf("the outbox is empty, but counts %s", held)
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

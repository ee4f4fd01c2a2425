package pool

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestPoolTwoMasters promotes a replica while its old master goes on. The new master believes no image until it is
// loaded. Then it keeps each claim that SQL does not contradict.
func TestPoolTwoMasters(t *testing.T) {
	t.Parallel() // it waits for replication
	old, young := storetest.Redis(t), storetest.Redis(t)
	admin := redistest.Dial(t, young.URL())
	noError(t, redistest.Dial(t, old.URL()).ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err())
	redistest.ReplicaOf(t, admin, old)
	c := startGrabbers(t, poolOn(t, old.URL()), 1, 10)
	c.await(200)
	info := func(client redis.UniversalClient, name string) string {
		return redistest.Field(client.Info(t.Context(), "replication").Val(), name)
	}
	for info(admin, "master_link_status") != "up" {
		c.await(1)
	}
	c.await(200)
	c.halt()
	offset := func(client redis.UniversalClient, name string) int {
		n, err := strconv.Atoi(info(client, name))
		noError(t, err)
		return n
	}
	for upTo := offset(c.pool.nodes.Client, "master_repl_offset"); offset(admin, "slave_repl_offset") < upTo; {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not follow")
		}
	}
	noError(t, admin.Do(t.Context(), "replicaof", "no", "one").Err())
	both := [2]*Pool{c.pool, poolOn(t, young.URL())}
	attempt := []redpacket.Attempt{{Ref: c.image.Ref, User: c.owners[0]}}
	if got, err := both[1].Grab(t.Context(), attempt); err != nil || got[0].Decision != redpacket.Missing {
		t.Errorf("a new master: %+v %v", got, err)
	}
	if closing, err := both[1].Close(t.Context(), c.image.Ref, redpacket.CloseCancel); err != nil || !closing.Missing {
		t.Errorf("a new master: %+v %v", closing, err)
	}
	noError(t, both[1].Load(t.Context(), c.image))
	next := len(c.owners)
	for n, p := range both {
		got, err := p.Grab(t.Context(), []redpacket.Attempt{attempt[0], {Ref: c.image.Ref, User: "of-" + strconv.Itoa(n)}})
		if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != 0 || got[1].Decision != redpacket.Granted || got[1].Share != next {
			t.Errorf("master %d: %+v %v", n, got, err)
		}
	}
	// SQL has the claim that the new master granted. After a load, the old master's image has it, too.
	i := c.image
	i.Grants = []redpacket.Grant{{User: "of-1", Share: next}}
	noError(t, both[0].Load(t.Context(), i))
	got, err := both[0].Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: "of-1"}, {Ref: i.Ref, User: "of-0"}})
	if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != next || got[1].Decision != redpacket.Granted || got[1].Share != next+1 {
		t.Errorf("after the load: %+v %v", got, err)
	}
}

// TestPoolStaleDump restarts a server from an older dump. The server believes no image of the dump. Its outbox lists
// claims again that were settled before.
func TestPoolStaleDump(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r.URL())
	ctx := t.Context()
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p", Partition: 3}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(ctx, i))
	claims := grabAll(t, p, i, "a", "b")
	noError(t, p.nodes.Client.Save(ctx).Err())
	noError(t, p.Ack(ctx, claims))
	grabAll(t, p, i, "c")
	r.Kill()
	noError(t, r.Restart(ctx))
	got, err := p.Grab(ctx, []redpacket.Attempt{{Ref: i.Ref, User: "d"}})
	if err != nil || got[0].Decision != redpacket.Missing {
		t.Fatalf("before the load: %+v %v", got, err)
	}
	i.Grants = []redpacket.Grant{{User: "a", Share: 0}, {User: "b", Share: 1}, {User: "c", Share: 2}}
	noError(t, p.Load(ctx, i))
	grabAll(t, p, i, "d")
	left := storetest.Unsettled(t, p, 0)
	if len(left) != 3 || left[0].User != "a" || left[1].User != "b" || left[2].User != "d" || left[2].Share != 3 {
		t.Fatalf("unsettled: %+v", left)
	}
	noError(t, p.Ack(ctx, left))
	if held := p.nodes.Client.Get(ctx, p.keys(3).held).Val(); held != "0" {
		t.Errorf("the outbox is empty, and held is %s", held)
	}
}

func grabAll(t *testing.T, p *Pool, i redpacket.Image, users ...string) (claims []redpacket.Claim) {
	t.Helper()
	var attempts []redpacket.Attempt
	for _, user := range users {
		attempts = append(attempts, redpacket.Attempt{Ref: i.Ref, User: user})
	}
	got, err := p.Grab(t.Context(), attempts)
	noError(t, err)
	for n, ans := range got {
		if ans.Decision != redpacket.Granted {
			t.Fatalf("%s: %+v", users[n], ans)
		}
		claims = append(claims, redpacket.Claim{Ref: i.Ref, User: users[n], Share: ans.Share, Entry: ans.Entry})
	}
	return claims
}

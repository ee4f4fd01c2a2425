package pool

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// TestPoolFull fills the memory of a server. It grants nothing more, but still closes packets, which frees memory.
func TestPoolFull(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r.URL())
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 3, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), image))
	grab := func(user string) (redpacket.Decision, error) {
		answers, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: user}})
		if err != nil {
			return 0, err
		}
		return answers[0].Decision, nil
	}
	granted := grabAll(t, p, image, "a", "b")
	setMaxMemory(t, p, "1")
	if got, err := grab("c"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a grab when nothing can be written: decision %d, %v", got, err)
	}
	if got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: "c"}, {Ref: image.Ref, User: "d"}}); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("two grabs when nothing can be written: %+v, %v", got, err)
	}
	if held, err := p.nodes.Client.Get(t.Context(), p.partitions[0].held).Int(); err != nil || held != len(granted) {
		t.Errorf("%d claims are held, %v", held, err)
	}
	if err := p.Ack(t.Context(), granted[:1]); err != nil {
		t.Errorf("a partial ack: %v", err)
	}
	if left := storetest.Unsettled(t, p, 0); len(left) != 1 || left[0].User != "b" {
		t.Errorf("after a partial ack: %+v", left)
	}
	expire(t, p, image)
	closing, err := p.Close(t.Context(), image.Ref, redpacket.CloseDue)
	if err != nil || closing.Reason != redpacket.Expired || len(closing.Grants) != 2 {
		t.Errorf("close: %+v, %v", closing, err)
	}
	image.Status, image.Grants = redpacket.Expired, closing.Grants
	if err := p.Load(t.Context(), image); err != nil {
		t.Errorf("load of the closed packet: %v", err)
	}
	if due, err := p.Due(t.Context(), 10); err != nil || len(due) > 0 {
		t.Errorf("still due: %v, %v", due, err)
	}
}

func setMaxMemory(t *testing.T, p *Pool, bytes string) {
	t.Helper()
	noError(t, p.nodes.Client.ConfigSet(t.Context(), "maxmemory", bytes).Err())
}

// expire moves the deadline of a packet of partition 0 into the past, on a server whose memory is full.
func expire(t *testing.T, p *Pool, i redpacket.Image) {
	t.Helper()
	setMaxMemory(t, p, "0")
	past := time.Now().Add(-time.Second).UnixMilli()
	if err := errors.Join(
		p.nodes.Client.HSet(t.Context(), p.partitions[0].image+i.ID, "#deadline", past).Err(),
		p.nodes.Client.ZAdd(t.Context(), p.partitions[0].due, redis.Z{Score: float64(past), Member: i.ID}).Err(),
	); err != nil {
		t.Fatal(err)
	}
	setMaxMemory(t, p, "1")
}

// TestPoolForeignEntry writes members into the outbox that no script of ours writes. All claims are still listed.
func TestPoolForeignEntry(t *testing.T) {
	p := poolOn(t, storetest.RedisDatabase(t))
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 3, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), image))
	key := p.partitions[0].image + "p"
	for score, entry := range []string{"neither time nor", "1 " + key, "2 " + key + " user", "3 " + key + " user share", "4 p user 3", "5", ""} {
		noError(t, p.nodes.Client.ZAdd(t.Context(), p.partitions[0].out, redis.Z{Score: float64(score), Member: entry}).Err())
	}
	if _, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: "a"}}); err != nil {
		t.Fatal(err)
	}
	claims := storetest.Unsettled(t, p, 0)
	if len(claims) != 1 || claims[0].User != "a" {
		t.Errorf("unsettled: %+v", claims)
	}
}

// TestPoolClockSetBack gives two outbox entries of one packet the same time, as happens if Redis's clock is set back.
// Acks find both.
func TestPoolClockSetBack(t *testing.T) {
	p := poolOn(t, storetest.RedisDatabase(t))
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), image))
	claims := append(grabAll(t, p, image, "a", "b"), grabAll(t, p, image, "c", "d")...)
	out, name := p.partitions[0].out, claims[0].Entry
	entries := p.nodes.Client.ZRangeWithScores(t.Context(), out, 0, 1).Val()
	if p.nodes.Client.ZRem(t.Context(), out, entries[1].Member).Val() != 1 {
		t.Fatalf("the outbox held %+v", entries)
	}
	entries[1].Score, entries[1].Member = entries[0].Score, name+entries[1].Member.(string)[len(name):]
	foreign := redis.Z{Score: entries[0].Score, Member: "foreign"}
	noError(t, p.nodes.Client.ZAdd(t.Context(), out, entries[1], foreign).Err())
	claims[2].Entry, claims[3].Entry = name, name
	noError(t, p.Ack(t.Context(), []redpacket.Claim{claims[1], claims[2]}))
	left := storetest.Unsettled(t, p, 0)
	if held := p.nodes.Client.Get(t.Context(), p.partitions[0].held).Val(); len(left) != 2 || left[0].User != "a" || left[1].User != "d" || held != "2" {
		t.Errorf("left: %+v, held: %s", left, held)
	}
	noError(t, p.Ack(t.Context(), left))
	if n := p.nodes.Client.ZCard(t.Context(), out).Val(); n != 2 { // the placeholder that Load wrote, and the foreign member
		t.Errorf("%d entries are left when all are acked", n)
	}
}

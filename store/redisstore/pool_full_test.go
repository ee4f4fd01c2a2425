package redisstore

import (
	"errors"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// TestPoolFull: a server without memory grants nothing, and lets packets end all the same: that is what frees memory.
func TestPoolFull(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 3, Deadline: time.Now().Add(200 * time.Millisecond), Status: redpacket.Open}
	if err := p.Load(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	grab := func(user string) (redpacket.Decision, error) {
		answers, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: user}})
		if err != nil {
			return 0, err
		}
		return answers[0].Decision, nil
	}
	if got, err := grab("a"); err != nil || got != redpacket.Granted {
		t.Fatalf("decision %d, %v", got, err)
	}
	if err := p.nodes.client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := grab("b"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a grab when nothing can be written: decision %d, %v", got, err)
	}
	<-time.After(time.Until(image.Deadline) + 10*time.Millisecond)
	closing, err := p.Close(t.Context(), image.Ref, false)
	if err != nil || closing.Reason != redpacket.Expired || len(closing.Grants) != 1 {
		t.Errorf("close: %+v, %v", closing, err)
	}
	image.Status, image.Grants = redpacket.Expired, closing.Grants
	if err := p.Load(t.Context(), image); err != nil {
		t.Errorf("the end as SQL has it: %v", err)
	}
	if due, err := p.Due(t.Context(), 10); err != nil || len(due) > 0 {
		t.Errorf("still due: %v, %v", due, err)
	}
}

// TestPoolForeignEntry: what none of our scripts wrote into the outbox keeps nobody's claim from being found.
func TestPoolForeignEntry(t *testing.T) {
	p := poolOn(t, storetest.Redis(t))
	image := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 3, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if err := p.Load(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	if err := p.nodes.client.Do(t.Context(), "xadd", p.partitions[0].out, "*", "p", "neither user nor").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: image.Ref, User: "a"}}); err != nil {
		t.Fatal(err)
	}
	claims, err := p.Unsettled(t.Context(), 0, 10)
	if err != nil || len(claims) != 1 || claims[0].User != "a" {
		t.Errorf("unsettled: %+v, %v", claims, err)
	}
}

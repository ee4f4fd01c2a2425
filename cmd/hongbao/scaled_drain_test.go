package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledDrain stops a server in good order in the midst of a talk: it says that it is not ready, its people are told
// why they have to go, come back on the others, and have missed nothing.
func TestScaledDrain(t *testing.T) {
	i := install(t, build(t, ""), storetest.Redis(t), storetest.Database(t), three()...)
	leaving, staying := i.nodes[0], i.nodes[1:]
	k := newTalk(t, &installation{t: t, nodes: staying})
	packet := k.packet(20)
	i.door.only(leaving)
	var people []*client
	for n := range 20 {
		c := connect(t, i.place(), leaving.guest(fmt.Sprint("moving ", n)), n%2 == 1)
		must[wire.JoinReply](c, "join", wire.JoinRequest{Room: k.room})
		people = append(people, c)
	}
	end := k.begin(0, 1)
	i.door.only(append([]*node{leaving}, staying...)...)

	unready := make(chan bool, 1)
	go func() {
		for {
			select {
			case <-leaving.exited:
				unready <- false
				return
			default:
			}
			if leaving.ready() == http.StatusServiceUnavailable {
				unready <- true
				return
			}
		}
	}()
	began := time.Now()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leaving.stop()
	}()
	if !<-unready {
		t.Error("it was ready to the last")
	}
	t.Logf("it is not ready %v after it was told to stop", time.Since(began).Round(time.Millisecond))
	for _, c := range people {
		reply := must[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: packet})
		if reply.Amount != 100 {
			t.Errorf("%s: a grab on the way is told %+v", c.user.Name, reply)
		}
	}
	<-stopped
	t.Logf("it has ended after %v", time.Since(began).Round(time.Millisecond))
	for _, c := range people {
		eventually(t, 10*time.Second, c.user.Name+" is back", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.connected == 2 && c.recovered == 1
		})
		if !slices.Contains(c.closes, 3001) {
			t.Errorf("%s was told %v, want 3001", c.user.Name, c.closes)
		}
	}
	t.Logf("all are back after %v", time.Since(began).Round(time.Millisecond))
	end()
	k.say(0)
	k.allHeard()
	last := k.said[len(k.said)-1].key
	for _, c := range people {
		c.awaits(k.room, "the last text", func(e wire.Entry) bool { return e.Key == last })
		c.mustBeInOrder()
	}
	if claims := k.claims(packet); len(claims) != len(people) {
		t.Errorf("the packet has %d claims, want %d", len(claims), len(people))
	}
	i.place().mustBalance()
}

package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/web/wire"
)

// talk is a room in which one person speaks at each server, and one listens at each. How long it takes until what was
// said is heard is counted from before it is said, so the commit is part of it.
type talk struct {
	t        *testing.T
	room     string
	speakers []*client // by server
	ears     []*ear    // by server

	usual time.Duration // how long a text took at most when all was well, on this machine, with all that it does besides

	mu   sync.Mutex
	said []utterance // guarded by mu
}

// utterance is a text that was acknowledged.
type utterance struct {
	key string
	by  int // the server
	at  time.Time
}

// between are two moments.
type between struct{ from, to time.Time }

func (b between) holds(at time.Time) bool { return !at.Before(b.from) && at.Before(b.to) }

func newTalk(t *testing.T, i *installation) *talk {
	t.Helper()
	k := &talk{t: t}
	for n, node := range i.nodes {
		speaker, listener := node.guest(fmt.Sprint("speaker ", n)), node.guest(fmt.Sprint("listener ", n))
		c := connect(t, node, speaker, n%2 == 1)
		if n == 0 {
			k.room = must[wire.CreateRoomReply](c, "create_room", wire.CreateRoomRequest{Key: "talk", Name: "talk"}).Room.ID
		}
		must[wire.JoinReply](c, "join", wire.JoinRequest{Room: k.room})
		k.speakers = append(k.speakers, c)
		k.listen(node, listener)
	}
	return k
}

// listen lets one more person into the room, through the server where he listens.
func (k *talk) listen(n *node, who wire.GuestReply) *ear {
	k.t.Helper()
	e := hear(k.t, n, who)
	if _, err := e.RPC(k.t.Context(), "join", []byte(jsonText(wire.JoinRequest{Room: k.room}))); err != nil {
		k.t.Fatalf("%s: join: %v", e.name, err)
	}
	k.ears = append(k.ears, e)
	return e
}

// say has the speaker at a server say something.
func (k *talk) say(by int) {
	k.mu.Lock()
	key := fmt.Sprintf("%d-%d", by, len(k.said))
	k.said = append(k.said, utterance{key: key, by: by, at: time.Now()})
	k.mu.Unlock()
	must[wire.SendReply](k.speakers[by], "send", wire.SendRequest{Room: k.room, Key: key, Text: key})
}

// begin has the speakers at these servers talk, each several times a second, until it is ended.
func (k *talk) begin(by ...int) (end func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for _, n := range by {
		all.Go(func() {
			tick := time.NewTicker(150 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-over:
					return
				case <-tick.C:
					k.say(n)
				}
			}
		})
	}
	end = sync.OnceFunc(func() { close(over); all.Wait() })
	k.t.Cleanup(end)
	return end
}

// allHeard waits until everybody who listens from the start has heard everything, and then looks whether anyone heard
// anything twice, or in disorder.
func (k *talk) allHeard() {
	k.t.Helper()
	for _, u := range k.said {
		for n := range k.speakers {
			k.ears[n].awaits(u.key)
		}
	}
	for n, c := range k.speakers {
		for _, u := range k.said {
			c.awaits(k.room, u.key, func(e wire.Entry) bool { return e.Key == u.key })
			if times := k.ears[n].times(u.key); len(times) != 1 {
				k.t.Errorf("%s heard %s %d times", k.ears[n].name, u.key, len(times))
			}
		}
		c.mustBeInOrder()
	}
}

// asUsual notes how long what was said between two moments took when all was well. That is not held against what comes after.
func (k *talk) asUsual(b between) {
	k.t.Helper()
	k.usual = k.mustHear("when all is well", b, 300*time.Millisecond, 300*time.Millisecond)
}

// mustHear looks how long what was said between two moments took to the listener at the same server, and to those at
// the others. It gives the longest to the same one.
func (k *talk) mustHear(when string, b between, own, others time.Duration) (slowestOwn time.Duration) {
	k.t.Helper()
	var each [2][]time.Duration
	for _, u := range k.said {
		for n := range k.speakers {
			if b.holds(u.at) {
				far := min(1, (n-u.by)*(n-u.by))
				each[far] = append(each[far], k.ears[n].times(u.key)[0].Sub(u.at))
			}
		}
	}
	if len(each[0]) == 0 {
		k.t.Errorf("%s nothing was said", when)
		return 0
	}
	for far, most := range []time.Duration{own, others} {
		slices.Sort(each[far])
		slowest := each[far][len(each[far])-1]
		k.t.Logf("%s %d texts %s: median %v, at most %v", when, len(each[0]), [2]string{"to the own server", "to another one"}[far],
			each[far][len(each[far])/2].Round(time.Millisecond), slowest.Round(time.Millisecond))
		mustTake(k.t, when+" a text", slowest, most+k.usual)
	}
	return each[0][len(each[0])-1]
}

// mustTake fails the test if something took longer than it may.
func mustTake(t *testing.T, what string, took, most time.Duration) {
	t.Helper()
	if took > most {
		t.Errorf("%s took %v, want at most %v", what, took, most)
	}
}

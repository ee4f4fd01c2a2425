package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/web/wire"
)

const (
	restartsClients = 500
	restartsRooms   = 20
	restartsKills   = 6 // of ten

	restartsPatience = 5 * time.Second // the SDK's own
)

var restartsSeed = flag.Uint64("restarts.seed", 0, "end the server at the moments of this seed")

// TestRestarts has a crowd talk on one server that is killed or stopped ten times, at random moments, and started again:
// everyone's journal has each entry of his rooms once and in order, and what was acknowledged is there once.
func TestRestarts(t *testing.T) {
	seed := cmp.Or(*restartsSeed, rand.Uint64())
	t.Logf("-restarts.seed=%d", seed)
	r := newRestarts(t)
	over := make(chan struct{})
	var talking sync.WaitGroup
	for n := range r.people {
		talking.Go(func() { r.speak(n, over) })
	}
	r.trouble(rand.New(rand.NewPCG(seed, 0)))
	close(over)
	talking.Wait()
	r.journals()
	r.node.mustBalance()
}

// restarts is many people in a few rooms of one server.
type restarts struct {
	t      *testing.T
	node   *node
	rooms  []string
	people []*client

	mu    sync.Mutex
	acked map[string]wire.SendReply // guarded by mu; by key
}

// roomsOf person n.
func (r *restarts) roomsOf(n int) []string {
	return []string{r.rooms[n%restartsRooms], r.rooms[(n+1+n/restartsRooms%(restartsRooms-1))%restartsRooms]}
}

func newRestarts(t *testing.T) *restarts {
	t.Helper()
	r := &restarts{
		t: t, node: start(t, build(t, ""), t.TempDir(), freeAddress(t)),
		people: make([]*client, restartsClients), acked: map[string]wire.SendReply{},
	}
	host := connect(t, r.node, r.node.guest("host"), false)
	for n := range restartsRooms {
		key := fmt.Sprint("room-", n)
		r.rooms = append(r.rooms, must[wire.CreateRoomReply](host, "create_room", wire.CreateRoomRequest{Key: key, Name: key}).Room.ID)
	}
	var all sync.WaitGroup
	places := make(chan struct{}, 20)
	for n := range r.people {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			p := connectWaiting(t, r.node, r.node.guest(fmt.Sprint("person ", n)), n%2 == 1, restartsPatience)
			r.people[n] = p
			for _, room := range r.roomsOf(n) {
				must[wire.JoinReply](p, "join", wire.JoinRequest{Room: room})
			}
		})
	}
	all.Wait()
	return r
}

// speak has person n say something now and then.
func (r *restarts) speak(n int, over <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		case <-time.After(rand.N(8 * time.Second)):
		}
		key := fmt.Sprintf("text-%d-%d", n, i)
		// Who is cut off again and again waits up to 20 s between his tries: the SDK does not say how to have it otherwise.
		reply := mustWithin[wire.SendReply](r.people[n], 90*time.Second, "send", wire.SendRequest{Room: r.roomsOf(n)[i%2], Key: key, Text: key})
		r.mu.Lock()
		r.acked[key] = reply
		r.mu.Unlock()
	}
}

// trouble ends the server again and again, and starts it where it was.
func (r *restarts) trouble(dice *rand.Rand) {
	r.t.Helper()
	kills := []bool{9: false}
	for i := range restartsKills {
		kills[i] = true
	}
	dice.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	for _, kill := range kills {
		<-time.After(time.Second + time.Duration(dice.Int64N(int64(2*time.Second))))
		if kill {
			r.node.kill()
		} else {
			r.node.stop()
		}
		<-time.After(time.Duration(dice.Int64N(int64(time.Second))))
		r.node = start(r.t, r.node.binary, r.node.dir, r.node.url.Host)
	}
}

// journals compares what everyone heard with what the rooms hold, and that with what was acknowledged.
func (r *restarts) journals() {
	r.t.Helper()
	histories := map[string][]wire.Entry{}
	said := 0
	for n, room := range r.rooms {
		histories[room] = historyOf(r.people[n], room, 0, 1<<40) // person n is in room n
		said += len(histories[room])
		for _, e := range histories[room] {
			if ack, ok := r.acked[e.Key]; !ok || ack.Seq != e.Seq || ack.ID != e.ID {
				r.t.Errorf("%s is entry %d %s, and was acknowledged (%t) as %+v", e.Key, e.Seq, e.ID, ok, ack)
			}
		}
	}
	if said != len(r.acked) {
		r.t.Errorf("%d texts were acknowledged, the rooms hold %d", len(r.acked), said)
	}
	connections, recoveries, gaps := 0, 0, 0
	for n, p := range r.people {
		for _, room := range r.roomsOf(n) {
			if heard := p.journal(room, len(histories[room])); !slices.EqualFunc(heard, histories[room], sameEntry) {
				r.t.Errorf("%s heard %d entries of a room of %d, and not just these", p.user.Name, len(heard), len(histories[room]))
			}
		}
		p.mu.Lock()
		for _, wrong := range p.wrong {
			r.t.Errorf("%s: %s", p.user.Name, wrong)
		}
		if p.connected < 2 {
			r.t.Errorf("%s was never cut off", p.user.Name)
		}
		connections, recoveries, gaps = connections+p.connected, recoveries+p.recovered, gaps+len(p.missed)
		p.mu.Unlock()
	}
	r.t.Logf("%d texts, %d connections, %d recoveries, %d times too much was missed", said, connections, recoveries, gaps)
}

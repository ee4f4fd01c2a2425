package crash

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

const (
	restartClients = 500
	restartRooms   = 20
	restartKills   = 6 // of ten restarts; the others are graceful stops

	restartTimeout = 5 * time.Second // of requests: the SDK's default
)

var restartSeed = flag.Uint64("restarts.seed", 0, "end the server at the moments of this seed")

// TestRestarts kills or stops a server ten times at random moments while a crowd chats: every client receives each entry of its
// rooms once and in order, and each acknowledged text is stored once.
func TestRestarts(t *testing.T) {
	enginetest.Nightly(t, "crash")
	t.Parallel()
	seed := cmp.Or(*restartSeed, rand.Uint64())
	t.Logf("repeat these moments with -restarts.seed=%d", seed)
	c := newChattingCrowd(t)
	stop := make(chan struct{})
	var chatting sync.WaitGroup
	for n := range c.clients {
		chatting.Go(func() { c.chat(n, stop) })
	}
	c.restartServer(rand.New(rand.NewPCG(seed, 0)))
	close(stop)
	chatting.Wait()
	c.checkJournals()
	c.server.MustBalance()
}

// chattingCrowd is many clients in a few rooms of one server.
type chattingCrowd struct {
	t       *testing.T
	server  *e2e.Server
	rooms   []string
	clients []*e2e.Client

	mu           sync.Mutex
	acknowledged map[string]wire.SendReply // guarded by mu; by key
}

// roomsOf returns the two rooms of client n.
func (c *chattingCrowd) roomsOf(n int) []string {
	return []string{c.rooms[n%restartRooms], c.rooms[(n+1+n/restartRooms%(restartRooms-1))%restartRooms]}
}

func newChattingCrowd(t *testing.T) *chattingCrowd {
	t.Helper()
	c := &chattingCrowd{
		t: t, server: e2e.Start(t, e2e.Build(t, ""), t.TempDir(), e2e.FreeAddress(t)),
		clients: make([]*e2e.Client, restartClients), acknowledged: map[string]wire.SendReply{},
	}
	owner := e2e.Connect(t, c.server, c.server.Guest("owner"), false)
	for n := range restartRooms {
		key := fmt.Sprint("room-", n)
		c.rooms = append(c.rooms, e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: key, Name: key, Kind: "public"}).Room.ID)
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 20)
	for n := range c.clients {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			client := e2e.ConnectWithTimeout(t, c.server, c.server.Guest(fmt.Sprint("guest ", n)), n%2 == 1, restartTimeout)
			c.clients[n] = client
			for _, room := range c.roomsOf(n) {
				e2e.Call[wire.JoinReply](client, "join", wire.JoinRequest{Room: room})
			}
		})
	}
	all.Wait()
	return c
}

// chat has client n send a text every few seconds.
func (c *chattingCrowd) chat(n int, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(rand.N(8 * time.Second)):
		}
		key := fmt.Sprintf("text-%d-%d", n, i)
		// A client that was cut off several times waits up to 20 s before it reconnects; the SDK has no setting for that.
		reply := e2e.CallWithin[wire.SendReply](c.clients[n], 90*time.Second, "send", wire.SendRequest{Room: c.roomsOf(n)[i%2], Key: key, Text: key})
		c.mu.Lock()
		c.acknowledged[key] = reply
		c.mu.Unlock()
	}
}

// restartServer ends the server ten times and starts it again at the same address.
func (c *chattingCrowd) restartServer(dice *rand.Rand) {
	c.t.Helper()
	kills := []bool{9: false}
	for i := range restartKills {
		kills[i] = true
	}
	dice.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	for _, kill := range kills {
		time.Sleep(time.Second + time.Duration(dice.Int64N(int64(2*time.Second))))
		if kill {
			c.server.Kill()
		} else {
			c.server.Stop()
		}
		time.Sleep(time.Duration(dice.Int64N(int64(time.Second))))
		c.server = c.server.Restart()
	}
}

// checkJournals compares what each client received with the rooms' history, and the history with what was acknowledged.
func (c *chattingCrowd) checkJournals() {
	c.t.Helper()
	histories := map[string][]wire.Entry{}
	stored := 0
	for n, room := range c.rooms {
		histories[room] = e2e.History(c.clients[n], room, 0, e2e.All) // client n is in room n
		stored += len(histories[room])
		for _, e := range histories[room] {
			if ack, ok := c.acknowledged[e.Key]; !ok || ack.Seq != e.Seq || ack.ID != e.ID {
				c.t.Errorf("history has %s as entry %d, id %s; acknowledged (%t) was %+v", e.Key, e.Seq, e.ID, ok, ack)
			}
		}
	}
	if stored != len(c.acknowledged) {
		c.t.Errorf("%d texts were acknowledged, but the rooms have %d", len(c.acknowledged), stored)
	}
	connections, recoveries, gaps := 0, 0, 0
	for n, client := range c.clients {
		for _, room := range c.roomsOf(n) {
			if journal := client.Journal(room, len(histories[room])); !slices.EqualFunc(journal, histories[room], e2e.SameEntry) {
				c.t.Errorf("%s received %d entries of a room that has %d, and not each of them once", client.User.Name, len(journal), len(histories[room]))
			}
		}
		client.MustBeInOrder()
		connected, recovered := client.Connections()
		if connected < 2 {
			c.t.Errorf("%s was never disconnected: the test has not tested a reconnect of this client", client.User.Name)
		}
		connections, recoveries, gaps = connections+connected, recoveries+recovered, gaps+client.Gaps()
	}
	c.t.Logf("%d texts, %d connections, %d recoveries, %d gaps that were too large to recover", stored, connections, recoveries, gaps)
}

package load

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

const (
	crowdClients  = 300
	crowdRooms    = 10
	crowdMessages = 2_000
	crowdPackets  = 200
)

// TestScaledCrowd has a crowd chat and grab on three servers while connections are cut, one server is stopped and another killed:
// each client receives each entry of its rooms once and in order, and the money adds up.
func TestScaledCrowd(t *testing.T) {
	enginetest.Nightly(t, "load")
	c := newCrowd(t)
	var all sync.WaitGroup
	for n := range c.clients {
		all.Go(func() { c.speak(n) })
	}
	allSent := make(chan struct{})
	all.Go(func() { c.causeTrouble(allSent) })
	e2e.Eventually(t, 2*time.Minute, "all messages and packets are sent", func() bool { return c.messages.Load() == crowdMessages && c.sent.Load() == crowdPackets })
	close(allSent)
	all.Wait()
	c.grabbing.Wait()
	c.checkJournals()
	c.checkMoney()
	connections, recoveries, gaps := 0, 0, 0
	for _, client := range c.clients {
		connected, recovered := client.Connections()
		connections, recoveries, gaps = connections+connected, recoveries+recovered, gaps+client.Gaps()
	}
	t.Logf("%d connections, %d recoveries, %d gaps that were too large to recover, %d grabs won, a seventh of all connections cut %d times",
		connections, recoveries, gaps, len(c.won), c.cuts)
}

// crowd is many clients in a few rooms.
type crowd struct {
	t *testing.T
	*e2e.Cluster
	rooms   []string
	clients []*e2e.Client

	messages, sent atomic.Int64 // texts and packets that were acknowledged
	cuts           int
	grabbing       sync.WaitGroup

	mu      sync.Mutex
	packets []wire.Packet // guarded by mu; acknowledged
	won     []wonGrab     // guarded by mu
}

// wonGrab is a grab that was answered with a share.
type wonGrab struct {
	by    *e2e.Client
	reply wire.GrabReply
}

// crowdRoomsOf returns the numbers of the two rooms of client n.
func crowdRoomsOf(n int) []int {
	return []int{n % crowdRooms, (n/crowdRooms + n + 1 + n%3) % crowdRooms}
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t, Cluster: e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), e2e.Three()...)}
	owner := e2e.Connect(t, c.Front(), c.Front().Guest("owner"), false)
	for n := range crowdRooms {
		key := fmt.Sprint("room-", n)
		c.rooms = append(c.rooms, e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: key, Name: key, Kind: "public"}).Room.ID)
	}
	c.clients = make([]*e2e.Client, crowdClients)
	var all sync.WaitGroup
	slots := make(chan struct{}, 20)
	for n := range crowdClients {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			client := e2e.Connect(t, c.Front(), c.Front().Guest(fmt.Sprint("guest ", n)), n%2 == 1)
			c.clients[n] = client
			for _, room := range crowdRoomsOf(n) {
				e2e.Call[wire.JoinReply](client, "join", wire.JoinRequest{Room: c.rooms[room]})
			}
		})
	}
	all.Wait()
	for n := range c.clients {
		c.grabbing.Go(func() { c.grabAll(n) })
	}
	return c
}

// speak sends client n's part of all messages and packets, at random moments.
func (c *crowd) speak(n int) {
	client, rooms := c.clients[n], crowdRoomsOf(n)
	for i := n; i < crowdMessages; i += crowdClients {
		time.Sleep(rand.N(1500 * time.Millisecond))
		key := fmt.Sprint("text-", i)
		e2e.Call[wire.SendReply](client, "send", wire.SendRequest{Room: c.rooms[rooms[i%2]], Key: key, Text: key})
		c.messages.Add(1)
		if i >= crowdPackets {
			continue
		}
		ttl := int64(5 + i%20)
		reply := e2e.Call[wire.SendPacketReply](client, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[rooms[0]], Key: fmt.Sprint("packet-", i), Total: 500, Count: new(5 + 200*(i%2)), TTLS: &ttl,
		})
		c.mu.Lock()
		c.packets = append(c.packets, reply.Packet)
		c.mu.Unlock()
		c.sent.Add(1)
	}
}

// grabAll grabs at every packet that client n receives, until all packets are sent.
func (c *crowd) grabAll(n int) {
	client := c.clients[n]
	read := map[string]int{}
	for done := false; !done; {
		time.Sleep(50 * time.Millisecond)
		done = c.sent.Load() == crowdPackets
		for _, number := range crowdRoomsOf(n) {
			room := c.rooms[number]
			entries := client.Heard(room)[read[room]:]
			read[room] += len(entries)
			for _, e := range entries {
				var packet wire.Packet
				if e.Kind == "packet" && json.Unmarshal(e.Body, &packet) == nil {
					c.grab(client, packet.ID)
				}
			}
		}
	}
}

func (c *crowd) grab(client *e2e.Client, packet string) {
	reply := e2e.Call[wire.GrabReply](client, "grab", wire.GrabRequest{Packet: packet})
	if reply.Outcome == "won" || reply.Outcome == "already" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.won = append(c.won, wonGrab{client, reply})
	}
}

// causeTrouble cuts connections, stops a server and kills another one.
func (c *crowd) causeTrouble(allSent <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-allSent:
			if i <= 8 {
				c.t.Errorf("all was sent after %d of the 8 steps that stop and kill servers: the test tested too little", i)
			}
			return
		}
		switch i {
		case 4:
			if err := c.Servers[1].Signal(syscall.SIGTERM); err != nil {
				c.t.Error(err)
			}
		case 8:
			c.Servers[2].Kill()
		default:
			if i < 12 {
				c.Balancer.Cut(7)
				c.cuts++
			}
		}
	}
}

// checkJournals compares what each client received with the rooms' history, from its first entry on.
func (c *crowd) checkJournals() {
	c.t.Helper()
	c.awaitClosed()
	histories := make([][]wire.Entry, crowdRooms)
	for n, room := range c.rooms {
		histories[n] = e2e.History(c.clients[n], room, 0, e2e.All) // client n is in room n
	}
	for n, client := range c.clients {
		for _, room := range crowdRoomsOf(n) {
			history := histories[room]
			e2e.MustBeTail(c.t, client.User.Name, client.Journal(c.rooms[room], len(history)), history)
		}
		client.MustBeInOrder()
	}
}

// awaitClosed waits until no packet is open: at most 5 s after the last deadline.
func (c *crowd) awaitClosed() {
	c.t.Helper()
	var latest int64
	for _, p := range c.packets {
		latest = max(latest, p.ExpiresAt)
	}
	e2e.Eventually(c.t, max(0, time.Until(time.UnixMilli(latest)))+5*time.Second, "all packets are closed", func() bool {
		return c.Front().Audit().OpenPackets == 0
	})
}

// checkMoney compares the replies and the balances of all clients with the claims and refunds on the server.
func (c *crowd) checkMoney() {
	c.t.Helper()
	c.Front().MustBalance()
	stored := map[string]wire.Claim{}
	change := map[string]int64{} // of balances, by user
	for _, p := range c.packets {
		reader := c.clients[slices.IndexFunc(c.clients, func(client *e2e.Client) bool { return client.User.ID == p.From.ID })]
		for after, more := 0, true; more; {
			reply := e2e.Call[wire.PacketReply](reader, "packet", wire.PacketRequest{Packet: p.ID, AfterRank: after, Limit: 100})
			for _, claim := range reply.Claims {
				after = claim.Rank
				stored[p.ID+claim.User.ID] = claim
				change[claim.User.ID] += claim.Amount
			}
			if more = reply.More; !more {
				change[p.From.ID] += reply.State.Refunded - p.Total
			}
		}
	}
	for _, g := range c.won {
		if claim, ok := stored[g.reply.Packet+g.by.User.ID]; !ok || claim.Amount != g.reply.Amount || claim.Rank != g.reply.Rank {
			c.t.Errorf("a grab of %s was answered %+v, but the stored claim is %+v", g.by.User.Name, g.reply, claim)
		}
	}
	for _, client := range c.clients {
		wallet := e2e.Call[wire.WalletReply](client, "wallet", wire.WalletRequest{})
		if want := 100_000 + change[client.User.ID]; wallet.Balance != want {
			c.t.Errorf("the balance of %s is %d, want %d", client.User.Name, wallet.Balance, want)
		}
		e2e.Eventually(c.t, 5*time.Second, fmt.Sprintf("the last balance that was pushed to %s is %d", client.User.Name, wallet.Balance), func() bool {
			return client.PushedBalance() == wallet.Balance
		})
	}
}

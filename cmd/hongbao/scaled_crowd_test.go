package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hongbao/store/storetest"
	"hongbao/web/wire"
)

const (
	crowdClients  = 300
	crowdRooms    = 10
	crowdMessages = 2_000
	crowdPackets  = 200
)

// TestScaledCrowd has a crowd talk and grab on three servers while connections are cut, one server is stopped and
// another one killed: everyone's journal has each entry of his rooms once and in order, and the money adds up.
func TestScaledCrowd(t *testing.T) {
	c := newCrowd(t)
	var all sync.WaitGroup
	for n := range c.people {
		all.Go(func() { c.speak(n) })
	}
	trouble := make(chan struct{})
	all.Go(func() { c.trouble(trouble) })
	eventually(t, 2*time.Minute, "everything is said", func() bool { return c.said.Load() == crowdMessages && c.sent.Load() == crowdPackets })
	close(trouble)
	all.Wait()
	c.grabbing.Wait()
	c.journals()
	c.money()
	t.Logf("%d connections, %d recoveries, %d times too much was missed, %d grabs won, a seventh of all connections cut %d times",
		c.count(func(p *client) int { return p.connected }), c.count(func(p *client) int { return p.recovered }),
		c.count(func(p *client) int { return len(p.missed) }), len(c.won), c.cuts)
}

// crowd is many people in a few rooms.
type crowd struct {
	t *testing.T
	*installation
	rooms  []string
	people []*client

	said, sent atomic.Int64
	cuts       int
	grabbing   sync.WaitGroup

	mu      sync.Mutex
	packets []wire.Packet     // guarded by mu; acknowledged
	won     []told            // guarded by mu
	seen    []map[string]bool // guarded by mu; packets that each has grabbed at
}

// rooms that person n is in.
func crowdRoomsOf(n int) []int {
	return []int{n % crowdRooms, (n/crowdRooms + n + 1 + n%3) % crowdRooms}
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t, installation: install(t, build(t, ""), storetest.Redis(t), storetest.Database(t), three()...)}
	host := connect(t, c.place(), c.place().guest("host"), false)
	for n := range crowdRooms {
		key := fmt.Sprint("room-", n)
		c.rooms = append(c.rooms, must[wire.CreateRoomReply](host, "create_room", wire.CreateRoomRequest{Key: key, Name: key}).Room.ID)
	}
	c.people, c.seen = make([]*client, crowdClients), make([]map[string]bool, crowdClients)
	var all sync.WaitGroup
	slots := make(chan struct{}, 20)
	for n := range crowdClients {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			p := connect(t, c.place(), c.place().guest(fmt.Sprint("person ", n)), n%2 == 1)
			c.people[n], c.seen[n] = p, map[string]bool{}
			for _, room := range crowdRoomsOf(n) {
				must[wire.JoinReply](p, "join", wire.JoinRequest{Room: c.rooms[room]})
			}
		})
	}
	all.Wait()
	for n := range c.people {
		c.grabbing.Go(func() { c.grabAll(n) })
	}
	return c
}

// speak says person n's part of everything, at random moments.
func (c *crowd) speak(n int) {
	p, rooms := c.people[n], crowdRoomsOf(n)
	for i := n; i < crowdMessages; i += crowdClients {
		<-time.After(rand.N(1500 * time.Millisecond))
		key := fmt.Sprint("text-", i)
		must[wire.SendReply](p, "send", wire.SendRequest{Room: c.rooms[rooms[i%2]], Key: key, Text: key})
		c.said.Add(1)
		if i >= crowdPackets {
			continue
		}
		ttl := int64(5 + i%20)
		reply := must[wire.SendPacketReply](p, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[rooms[0]], Key: fmt.Sprint("packet-", i), Total: 500, Count: new(5 + 200*(i%2)), TTLS: &ttl,
		})
		c.mu.Lock()
		c.packets = append(c.packets, reply.Packet)
		c.mu.Unlock()
		c.sent.Add(1)
	}
}

// grabAll grabs at every packet that person n hears of, until all packets are done.
func (c *crowd) grabAll(n int) {
	p := c.people[n]
	read := map[string]int{}
	for done := false; !done; {
		<-time.After(50 * time.Millisecond)
		done = c.sent.Load() == crowdPackets
		for _, room := range crowdRoomsOf(n) {
			p.mu.Lock()
			entries := p.heard["room:"+c.rooms[room]][read[c.rooms[room]]:]
			p.mu.Unlock()
			read[c.rooms[room]] += len(entries)
			for _, e := range entries {
				var packet wire.Packet
				if e.Kind == "packet" && json.Unmarshal(e.Body, &packet) == nil {
					c.grab(n, packet.ID)
				}
			}
		}
	}
}

func (c *crowd) grab(n int, packet string) {
	reply := must[wire.GrabReply](c.people[n], "grab", wire.GrabRequest{Packet: packet})
	if reply.Outcome == "won" || reply.Outcome == "already" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.won = append(c.won, told{c.people[n], reply})
	}
}

// trouble cuts connections, stops a server and kills another one.
func (c *crowd) trouble(over <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-over:
			if i <= 8 {
				c.t.Errorf("it was over before the trouble was")
			}
			return
		}
		switch i {
		case 4:
			if err := c.nodes[1].cmd.Process.Signal(syscall.SIGTERM); err != nil {
				c.t.Error(err)
			}
		case 8:
			c.nodes[2].kill()
		default:
			if i < 12 {
				c.door.cut(7)
				c.cuts++
			}
		}
	}
}

// journals compares what everyone heard with what the rooms hold.
func (c *crowd) journals() {
	c.t.Helper()
	c.allClosed()
	histories := make([][]wire.Entry, crowdRooms)
	for n, room := range c.rooms {
		histories[n] = historyOf(c.people[n], room, 0, 1<<40) // person n is in room n
	}
	for n, p := range c.people {
		for _, room := range crowdRoomsOf(n) {
			c.journal(p, c.rooms[room], histories[room])
		}
		p.mu.Lock()
		for _, wrong := range p.wrong {
			c.t.Errorf("%s: %s", p.user.Name, wrong)
		}
		p.mu.Unlock()
	}
}

// journal compares what one person heard of a room with what it holds, from where he came in.
func (c *crowd) journal(p *client, room string, history []wire.Entry) {
	c.t.Helper()
	mustBeLast(c.t, p.user.Name, p.journal(room, len(history)), history)
}

// journal waits for a room's last entry and gives all that the person heard there, with what was missed read from history.
func (c *client) journal(room string, last int) []wire.Entry {
	c.t.Helper()
	channel := wire.RoomChannel(room)
	eventually(c.t, 20*time.Second, c.user.Name+" has heard the last entry", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.last[channel] == uint64(last)
	})
	c.mu.Lock()
	heard, gaps := slices.Clone(c.heard[channel]), slices.Clone(c.missed)
	c.mu.Unlock()
	for _, gap := range gaps {
		if gap.channel == channel {
			heard = append(heard, historyOf(c, room, int64(gap.after), int64(gap.through))...)
		}
	}
	slices.SortStableFunc(heard, bySeq)
	return heard
}

// mustBeLast fails the test unless somebody has heard just the last entries of a room.
func mustBeLast(t *testing.T, who string, heard, history []wire.Entry) {
	t.Helper()
	if len(heard) > len(history) || !slices.EqualFunc(heard, history[len(history)-len(heard):], sameEntry) {
		t.Errorf("%s heard %d entries of a room of %d, and not just the last ones", who, len(heard), len(history))
	}
}

func bySeq(a, b wire.Entry) int      { return cmp.Compare(a.Seq, b.Seq) }
func sameEntry(a, b wire.Entry) bool { return a.Seq == b.Seq && a.ID == b.ID }

// historyOf reads a part of a room.
func historyOf(p *client, room string, after, through int64) []wire.Entry {
	return pagesOf(after, through, func(after int64) wire.HistoryReply {
		return must[wire.HistoryReply](p, "history", wire.HistoryRequest{Room: room, After: &after, Limit: 100})
	})
}

// pagesOf reads a part of a room page by page.
func pagesOf(after, through int64, read func(after int64) wire.HistoryReply) (entries []wire.Entry) {
	for more := true; more && after < through; {
		page := read(after)
		for _, e := range page.Entries {
			if e.Seq <= through {
				entries = append(entries, e)
			}
			after = e.Seq
		}
		more = page.More
	}
	return entries
}

// allClosed waits until no packet is open: 5 s after the last one's deadline at the latest.
func (c *crowd) allClosed() {
	c.t.Helper()
	var latest int64
	for _, p := range c.packets {
		latest = max(latest, p.ExpiresAt)
	}
	eventually(c.t, max(0, time.Until(time.UnixMilli(latest)))+5*time.Second, "all packets are closed", func() bool {
		return c.place().books().OpenPackets == 0
	})
}

// money compares what people were told with the books.
func (c *crowd) money() {
	c.t.Helper()
	c.place().mustBalance()
	paid := map[string]wire.Claim{}
	want := map[string]int64{}
	for _, p := range c.packets {
		reader := c.people[slices.IndexFunc(c.people, func(q *client) bool { return q.user.ID == p.From.ID })]
		for after, more := 0, true; more; {
			book := must[wire.PacketReply](reader, "packet", wire.PacketRequest{Packet: p.ID, AfterRank: after, Limit: 100})
			for _, claim := range book.Claims {
				after = claim.Rank
				paid[p.ID+claim.User.ID] = claim
				want[claim.User.ID] += claim.Amount
			}
			if more = book.More; !more {
				want[p.From.ID] += book.State.Refunded - p.Total
			}
		}
	}
	for _, w := range c.won {
		if claim, ok := paid[w.reply.Packet+w.by.user.ID]; !ok || claim.Amount != w.reply.Amount || claim.Rank != w.reply.Rank {
			c.t.Errorf("%s was told %+v, which is not stored: %+v", w.by.user.Name, w.reply, claim)
		}
	}
	for _, p := range c.people {
		wallet := must[wire.WalletReply](p, "wallet", wire.WalletRequest{})
		if wallet.Balance != 100_000+want[p.user.ID] {
			c.t.Errorf("%s has %d, want %d", p.user.Name, wallet.Balance, 100_000+want[p.user.ID])
		}
		eventually(c.t, 5*time.Second, p.user.Name+" was told his balance at last", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.balance == wallet.Balance
		})
	}
}

func (c *crowd) count(of func(*client) int) (sum int) {
	for _, p := range c.people {
		p.mu.Lock()
		sum += of(p)
		p.mu.Unlock()
	}
	return sum
}

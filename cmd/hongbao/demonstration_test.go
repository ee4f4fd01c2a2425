package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/web/wire"
)

// party is a room with a sender and people who grab, on a server of its own.
type party struct {
	t      *testing.T
	node   *node
	room   string
	sender *client
	people []*client
}

// TestDemonstration is what the article promised that this kind of program is copied from, over real sockets with the
// unchanged SDK: a packet for fewer people than grab, a packet that runs out of time, and then what the
// article could not: the server is killed in the middle of a packet.
func TestDemonstration(t *testing.T) {
	for _, protobuf := range []bool{false, true} {
		name := "json"
		if protobuf {
			name = "protobuf"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newParty(t, protobuf)
			p.moreHandsThanShares()
			p.moreSharesThanHands()
			p.killedInTheMiddle()
			p.saysGoodbye()
		})
	}
}

func newParty(t *testing.T, protobuf bool) *party {
	p := &party{t: t, node: start(t, build(t, ""), t.TempDir(), freeAddress(t))}
	p.sender = connect(t, p.node, p.node.guest("sender"), protobuf)
	created := must[wire.CreateRoomReply](p.sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "party"})
	p.room = created.Room.ID
	for i := range 9 {
		c := connect(t, p.node, p.node.guest(fmt.Sprint("guest ", i+1)), protobuf)
		must[wire.JoinReply](c, "join", wire.JoinRequest{Room: p.room})
		p.people = append(p.people, c)
	}
	return p
}

// send puts 10.00 in 5 into the room, and returns when everyone has seen the envelope.
func (p *party) send(key string, ttl int64) wire.SendPacketReply {
	p.t.Helper()
	sent := must[wire.SendPacketReply](p.sender, "send_packet",
		wire.SendPacketRequest{Room: p.room, Key: key, Total: 1000, Count: new(5), TTLS: &ttl})
	for _, c := range p.people {
		c.awaits(p.room, "of the packet", func(e wire.Entry) bool { return e.Kind == "packet" && e.Key == key })
	}
	return sent
}

// grab has people grab at once, and gives what each was told.
func (p *party) grab(packet string, people []*client) []wire.GrabReply {
	p.t.Helper()
	told := make([]wire.GrabReply, len(people))
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i, c := range people {
		all.Go(func() {
			<-begin
			told[i] = must[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: packet})
		})
	}
	close(begin)
	all.Wait()
	return told
}

// done waits until everyone has heard how the packet ended.
func (p *party) done(packet, reason string) (state wire.State) {
	p.t.Helper()
	for _, c := range append([]*client{p.sender}, p.people...) {
		c.awaits(p.room, "of the packet's end", func(e wire.Entry) bool {
			var body wire.PacketDoneBody
			if e.Kind != "packet_done" || json.Unmarshal(e.Body, &body) != nil || body.Packet != packet {
				return false
			}
			if body.Reason != reason {
				p.t.Errorf("the packet ended as %s, want %s", body.Reason, reason)
			}
			state = body.State
			return true
		})
	}
	return state
}

func (p *party) balance(c *client) int64 {
	p.t.Helper()
	return must[wire.WalletReply](c, "wallet", wire.WalletRequest{}).Balance
}

// outcomes counts what people were told, and adds up what they won.
func outcomes(told []wire.GrabReply) (count map[string]int, won int64) {
	count = map[string]int{}
	for _, g := range told {
		count[g.Outcome]++
		won += g.Amount
	}
	return count, won
}

func (p *party) moreHandsThanShares() {
	p.t.Helper()
	sent := p.send("nine-hands", 3600)
	told := p.grab(sent.Packet.ID, p.people)
	count, won := outcomes(told)
	if count["won"] != 5 || count["empty"] != 4 || won != 1000 {
		p.t.Errorf("nine grab 10.00 in 5: told %v, %d together; want 5 won, 4 empty, 1000", count, won)
	}
	p.done(sent.Packet.ID, "drained")
	again := p.grab(sent.Packet.ID, p.people)
	for i, g := range again {
		want := told[i]
		if want.Outcome == "won" {
			want.Outcome = "already"
		}
		if g.Outcome != want.Outcome || g.Amount != want.Amount || g.Rank != want.Rank {
			p.t.Errorf("told %+v at first, then %+v", told[i], g)
		}
	}
	p.node.mustBalance()
}

func (p *party) moreSharesThanHands() {
	p.t.Helper()
	before := p.balance(p.sender)
	sent := p.send("three-hands", 5)
	count, won := outcomes(p.grab(sent.Packet.ID, p.people[:3]))
	if count["won"] != 3 {
		p.t.Errorf("three grab 10.00 in 5: told %v, want 3 won", count)
	}
	if got := p.balance(p.sender); got != before-1000 {
		p.t.Errorf("the sender has %d, want %d", got, before-1000)
	}
	state := p.done(sent.Packet.ID, "expired")
	if late := time.Since(time.UnixMilli(sent.Packet.ExpiresAt)); late < 0 || late > 5*time.Second {
		p.t.Errorf("it ended %v after its deadline", late)
	}
	if got := p.balance(p.sender); got != before-won || state.Refunded != 1000-won {
		p.t.Errorf("after the time the sender has %d and %d was refunded; want %d and %d", got, state.Refunded, before-won, 1000-won)
	}
	if count, _ := outcomes(p.grab(sent.Packet.ID, p.people)); count["already"] != 3 || count["expired"] != 6 {
		p.t.Errorf("after the time: told %v, want 3 already, 6 expired", count)
	}
	p.node.mustBalance()
}

// killedInTheMiddle kills the server between two grabs. Clients come back by themselves and miss nothing.
func (p *party) killedInTheMiddle() {
	p.t.Helper()
	sent := p.send("killed", 3600)
	first, _ := outcomes(p.grab(sent.Packet.ID, p.people[:2]))
	said := must[wire.SendReply](p.people[0], "send", wire.SendRequest{Room: p.room, Key: "before", Text: "before"})

	p.node.kill()
	p.node = start(p.t, p.node.binary, p.node.dir, p.node.url.Host)

	// One is back first and speaks; the others recover it, or hear it, but in any case once.
	must[wire.SendReply](p.people[1], "send", wire.SendRequest{Room: p.room, Key: "after", Text: "after"})
	second, rest := outcomes(p.grab(sent.Packet.ID, p.people[2:]))
	if first["won"] != 2 || second["won"] != 3 || second["empty"] != 4 {
		p.t.Errorf("told %v before and %v after; want 2 won, then 3 won and 4 empty", first, second)
	}
	again, before := outcomes(p.grab(sent.Packet.ID, p.people[:2]))
	if again["already"] != 2 || before+rest != 1000 {
		p.t.Errorf("the first two are told %v; all shares make %d", again, before+rest)
	}
	p.done(sent.Packet.ID, "drained")
	for _, c := range append(slices.Clone(p.people), p.sender) {
		c.awaits(p.room, "what was said after", func(e wire.Entry) bool { return e.Key == "after" && e.Seq > said.Seq })
		c.mu.Lock()
		if c.connected != 2 || c.recovered != 1 {
			p.t.Errorf("%s was connected %d times and recovered %d; want 2 and 1", c.user.Name, c.connected, c.recovered)
		}
		c.mu.Unlock()
	}
	p.node.mustBalance()
}

// saysGoodbye stops the server in good order: everyone is told why, nothing is lost.
func (p *party) saysGoodbye() {
	p.t.Helper()
	p.node.stop()
	for _, c := range append(slices.Clone(p.people), p.sender) {
		eventually(p.t, 5*time.Second, "the client is told of the drain", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return slices.Contains(c.closes, uint32(3001))
		})
		c.mustBeInOrder()
	}
	p.node.mustBalance()
}

package embedded

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// fixture is a sender and nine guests in a room of one server.
type fixture struct {
	t      *testing.T
	server *e2e.Server
	room   string
	sender *e2e.Client
	guests []*e2e.Client
}

// TestDemonstration plays the classic demonstration of such programs with real clients: more grabbers than shares, then more
// shares than grabbers until the packet expires. It adds a kill of the server in the midst of a packet, and a graceful stop.
func TestDemonstration(t *testing.T) {
	for _, protobuf := range []bool{false, true} {
		name := "json"
		if protobuf {
			name = "protobuf"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, protobuf)
			f.moreGrabbersThanShares()
			f.moreSharesThanGrabbers()
			f.serverKilled()
			f.serverStopped()
		})
	}
}

func newFixture(t *testing.T, protobuf bool) *fixture {
	f := &fixture{t: t, server: startServer(t)}
	f.sender = e2e.Connect(t, f.server, f.server.Guest("sender"), protobuf)
	created := e2e.Call[wire.CreateRoomReply](f.sender, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"})
	f.room = created.Room.ID
	for i := range 9 {
		c := e2e.Connect(t, f.server, f.server.Guest(fmt.Sprint("guest ", i+1)), protobuf)
		e2e.Call[wire.JoinReply](c, "join", wire.JoinRequest{Room: f.room})
		f.guests = append(f.guests, c)
	}
	return f
}

// everyone returns the guests and the sender.
func (f *fixture) everyone() []*e2e.Client { return append(slices.Clone(f.guests), f.sender) }

// send sends a packet of 10.00 in 5 shares, and returns when every guest has received its entry.
func (f *fixture) send(key string, ttl int64) wire.SendPacketReply {
	f.t.Helper()
	sent := e2e.Call[wire.SendPacketReply](f.sender, "send_packet",
		wire.SendPacketRequest{Room: f.room, Key: key, Total: 1000, Count: new(5), TTLS: &ttl})
	for _, c := range f.guests {
		c.Await(f.room, "the packet "+key, func(e wire.Entry) bool { return e.Kind == "packet" && e.Key == key })
	}
	return sent
}

// grab has guests grab at the same moment, and returns the reply of each.
func (f *fixture) grab(packet string, guests []*e2e.Client) []wire.GrabReply {
	f.t.Helper()
	replies := make([]wire.GrabReply, len(guests))
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i, c := range guests {
		all.Go(func() {
			<-begin
			replies[i] = e2e.Call[wire.GrabReply](c, "grab", wire.GrabRequest{Packet: packet})
		})
	}
	close(begin)
	all.Wait()
	return replies
}

// awaitDone waits until everyone has received the packet's end, which must have the reason.
func (f *fixture) awaitDone(packet, reason string) (state wire.State) {
	f.t.Helper()
	for _, c := range f.everyone() {
		c.Await(f.room, "packet_done", func(e wire.Entry) bool {
			var body wire.PacketDoneBody
			if e.Kind != "packet_done" || json.Unmarshal(e.Body, &body) != nil || body.Packet != packet {
				return false
			}
			if body.Reason != reason {
				f.t.Errorf("the packet ended with reason %s, want %s", body.Reason, reason)
			}
			state = body.State
			return true
		})
	}
	return state
}

func (f *fixture) balance(c *e2e.Client) int64 {
	f.t.Helper()
	return e2e.Call[wire.WalletReply](c, "wallet", wire.WalletRequest{}).Balance
}

// outcomes counts the outcomes of grabs, and adds up their amounts.
func outcomes(replies []wire.GrabReply) (count map[string]int, sum int64) {
	count = map[string]int{}
	for _, g := range replies {
		count[g.Outcome]++
		sum += g.Amount
	}
	return count, sum
}

// firstOutcomes counts the outcomes of grabs, of which none is a user's second one. Some may be "already": after a temporary error the
// client has grabbed again.
func firstOutcomes(replies []wire.GrabReply) (count map[string]int, sum int64) {
	count, sum = outcomes(replies)
	count["won"] += count["already"]
	return count, sum
}

func (f *fixture) moreGrabbersThanShares() {
	f.t.Helper()
	sent := f.send("nine-grabbers", 3600)
	replies := f.grab(sent.Packet.ID, f.guests)
	count, won := firstOutcomes(replies)
	if count["won"] != 5 || count["empty"] != 4 || won != 1000 {
		f.t.Errorf("nine guests grab a packet of 1000 in 5 shares: outcomes %v, %d won together; want 5 won, 4 empty, 1000", count, won)
	}
	f.awaitDone(sent.Packet.ID, "drained")
	for i, again := range f.grab(sent.Packet.ID, f.guests) {
		want := replies[i]
		if want.Outcome == "won" {
			want.Outcome = "already"
		}
		if again.Outcome != want.Outcome || again.Amount != want.Amount || again.Rank != want.Rank {
			f.t.Errorf("a repeated grab is answered %+v, want outcome, amount and rank of %+v", again, want)
		}
	}
	f.server.MustBalance()
}

func (f *fixture) moreSharesThanGrabbers() {
	f.t.Helper()
	before := f.balance(f.sender)
	sent := f.send("three-grabbers", 15)
	count, won := firstOutcomes(f.grab(sent.Packet.ID, f.guests[:3]))
	if count["won"] != 3 {
		f.t.Errorf("three guests grab a packet of 5 shares: outcomes %v, want 3 won", count)
	}
	if got := f.balance(f.sender); got != before-1000 {
		f.t.Errorf("while the packet is open the sender has %d, want %d", got, before-1000)
	}
	state := f.awaitDone(sent.Packet.ID, "expired")
	delay := time.Since(time.UnixMilli(sent.Packet.ExpiresAt))
	if got := f.balance(f.sender); got != before-won || state.Refunded != 1000-won {
		f.t.Errorf("after expiry the sender has %d and %d was refunded; want %d and %d", got, state.Refunded, before-won, 1000-won)
	}
	if count, _ := outcomes(f.grab(sent.Packet.ID, f.guests)); count["already"] != 3 || count["expired"] != 6 {
		f.t.Errorf("grabs after expiry: outcomes %v, want 3 already, 6 expired", count)
	}
	f.server.MustBalance()
	if delay < 0 {
		f.t.Errorf("packet_done came %v before the deadline", -delay)
	}
	e2e.MustTake(f.t, "packet_done after the deadline", delay, 5*time.Second)
}

// serverKilled kills the server between two grabs. Clients reconnect by themselves and miss nothing.
func (f *fixture) serverKilled() {
	f.t.Helper()
	sent := f.send("killed", 3600)
	first, _ := firstOutcomes(f.grab(sent.Packet.ID, f.guests[:2]))
	before := e2e.Call[wire.SendReply](f.guests[0], "send", wire.SendRequest{Room: f.room, Key: "before", Text: "before"})

	f.server.Kill()
	f.server = f.server.Restart()

	// One client is back first and sends a text. The others receive it live or by recovery, in either case once.
	e2e.Call[wire.SendReply](f.guests[1], "send", wire.SendRequest{Room: f.room, Key: "after", Text: "after"})
	second, sumOfRest := firstOutcomes(f.grab(sent.Packet.ID, f.guests[2:]))
	if first["won"] != 2 || second["won"] != 3 || second["empty"] != 4 {
		f.t.Errorf("outcomes %v before the kill and %v after it; want 2 won, then 3 won and 4 empty", first, second)
	}
	again, sumOfFirst := outcomes(f.grab(sent.Packet.ID, f.guests[:2]))
	if again["already"] != 2 || sumOfFirst+sumOfRest != 1000 {
		f.t.Errorf("the first two grab again: outcomes %v, want 2 already; all shares together are %d, want 1000", again, sumOfFirst+sumOfRest)
	}
	f.awaitDone(sent.Packet.ID, "drained")
	for _, c := range f.everyone() {
		c.Await(f.room, "the text that was sent after the kill", func(e wire.Entry) bool { return e.Key == "after" && e.Seq > before.Seq })
		if connected, recovered := c.Connections(); connected != 2 || recovered != 1 {
			e2e.TooSlow(f.t, "%s was connected %d times and recovered %d times; want 2 and 1", c.User.Name, connected, recovered)
		}
	}
	f.server.MustBalance()
}

// serverStopped stops the server gracefully: every client is closed with code 3001, and nothing is lost.
func (f *fixture) serverStopped() {
	f.t.Helper()
	f.server.Stop()
	for _, c := range f.everyone() {
		e2e.Eventually(f.t, 5*time.Second, c.User.Name+" was closed with code 3001", func() bool { return slices.Contains(c.Closes(), 3001) })
		c.MustHaveAll()
	}
	f.server.MustBalance()
}

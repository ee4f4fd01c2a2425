package scaled

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// conversation is a room with one speaker and one listener at each server. The delay of a text is the time from just
// before it is sent until it is received, so it includes the commit.
type conversation struct {
	t         *testing.T
	room      string
	speakers  []*e2e.Client // by server
	listeners []*listener   // by server; more may follow

	usual time.Duration // the longest delay before the fault, on this machine and under its other load

	mu   sync.Mutex
	sent []sentText // guarded by mu
}

// sentText is a text that a speaker sent.
type sentText struct {
	key    string
	server int
	at     time.Time
}

// period is the time between two moments.
type period struct{ from, to time.Time }

func (p period) contains(at time.Time) bool { return !at.Before(p.from) && at.Before(p.to) }

func newConversation(t *testing.T, servers ...*e2e.Server) *conversation {
	t.Helper()
	c := &conversation{t: t}
	for n, server := range servers {
		speaker, guest := server.Guest(fmt.Sprint("speaker ", n)), server.Guest(fmt.Sprint("listener ", n))
		client := e2e.Connect(t, server, speaker, n%2 == 1)
		if n == 0 {
			c.room = e2e.Call[wire.CreateRoomReply](client, "create_room", wire.CreateRoomRequest{Key: "conversation", Name: "conversation", Kind: "public"}).Room.ID
		}
		e2e.Call[wire.JoinReply](client, "join", wire.JoinRequest{Room: c.room})
		c.speakers = append(c.speakers, client)
		c.addListener(server, guest)
	}
	return c
}

// addListener lets one more guest join the room, with a socket at a server.
func (c *conversation) addListener(server *e2e.Server, guest wire.GuestReply) {
	c.t.Helper()
	l := listen(c.t, server, guest)
	l.call("join", wire.JoinRequest{Room: c.room})
	c.listeners = append(c.listeners, l)
}

// say has the speaker at a server send a text.
func (c *conversation) say(server int) {
	c.mu.Lock()
	key := fmt.Sprintf("%d-%d", server, len(c.sent))
	c.sent = append(c.sent, sentText{key: key, server: server, at: time.Now()})
	c.mu.Unlock()
	e2e.Call[wire.SendReply](c.speakers[server], "send", wire.SendRequest{Room: c.room, Key: key, Text: key})
}

// begin has the speakers at these servers each send several texts a second until end is called.
func (c *conversation) begin(servers ...int) (end func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, n := range servers {
		all.Go(func() {
			tick := time.NewTicker(150 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					c.say(n)
				}
			}
		})
	}
	end = sync.OnceFunc(func() { close(stop); all.Wait() })
	c.t.Cleanup(end)
	return end
}

// awaitMore waits until the speakers have sent so many more texts.
func (c *conversation) awaitMore(texts int) {
	c.t.Helper()
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.sent)
	}
	before := count()
	e2e.Eventually(c.t, time.Minute, fmt.Sprint(texts, " more texts are sent"), func() bool { return count() >= before+texts })
}

// awaitAll waits until the speakers and the first listeners have received every text, each once and in order.
func (c *conversation) awaitAll() {
	c.t.Helper()
	for _, sent := range c.sent {
		for n := range c.speakers {
			c.listeners[n].await(sent.key)
		}
	}
	for n, speaker := range c.speakers {
		for _, sent := range c.sent {
			speaker.Await(c.room, "text "+sent.key, func(e wire.Entry) bool { return e.Key == sent.key })
			if times := c.listeners[n].times(sent.key); len(times) != 1 {
				c.t.Errorf("%s received text %s %d times, want once", c.listeners[n].name, sent.key, len(times))
			}
		}
		speaker.MustHaveAll()
	}
}

// measureUsual notes the longest delay in a period without a fault. Limits grow by twice that: the machine may be busy.
func (c *conversation) measureUsual(when string, p period) {
	c.t.Helper()
	c.usual = c.mustDeliver(when, p, 3*time.Second, 3*time.Second)
}

// atOwnServer limits the delay of a text at its sender's server, whatever happens to Redis: less than the time after which a server gives up
// waiting for Redis.
const atOwnServer = time.Second

// mustDeliver checks the delays of the texts that were sent in a period. own is the limit for the listener at the
// sender's server, others that for listeners at other servers. It returns the longest delay.
func (c *conversation) mustDeliver(when string, p period, own, others time.Duration) (slowest time.Duration) {
	c.t.Helper()
	var delays [2][]time.Duration
	for _, sent := range c.sent {
		for n := range c.speakers {
			if p.contains(sent.at) {
				other := min(1, (n-sent.server)*(n-sent.server))
				delays[other] = append(delays[other], c.listeners[n].times(sent.key)[0].Sub(sent.at))
			}
		}
	}
	if len(delays[0]) == 0 {
		e2e.TooSlow(c.t, "no text was sent %s, want some", when)
	}
	for other, limit := range []time.Duration{own, others} {
		to := [2]string{"at the sender's server", "at another server"}[other]
		slices.Sort(delays[other])
		longest := delays[other][len(delays[other])-1]
		slowest = max(slowest, longest)
		c.t.Logf("%s, %d texts to listeners %s: median %v, longest %v", when, len(delays[0]), to,
			delays[other][len(delays[other])/2].Round(time.Millisecond), longest.Round(time.Millisecond))
		e2e.MustTake(c.t, "delivery of a text "+when+" to a listener "+to, longest, limit+2*c.usual)
	}
	return slowest
}

// packet sends a packet with 100 for each share, and returns its id.
func (c *conversation) packet(count int) (id string) {
	c.t.Helper()
	return e2e.Call[wire.SendPacketReply](c.speakers[0], "send_packet", wire.SendPacketRequest{
		Room: c.room, Key: "packet", Mode: "equal", Total: int64(100 * count), Count: new(count),
	}).Packet.ID
}

func (c *conversation) claims(packet string) []wire.Claim {
	c.t.Helper()
	return e2e.Call[wire.PacketReply](c.speakers[0], "packet", wire.PacketRequest{Packet: packet}).Claims
}

// addNewcomer signs in a new guest while Redis is away. That must not take long.
func (c *conversation) addNewcomer(server *e2e.Server, when string) {
	c.t.Helper()
	began := time.Now()
	c.addListener(server, server.Guest("newcomer "+when))
	took := time.Since(began)
	c.t.Logf("%s a guest signs in, connects and joins in %v", when, took.Round(time.Millisecond))
	e2e.MustTake(c.t, "signing in, connecting and joining "+when, took, time.Second)
}

package e2e

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// Client is a user with the unchanged SDK centrifuge-go. It records the entries that are pushed, and the newest balance. It checks
// that the entries of each room come once, in order and without gaps, across reconnects; gaps that the server announces are
// recorded.
type Client struct {
	*centrifuge.Client
	User  wire.User
	Token string

	t *testing.T

	mu        sync.Mutex // guards all below
	heard     map[string][]wire.Entry
	last      map[string]uint64 // offset by channel
	epochs    map[string]string // epoch by channel
	connected int
	recovered int      // subscriptions that got all missed entries after a reconnect
	gaps      []gap    // entries that the server did not recover; Journal reads them from history
	balance   int64    // of the highest version since the last connect
	version   int64    // of balance
	disorder  []string // violations of the order

	renumberings int      // rooms that were loaded anew, because the server had lost entries
	closes       []uint32 // why the SDK began to connect: 0 for the first time, then the codes with which connections ended
}

// gap is the part of a channel after one offset, up to and including another.
type gap struct {
	channel        string
	after, through uint64
}

// Connect connects a guest, and returns when the client is connected. Requests time out after 20 s: tests run on busy machines.
func Connect(t *testing.T, s *Server, guest wire.GuestReply, protobuf bool) *Client {
	t.Helper()
	return ConnectWithTimeout(t, s, guest, protobuf, 20*time.Second)
}

// ConnectWithTimeout is Connect with another timeout of requests. The SDK does not notice that a socket is gone while it
// waits for the answer to a connect: if the server dies then, the client reconnects only after the timeout.
func ConnectWithTimeout(t *testing.T, s *Server, guest wire.GuestReply, protobuf bool, timeout time.Duration) *Client {
	t.Helper()
	dial := centrifuge.NewJsonClient
	if protobuf {
		dial = centrifuge.NewProtobufClient
	}
	c := &Client{
		Client: dial(s.SocketURL(protobuf), centrifuge.Config{Token: guest.Token, ReadTimeout: timeout, HandshakeTimeout: 10 * time.Second}),
		t:      t, User: guest.User, Token: guest.Token, heard: map[string][]wire.Entry{}, last: map[string]uint64{}, epochs: map[string]string{},
	}
	c.OnConnected(func(e centrifuge.ConnectedEvent) {
		var data wire.ConnectData
		_ = json.Unmarshal(e.Data, &data)
		c.record(func() { c.connected++; c.balance, c.version = data.Balance, data.AccountVersion })
	})
	c.OnMessage(func(e centrifuge.MessageEvent) {
		var m wire.Message
		if _ = json.Unmarshal(e.Data, &m); m.Wallet != nil {
			c.record(func() {
				if m.Wallet.AccountVersion >= c.version {
					c.balance, c.version = m.Wallet.Balance, m.Wallet.AccountVersion
				}
			})
		}
	})
	c.OnConnecting(func(e centrifuge.ConnectingEvent) { c.record(func() { c.closes = append(c.closes, e.Code) }) })
	c.OnSubscribed(c.subscribed)
	c.OnPublication(c.published)
	t.Cleanup(c.Close)
	NoError(t, c.Connect())
	Eventually(t, 20*time.Second, guest.User.Name+" is connected", func() bool { return c.State() == centrifuge.StateConnected })
	return c
}

func (c *Client) record(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *Client) subscribed(e centrifuge.ServerSubscribedEvent) {
	c.record(func() {
		epoch := c.epochs[e.Channel]
		c.epochs[e.Channel] = e.StreamPosition.Epoch
		switch {
		case epoch != "" && epoch != e.StreamPosition.Epoch, e.StreamPosition.Offset < c.last[e.Channel]:
			c.renumbered(e.Channel, e.StreamPosition.Offset)
		case e.WasRecovering && e.Recovered:
			c.recovered++
		case e.WasRecovering:
			c.gaps = append(c.gaps, gap{e.Channel, c.last[e.Channel], e.StreamPosition.Offset})
			c.last[e.Channel] = e.StreamPosition.Offset
		default:
			c.last[e.Channel] = e.StreamPosition.Offset
		}
	})
}

// renumbered forgets the entries of a room, because the server has lost some or may have. Journal reads all of them from history.
func (c *Client) renumbered(channel string, offset uint64) {
	delete(c.heard, channel)
	c.gaps = slices.DeleteFunc(c.gaps, func(g gap) bool { return g.channel == channel })
	c.gaps = append(c.gaps, gap{channel, 0, offset})
	c.last[channel] = offset
	c.renumberings++
}

// Renumberings returns how often the client had to load a room anew, because the epoch had changed or its position was
// beyond the end.
func (c *Client) Renumberings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renumberings
}

func (c *Client) published(e centrifuge.ServerPublicationEvent) {
	var entry wire.Entry
	err := json.Unmarshal(e.Data, &entry)
	c.record(func() {
		if err != nil || e.Offset != c.last[e.Channel]+1 || uint64(entry.Seq) != e.Offset {
			c.disorder = append(c.disorder, "after offset "+JSON(c.last[e.Channel])+" of "+e.Channel+" came "+string(e.Data))
		}
		c.last[e.Channel] = e.Offset
		c.heard[e.Channel] = append(c.heard[e.Channel], entry)
	})
}

// Heard returns the entries of a room that were pushed since the client last had to load the room anew (Renumberings), in the
// order in which they came.
func (c *Client) Heard(room string) []wire.Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.heard[wire.RoomChannel(room)])
}

// Await waits until an entry of the room was pushed for which fits returns true, and returns that entry. want describes the entry.
func (c *Client) Await(room, want string, fits func(wire.Entry) bool) (found wire.Entry) {
	c.t.Helper()
	Eventually(c.t, 20*time.Second, c.User.Name+" received "+want, func() bool {
		i := slices.IndexFunc(c.Heard(room), fits)
		if i >= 0 {
			found = c.Heard(room)[i]
		}
		return i >= 0
	})
	return found
}

// Connections returns how often the client was connected, and how many subscriptions were recovered completely.
func (c *Client) Connections() (connected, recovered int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected, c.recovered
}

// Gaps returns how often a subscription could not recover all entries that it had missed. A room that was loaded anew counts once.
func (c *Client) Gaps() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.gaps)
}

// Closes returns why the SDK has begun to connect each time: 0 for the first time, then the codes with which connections ended.
func (c *Client) Closes() []uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.closes)
}

// PushedBalance returns the newest balance that the server pushed or sent with the connect reply.
func (c *Client) PushedBalance() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.balance
}

// MustBeInOrder fails the test if any entry came twice, out of order, or after a gap that the server had not
// announced.
func (c *Client) MustBeInOrder() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, violation := range c.disorder {
		c.t.Errorf("%s: entries out of order: %s", c.User.Name, violation)
	}
}

// MustHaveAll is MustBeInOrder. It also fails the test if the server could not recover all entries that a subscription
// had missed, or if a room was loaded anew.
func (c *Client) MustHaveAll() {
	c.t.Helper()
	c.MustBeInOrder()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.gaps {
		TooSlow(c.t, "%s: entries after %d through %d of %s were not recovered after a reconnect", c.User.Name, g.after, g.through, g.channel)
	}
}

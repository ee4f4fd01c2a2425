package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// client is a person with the unchanged SDK, who notes everything he hears.
type client struct {
	*centrifuge.Client
	t    *testing.T
	user wire.User

	mu        sync.Mutex
	heard     map[string][]wire.Entry // by channel
	last      map[string]uint64       // offset by channel
	connected int
	recovered int      // subscriptions that came back with everything that was missed
	missed    []missed // what was too much to come back; read from history afterwards
	balance   int64    // as last told
	wrong     []string // what must not have happened
	closes    []uint32 // why connections ended
}

// missed is a part of a channel, after one offset and up to another.
type missed struct {
	channel        string
	after, through uint64
}

// connect brings a person in, who has much patience with a busy machine, and returns when he is connected.
func connect(t *testing.T, n *node, who wire.GuestReply, protobuf bool) *client {
	t.Helper()
	return connectWaiting(t, n, who, protobuf, 20*time.Second)
}

// connectWaiting is connect for one who waits so long for each answer. For that of a connect he waits as long even when the
// server has died meanwhile: the SDK does not look whether the socket is still there.
func connectWaiting(t *testing.T, n *node, who wire.GuestReply, protobuf bool, atMost time.Duration) *client {
	t.Helper()
	dial := centrifuge.NewJsonClient
	if protobuf {
		dial = centrifuge.NewProtobufClient
	}
	c := &client{
		Client: dial(n.socket(protobuf), centrifuge.Config{Token: who.Token, ReadTimeout: atMost, HandshakeTimeout: 10 * time.Second}),
		t:      t, user: who.User, heard: map[string][]wire.Entry{}, last: map[string]uint64{},
	}
	c.OnConnected(func(e centrifuge.ConnectedEvent) {
		var data wire.ConnectData
		_ = json.Unmarshal(e.Data, &data)
		c.note(func() { c.connected++; c.balance = data.Balance })
	})
	c.OnMessage(func(e centrifuge.MessageEvent) {
		var m wire.Message
		if _ = json.Unmarshal(e.Data, &m); m.Wallet != nil {
			c.note(func() { c.balance = m.Wallet.Balance })
		}
	})
	c.OnConnecting(func(e centrifuge.ConnectingEvent) { c.note(func() { c.closes = append(c.closes, e.Code) }) })
	c.OnSubscribed(c.subscribed)
	c.OnPublication(c.published)
	t.Cleanup(c.Close)
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, who.User.Name+" is connected", func() bool { return c.State() == centrifuge.StateConnected })
	return c
}

func (c *client) note(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}

func (c *client) subscribed(e centrifuge.ServerSubscribedEvent) {
	c.note(func() {
		switch {
		case e.WasRecovering && e.Recovered:
			c.recovered++
		case e.WasRecovering:
			c.missed = append(c.missed, missed{e.Channel, c.last[e.Channel], e.StreamPosition.Offset})
			c.last[e.Channel] = e.StreamPosition.Offset
		default:
			c.last[e.Channel] = e.StreamPosition.Offset
		}
	})
}

// published checks the promise of a room: every entry once, in order, without a hole, across reconnects.
func (c *client) published(e centrifuge.ServerPublicationEvent) {
	var entry wire.Entry
	err := json.Unmarshal(e.Data, &entry)
	c.note(func() {
		if err != nil || e.Offset != c.last[e.Channel]+1 || uint64(entry.Seq) != e.Offset {
			c.wrong = append(c.wrong, "after "+jsonText(c.last[e.Channel])+" came "+string(e.Data))
		}
		c.last[e.Channel] = e.Offset
		c.heard[e.Channel] = append(c.heard[e.Channel], entry)
	})
}

// awaits waits until the person has heard an entry of the room that fits.
func (c *client) awaits(room, what string, fits func(wire.Entry) bool) (found wire.Entry) {
	c.t.Helper()
	eventually(c.t, 20*time.Second, c.user.Name+" hears "+what, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, e := range c.heard["room:"+room] {
			if fits(e) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// mustBeInOrder fails the test if anything that was pushed to the person was not as promised.
func (c *client) mustBeInOrder() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrong {
		c.t.Errorf("%s: %s", c.user.Name, w)
	}
	for _, m := range c.missed {
		c.t.Errorf("%s: not recovered: %+v", c.user.Name, m)
	}
}

// ask sends a command once, and a grab until it is not pending. The error is the server's *centrifuge.Error, or says that no answer came.
func ask[Reply any](ctx context.Context, c *client, method string, request any) (Reply, error) {
	for {
		var reply Reply
		result, err := patientCall(ctx, c.Client, method, []byte(jsonText(request)))
		if err == nil {
			err = json.Unmarshal(result.Data, &reply)
		}
		if grab, ok := any(reply).(wire.GrabReply); err == nil && ok && grab.Outcome == "pending" {
			continue // that promises nothing: asking again tells
		}
		return reply, err
	}
}

// patientCall is RPC, but ends with ctx: now and then centrifuge-go's own never returns when the socket breaks under it.
func patientCall(ctx context.Context, c *centrifuge.Client, method string, data []byte) (centrifuge.RPCResult, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	type outcome struct {
		result centrifuge.RPCResult
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		result, err := c.RPC(ctx, method, data)
		ended <- outcome{result, err}
	}()
	select {
	case o := <-ended:
		return o.result, o.err
	case <-ctx.Done():
		return centrifuge.RPCResult{}, ctx.Err()
	}
}

// must sends a command, again for as long as the answer says that this is right or none comes, as clients should.
func must[Reply any](c *client, method string, request any) Reply {
	c.t.Helper()
	return mustWithin[Reply](c, 40*time.Second, method, request)
}

func mustWithin[Reply any](c *client, patience time.Duration, method string, request any) Reply {
	c.t.Helper()
	var reply Reply
	var err error
	eventually(c.t, patience, method+" is answered", func() bool {
		reply, err = ask[Reply](context.Background(), c, method, request)
		var refused *centrifuge.Error
		return err == nil || errors.As(err, &refused) && !refused.Temporary
	})
	if err != nil {
		c.t.Fatalf("%s: %s %s: %v", c.user.Name, method, jsonText(request), err)
	}
	return reply
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain types only
	}
	return string(text)
}

package sdk

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// centrifugeGo is centrifuge-go with one of its encodings.
type centrifugeGo struct {
	t        *testing.T
	protobuf bool
}

func (g centrifugeGo) prepare() {}

func (g centrifugeGo) reconnectsAfterTooBig() bool { return true }

func (g centrifugeGo) open(o options, log *eventLog) client {
	dial := centrifuge.NewJsonClient
	if g.protobuf {
		dial = centrifuge.NewProtobufClient
	}
	c := &goClient{
		t: g.t,
		Client: dial(o.server.SocketURL(g.protobuf), centrifuge.Config{
			Token: o.token, GetToken: tokenGetter(o), HandshakeTimeout: timeout, ReadTimeout: timeout, MaxServerPingDelay: 2 * timeout,
		}),
	}
	c.OnConnected(func(e centrifuge.ConnectedEvent) { log.connected(e.Data) })
	c.OnConnecting(func(e centrifuge.ConnectingEvent) {
		if e.Code != 0 { // 0 is the first connect
			log.reconnecting(e.Code)
		}
	})
	c.OnDisconnected(func(e centrifuge.DisconnectedEvent) { log.disconnected(e.Code) })
	c.OnSubscribing(func(centrifuge.ServerSubscribingEvent) {}) // without it the SDK does not report rooms that were lost while away
	c.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) {
		log.subscribed(e.Channel, e.StreamPosition.Offset, e.Data, e.WasRecovering, e.Recovered)
	})
	c.OnUnsubscribed(func(e centrifuge.ServerUnsubscribedEvent) { log.unsubscribed(e.Channel) })
	c.OnPublication(func(e centrifuge.ServerPublicationEvent) {
		c.stalled.Lock()
		defer c.stalled.Unlock()
		log.entry(e.Channel, e.Offset, e.Data)
	})
	c.OnMessage(func(e centrifuge.MessageEvent) { log.message(e.Data) })
	g.t.Cleanup(c.Close)
	e2e.NoError(g.t, c.Connect())
	return c
}

func tokenGetter(o options) func(centrifuge.ConnectionTokenEvent) (string, error) {
	if o.refresh == nil {
		return nil
	}
	return func(centrifuge.ConnectionTokenEvent) (string, error) {
		token, err := o.refresh()
		if errors.Is(err, errNoToken) {
			err = centrifuge.ErrUnauthorized
		}
		return token, err
	}
}

// goClient is a client of centrifuge-go.
type goClient struct {
	*centrifuge.Client
	t       *testing.T
	stalled sync.Mutex // the handler of publications takes it; the SDK does not read while the handler waits
}

func (c *goClient) stall() (resume func()) {
	c.stalled.Lock()
	return sync.OnceFunc(c.stalled.Unlock)
}

func (c *goClient) call(method, request string) ([]byte, error) {
	result, err := e2e.RPC(c.t.Context(), c.Client, method, []byte(request))
	var refused *centrifuge.Error
	if errors.As(err, &refused) {
		return nil, wireError(refused)
	}
	return result.Data, err
}

// flood sends a few commands at once, so that they exceed the rate on a slow machine, too. It sends the last ones one after the other,
// and stops when the server must have closed: if the SDK writes while the close frame arrives, it may lose the frame and report only a
// broken connection.
func (c *goClient) flood(method, request string, refusals int) (all []error) {
	const together = 8
	for refused := 0; refused < refusals && len(all) < 5000; {
		n := together
		if refused+n >= refusals {
			n = 1
		}
		for _, err := range c.callTogether(n, method, request) {
			var refusal wire.Error
			switch all = append(all, err); {
			case errors.As(err, &refusal):
				refused++
			case err != nil:
				return all
			}
		}
	}
	return all
}

// callTogether sends a command n times at once, and returns the error of each.
func (c *goClient) callTogether(n int, method, request string) []error {
	all := make([]error, n)
	var calls sync.WaitGroup
	for i := range all {
		calls.Go(func() { _, all[i] = c.call(method, request) })
	}
	calls.Wait()
	return all
}

func wireError(e *centrifuge.Error) wire.Error {
	return wire.Error{Code: wire.Code(e.Code), Message: e.Message, Temporary: e.Temporary}
}

func (c *goClient) send(data string) error { return c.Send(c.t.Context(), []byte(data)) }

func (c *goClient) native(command, channel string) wire.Error {
	c.t.Helper()
	var err error
	switch command {
	case "subscribe":
		err = c.subscribe(channel)
	case "publish":
		_, err = c.Publish(c.t.Context(), channel, []byte("{}"))
	case "presence":
		_, err = c.Presence(c.t.Context(), channel)
	case "presence_stats":
		_, err = c.PresenceStats(c.t.Context(), channel)
	case "history":
		_, err = c.History(c.t.Context(), channel)
	}
	var refused *centrifuge.Error
	if !errors.As(err, &refused) {
		c.t.Errorf("%s: error %v, want a refusal by the server", command, err)
		return wire.Error{}
	}
	return wireError(refused)
}

// subscribe subscribes to a channel as if the server had not done so, and returns the refusal.
func (c *goClient) subscribe(channel string) error {
	sub, err := c.NewSubscription(channel)
	if err != nil {
		return err
	}
	refused, ended := make(chan error, 1), make(chan struct{})
	sub.OnError(func(e centrifuge.SubscriptionErrorEvent) { refused <- e.Error })
	sub.OnUnsubscribed(func(centrifuge.UnsubscribedEvent) { close(ended) })
	if err := sub.Subscribe(); err != nil {
		return err
	}
	select {
	case <-ended:
		return errors.Join(<-refused, c.RemoveSubscription(sub))
	case <-time.After(10 * time.Second):
		return errors.New("the subscription was not refused within 10s")
	}
}

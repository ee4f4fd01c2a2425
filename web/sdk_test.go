package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	centrifuge "github.com/centrifugal/centrifuge-go"

	"hongbao/chat"
	"hongbao/hub/hubtest"
	"hongbao/web/api"
	"hongbao/web/auth"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/session"
	"hongbao/web/wire"
)

// sdkClient is the unmodified centrifuge-go SDK, and channels with the events that it has reported.
type sdkClient struct {
	*centrifuge.Client
	connected    chan centrifuge.ConnectedEvent
	subscribed   chan centrifuge.ServerSubscribedEvent
	unsubscribed chan centrifuge.ServerUnsubscribedEvent
	publications chan centrifuge.ServerPublicationEvent
	messages     chan wire.Message
	disconnected chan centrifuge.DisconnectedEvent
}

func newSDKClient(t *testing.T, addr string, e wire.Encoding, config centrifuge.Config) *sdkClient {
	t.Helper()
	config.HandshakeTimeout = patience
	config.NetDialContext = hubtest.DialPipe
	create := centrifuge.NewJsonClient
	if e == wire.Protobuf {
		create = centrifuge.NewProtobufClient
	}
	c := &sdkClient{
		Client:       create("ws://"+addr+"/v1/socket", config),
		connected:    make(chan centrifuge.ConnectedEvent, 1000),
		subscribed:   make(chan centrifuge.ServerSubscribedEvent, 1000),
		unsubscribed: make(chan centrifuge.ServerUnsubscribedEvent, 1000),
		publications: make(chan centrifuge.ServerPublicationEvent, 1000),
		messages:     make(chan wire.Message, 1000),
		disconnected: make(chan centrifuge.DisconnectedEvent, 1000),
	}
	c.OnConnected(func(e centrifuge.ConnectedEvent) { c.connected <- e })
	c.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) { c.subscribed <- e })
	c.OnUnsubscribed(func(e centrifuge.ServerUnsubscribedEvent) { c.unsubscribed <- e })
	c.OnPublication(func(e centrifuge.ServerPublicationEvent) { c.publications <- e })
	c.OnDisconnected(func(e centrifuge.DisconnectedEvent) { c.disconnected <- e })
	c.OnMessage(func(e centrifuge.MessageEvent) {
		var m wire.Message
		if err := json.Unmarshal(e.Data, &m); err != nil {
			t.Error(err)
		}
		c.messages <- m
	})
	t.Cleanup(func() {
		c.Close()
		if bubbled() {
			time.Sleep(max(config.ReadTimeout, 5*time.Second)) // sleeps: in a bubble; each request's goroutine of the SDK ends when this timeout has passed
		}
	})
	return c
}

// await returns the next value from the channel, or fails the test after a timeout.
func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("no %T came", v)
	}
	return v
}

// TestSDK uses the unmodified SDK. It must connect, call methods and be in its rooms without subscribing. After a lost
// connection it must reconnect and receive the entries that it missed.
func TestSDK(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		bob := s.signIn(t, "bob", 0)
		room := s.room(t, bob, "hall").ID
		var seq uint64
		mustGet := func(t *testing.T, c *sdkClient, text string) {
			t.Helper()
			seq++
			p := await(t, c.publications)
			var entry wire.Entry
			var body wire.TextBody
			if err := errors.Join(json.Unmarshal(p.Data, &entry), json.Unmarshal(entry.Body, &body)); err != nil {
				t.Fatal(err)
			}
			if p.Channel != "room:"+room || p.Offset != seq || entry.Seq != int64(seq) || body.Text != text {
				t.Fatalf("got %s %d %+v, want %d %q", p.Channel, p.Offset, entry, seq, text)
			}
		}
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			user := fmt.Sprint("ann-", e)
			c := newSDKClient(t, addr, e, centrifuge.Config{Token: goodToken(t, user)})
			if err := c.Connect(); err != nil {
				t.Fatal(err)
			}
			if data := await(t, c.connected).Data; !json.Valid(data) {
				t.Errorf("connect data %q", data)
			}
			join, err := json.Marshal(wire.JoinRequest{Room: room})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.RPC(context.Background(), "join", join); err != nil {
				t.Fatal(err)
			}
			if sub := await(t, c.subscribed); sub.Channel != "room:"+room || !sub.Recoverable || sub.StreamPosition == nil || sub.StreamPosition.Offset != seq {
				t.Fatalf("subscribed: %+v", sub)
			}
			s.say(t, bob, room, "live")
			mustGet(t, c, "live")
			// The number of members that ann's own join has published may have come before her subscription.
			call[wire.JoinReply](t, s, s.signIn(t, fmt.Sprint("cid-", e), 0), "join", wire.JoinRequest{Room: room})
			for m := await(t, c.messages); m.Members == nil; m = await(t, c.messages) {
				if m.Presence == nil { // which may come first
					t.Errorf("message %+v", m)
				}
			}

			var apiError *centrifuge.Error
			if _, err := c.RPC(context.Background(), "fly", []byte("{}")); !errors.As(err, &apiError) || apiError.Code != uint32(wire.CodeUnknownCommand) {
				t.Errorf("an unknown method: %v", err)
			}

			// The connection is lost, and texts are sent before the client is back.
			release := make(chan struct{})
			var once sync.Once
			c.OnConnecting(func(centrifuge.ConnectingEvent) { <-release })
			defer once.Do(func() { close(release) })
			s.pub.CloseSockets(user, "", wire.CloseServerError)
			s.eventually(t, "the end of the socket", func() bool { return s.hub.Connections() == 0 })
			for _, text := range []string{"missed 1", "missed 2"} {
				s.say(t, bob, room, text)
			}
			once.Do(func() { close(release) })
			if sub := await(t, c.subscribed); !sub.WasRecovering || !sub.Recovered {
				t.Errorf("after coming back: %+v", sub)
			}
			mustGet(t, c, "missed 1")
			mustGet(t, c, "missed 2")
			s.say(t, bob, room, "live again")
			mustGet(t, c, "live again")

			if _, err := c.RPC(context.Background(), "leave", join); err != nil {
				t.Fatal(err)
			}
			if sub := await(t, c.unsubscribed); sub.Channel != "room:"+room {
				t.Errorf("unsubscribed: %+v", sub)
			}
			c.Disconnect()
			s.eventually(t, "the end of the socket", func() bool { return s.hub.Connections() == 0 })
		})
	})
}

// TestSDKRefreshes gives the SDK tokens that expire. It must fetch a new token at connect and while connected.
func TestSDKRefreshes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		addr := s.listen(t)
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			asked := make(chan struct{}, 10)
			ttls := make(chan time.Duration, 2)
			ttls <- 10 * time.Second // so long that it is valid when the client connects
			ttls <- time.Hour
			c := newSDKClient(t, addr, e, centrifuge.Config{
				Token: mint(t, auth.Claims{User: "ann"}, -time.Second),
				GetToken: func(centrifuge.ConnectionTokenEvent) (string, error) {
					asked <- struct{}{}
					return auth.Sign(testSecret, auth.Claims{User: "ann"}, <-ttls)
				},
			})
			if err := c.Connect(); err != nil {
				t.Fatal(err)
			}
			await(t, asked) // the first token had expired
			await(t, c.connected)
			await(t, asked) // the second token has expired
			s.eventually(t, "a refresh", func() bool { return s.refreshes() > 0 })
			if _, err := c.RPC(context.Background(), "wallet", []byte("{}")); err != nil {
				t.Error(err)
			}
			if len(c.connected) > 0 {
				t.Error("refreshed by coming back, not on the socket")
			}
		})
		c := newSDKClient(t, addr, wire.JSON, centrifuge.Config{Token: "nonsense"})
		if err := c.Connect(); err != nil {
			t.Fatal(err)
		}
		if gone := await(t, c.disconnected); gone.Code != wire.CloseInvalidToken {
			t.Errorf("with a bad token: %+v", gone)
		}
	})
}

// TestGoClientRefreshesItsToken gives the Go client tokens that expire. It must fetch a new token at connect, also when the host fails once, and
// while connected.
func TestGoClientRefreshesItsToken(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		tokens := make(chan string, 3)
		tokens <- "" // the host is away for a moment
		tokens <- mint(t, auth.Claims{User: "ann"}, 3*time.Second)
		tokens <- mint(t, auth.Claims{User: "ann"}, time.Hour)
		c, err := client.New("ws://"+s.listen(t)+"/v1/socket", client.Options{
			Dial: hubtest.DialPipe, Token: mint(t, auth.Claims{User: "ann"}, -time.Second),
			GetToken: func(context.Context) (string, error) {
				if token := <-tokens; token != "" {
					return token, nil
				}
				return "", errors.New("the host is away for a moment")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Close()
			time.Sleep(time.Minute) // sleeps: in a bubble; each request's goroutine of the SDK ends when its timeout has passed
		})
		if e, err := c.Next(t.Context()); err != nil || len(tokens) != 1 {
			t.Fatalf("the first event is %T, %v, and %d tokens are left, want one", e, err, len(tokens))
		}
		s.eventually(t, "a refresh", func() bool { return s.refreshes() > 0 })
		if _, err := c.Wallet(t.Context()); err != nil || len(tokens) != 0 {
			t.Errorf("after the refresh: %v, %d tokens are left", err, len(tokens))
		}
		ann := api.Caller{User: chat.User{ID: "ann"}}
		room := s.room(t, ann, "hall").ID
		e, err := c.Next(t.Context())
		if entered, ok := e.(model.Entered); err != nil || !ok || entered.Room.ID != room {
			t.Errorf("refreshed by coming back, not on the socket: %T %+v, %v", e, e, err)
		}
	})
}

// refreshes returns how many refresh commands have succeeded.
func (s *testServer) refreshes() int {
	families, err := s.metrics.Registry.Gather()
	if err != nil {
		return 0
	}
	for _, family := range families {
		for _, m := range family.Metric {
			labels := map[string]string{}
			for _, label := range m.Label {
				labels[label.GetName()] = label.GetValue()
			}
			if family.GetName() == "hongbao_command_seconds" && labels["method"] == "refresh" && labels["code"] == "0" {
				return int(m.Histogram.GetSampleCount())
			}
		}
	}
	return 0
}

// sessionOf returns a user's newest session, or nil if there is none.
func (s *testServer) sessionOf(user string) *session.Session {
	if open := s.sessions.Of(user); len(open) > 0 {
		return open[0]
	}
	return nil
}

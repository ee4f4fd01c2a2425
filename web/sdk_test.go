package web

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	centrifuge "github.com/centrifugal/centrifuge-go"

	"hongbao/chat"
	"hongbao/hub/hubtest"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/session"
	"hongbao/web/wire"
)

// sdkClient is the unmodified centrifuge-go SDK, and channels with the events that it has reported.
type sdkClient struct {
	*centrifuge.Client
	connected chan centrifuge.ConnectedEvent
	messages  chan wire.Message
}

func newSDKClient(t *testing.T, addr string, config centrifuge.Config) *sdkClient {
	t.Helper()
	config.HandshakeTimeout = patience
	config.NetDialContext = hubtest.DialPipe
	c := &sdkClient{
		Client:    centrifuge.NewJsonClient("ws://"+addr+"/v1/socket", config),
		connected: make(chan centrifuge.ConnectedEvent, 1000),
		messages:  make(chan wire.Message, 1000),
	}
	c.OnConnected(func(e centrifuge.ConnectedEvent) { c.connected <- e })
	c.OnMessage(func(e centrifuge.MessageEvent) {
		var m wire.Message
		if err := json.Unmarshal(e.Data, &m); err != nil {
			t.Error(err)
		}
		c.messages <- m
	})
	t.Cleanup(c.Close)
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
		noError(t, err)
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

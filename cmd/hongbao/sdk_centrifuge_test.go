package main

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// centrifugeGo is centrifuge-go with one of its encodings.
type centrifugeGo struct {
	t        *testing.T
	protobuf bool
}

func (g centrifugeGo) ready() {}

func (g centrifugeGo) comesBackFromTooBig() bool { return true }

func (g centrifugeGo) open(o opening, d *diary) socket {
	dial := centrifuge.NewJsonClient
	if g.protobuf {
		dial = centrifuge.NewProtobufClient
	}
	s := &centrifugeSocket{
		t: g.t,
		Client: dial(o.at.socket(g.protobuf), centrifuge.Config{
			Token: o.token, GetToken: tokenGetter(o), HandshakeTimeout: patience, ReadTimeout: patience, MaxServerPingDelay: 2 * patience,
		}),
	}
	s.OnConnected(func(e centrifuge.ConnectedEvent) { d.up(e.Data) })
	s.OnConnecting(func(e centrifuge.ConnectingEvent) {
		if e.Code != 0 { // 0: it was told to connect
			d.again(e.Code)
		}
	})
	s.OnDisconnected(func(e centrifuge.DisconnectedEvent) { d.over(e.Code) })
	s.OnSubscribing(func(centrifuge.ServerSubscribingEvent) {}) // or it tells nothing of rooms that were lost meanwhile
	s.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) {
		d.in(e.Channel, e.StreamPosition.Offset, e.Data, e.WasRecovering, e.Recovered)
	})
	s.OnUnsubscribed(func(e centrifuge.ServerUnsubscribedEvent) { d.out(e.Channel) })
	s.OnPublication(func(e centrifuge.ServerPublicationEvent) {
		s.gate.Lock()
		defer s.gate.Unlock()
		d.entry(e.Channel, e.Offset, e.Data)
	})
	s.OnMessage(func(e centrifuge.MessageEvent) { d.message(e.Data) })
	g.t.Cleanup(s.Close)
	if err := s.Connect(); err != nil {
		g.t.Fatal(err)
	}
	return s
}

func tokenGetter(o opening) func(centrifuge.ConnectionTokenEvent) (string, error) {
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

// centrifugeSocket is a client of centrifuge-go.
type centrifugeSocket struct {
	*centrifuge.Client
	t    *testing.T
	gate sync.Mutex // held by what handles publications; the SDK reads nothing while it waits
}

func (s *centrifugeSocket) stall() (resume func()) {
	s.gate.Lock()
	return sync.OnceFunc(s.gate.Unlock)
}

func (s *centrifugeSocket) call(method, request string) ([]byte, error) {
	result, err := patientCall(s.t.Context(), s.Client, method, []byte(request))
	var refused *centrifuge.Error
	if errors.As(err, &refused) {
		return nil, wireError(refused)
	}
	return result.Data, err
}

// flood makes one call after the other, and none when the server must have hung up: the SDK, writing when the close frame
// comes, may tell only that the connection is gone.
func (s *centrifugeSocket) flood(method, request string, refusals int) (all []error) {
	for refused := 0; refused < refusals && len(all) < 5000; {
		_, err := s.call(method, request)
		var refusal wire.Error
		switch all = append(all, err); {
		case errors.As(err, &refusal):
			refused++
		case err != nil:
			return all
		}
	}
	return all
}

func wireError(e *centrifuge.Error) wire.Error {
	return wire.Error{Code: wire.Code(e.Code), Message: e.Message, Temporary: e.Temporary}
}

func (s *centrifugeSocket) send(data string) error { return s.Send(s.t.Context(), []byte(data)) }

func (s *centrifugeSocket) native(command, channel string) wire.Error {
	s.t.Helper()
	var err error
	switch command {
	case "subscribe":
		err = s.subscribe(channel)
	case "publish":
		_, err = s.Publish(s.t.Context(), channel, []byte("{}"))
	case "presence":
		_, err = s.Presence(s.t.Context(), channel)
	case "presence_stats":
		_, err = s.PresenceStats(s.t.Context(), channel)
	case "history":
		_, err = s.History(s.t.Context(), channel)
	}
	var refused *centrifuge.Error
	if !errors.As(err, &refused) {
		s.t.Errorf("%s: %v", command, err)
		return wire.Error{}
	}
	return wireError(refused)
}

// subscribe asks for a channel as if the server had not given it, and gives the refusal.
func (s *centrifugeSocket) subscribe(channel string) error {
	sub, err := s.NewSubscription(channel)
	if err != nil {
		return err
	}
	refused, over := make(chan error, 1), make(chan struct{})
	sub.OnError(func(e centrifuge.SubscriptionErrorEvent) { refused <- e.Error })
	sub.OnUnsubscribed(func(centrifuge.UnsubscribedEvent) { close(over) })
	if err := sub.Subscribe(); err != nil {
		return err
	}
	select {
	case <-over:
		return errors.Join(<-refused, s.RemoveSubscription(sub))
	case <-time.After(10 * time.Second):
		return errors.New("it was not refused")
	}
}

package client_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub/hubtest"
	"hongbao/web/client"
	"hongbao/web/client/model"
)

// TestRoomLifecycle checks the events of two users, from the first connection until both have left the room, in both
// encodings.
func TestRoomLifecycle(t *testing.T) {
	for name, change := range map[string]func(*client.Options){"json": func(*client.Options) {}, "protobuf": protobuf} {
		t.Run(name, func(t *testing.T) {
			ann, bob := open(t, shared.addr, unique(t, "ann"), change), open(t, shared.addr, unique(t, "bob"), change)
			if c := await[model.Connected](t, ann, nil); c.Again || len(c.Rooms) > 0 || c.Account.Currency.Code != "CNY" {
				t.Errorf("connected: %+v", c)
			}
			id := room(t, ann, bob)
			if rooms := bob.Rooms(); len(rooms) != 1 || rooms[0].ID != id || rooms[0].Name == "" {
				t.Errorf("bob is in %+v", rooms)
			}
			sent := must[client.Sent](t)(ann.Send(soon(t), client.Message{Room: id, Key: "k1", Text: "hello <bob> & 你好"}))
			e := await[model.Entry](t, bob, nil)
			if text := e.Body.(model.Text); e.Seq != sent.Seq || e.ID != sent.ID || e.Key != "k1" || e.From != ann.Me() || text.Text != "hello <bob> & 你好" || !e.At.Equal(sent.At) {
				t.Errorf("got %+v, sent %+v", e, sent)
			}
			if again := must[client.Sent](t)(ann.Send(soon(t), client.Message{Room: id, Key: "k1", Text: "hello <bob> & 你好"})); !again.Dup || again.ID != sent.ID {
				t.Errorf("sent again: %+v", again)
			}
			if unread := must[int64](t)(bob.MarkRead(soon(t), id, sent.Seq)); unread != 0 {
				t.Errorf("%d unread", unread)
			}
			if err := bob.Leave(soon(t), id); err != nil {
				t.Error(err)
			}
			if left := await[model.Left](t, bob, nil); left != (model.Left{Room: id, Reason: "left"}) || len(bob.Rooms()) > 0 {
				t.Errorf("%+v, still in %+v", left, bob.Rooms())
			}
			if _, err := bob.Send(soon(t), client.Message{Room: id, Text: "?"}); !errors.Is(err, client.ErrNotMember) {
				t.Errorf("sent after leaving: %v", err)
			}
			// When bob enters the room again, entries sent while bob was out are not events.
			sendTexts(t, ann, id, 1, 2)
			must[model.Room](t)(bob.Join(soon(t), id))
			if entered := await[model.Entered](t, bob, nil); entered.Room.ID != id || entered.Room.LastSeq != sent.Seq+2 {
				t.Errorf("%+v", entered)
			}
			sendTexts(t, ann, id, 3, 4)
			wantTexts(t, bob, id, 3, 4)
		})
	}
}

func TestErrors(t *testing.T) {
	c := open(t, shared.addr, unique(t, "ann"))
	err := c.Call(soon(t), "fly", struct{}{}, new(struct{}))
	var refused *client.Error
	if !errors.As(err, &refused) || !errors.Is(err, client.ErrUnknownCommand) || errors.Is(err, client.ErrNotFound) || refused.Repeated {
		t.Errorf("an unknown method: %v", err)
	}
	_, err = c.Send(soon(t), client.Message{Room: "nowhere", Text: "hello"})
	if !errors.Is(err, client.ErrNotFound) {
		t.Errorf("an unknown room: %v", err)
	}
	_, err = c.CreateRoom(soon(t), client.NewRoom{Kind: "square", Name: "room"})
	if !errors.As(err, &refused) || refused.Values["field"] != "kind" || err.Error() != "create_room: bad_request: kind" {
		t.Errorf("an unknown kind: %v", err)
	}
	for _, address := range []string{"", "http://localhost/", "ws://", "ws://a,ws://b", "::"} {
		if c, err := client.New(address, client.Options{Token: "t"}); err == nil {
			t.Errorf("%q is no address", address)
			_ = c.Close()
		}
	}
	if _, err := client.New(url(shared.addr), client.Options{}); err == nil {
		t.Error("no token is no way in")
	}
}

// TestSlowReader reads events slowly, with a short queue. All entries must arrive, in order.
func TestSlowReader(t *testing.T) {
	ann := open(t, shared.addr, unique(t, "ann"))
	bob := open(t, shared.addr, unique(t, "bob"), func(o *client.Options) { o.Queue = 10 })
	id := room(t, ann, bob)
	sendTexts(t, ann, id, 1, 150)
	wantTexts(t, bob, id, 1, 20)
	sendTexts(t, ann, id, 151, 175)
	wantTexts(t, bob, id, 21, 175)
}

// TestServerDoesNotAnswer has a server that never answers. A call must end when its context ends, and Close must end
// all calls.
func TestServerDoesNotAnswer(t *testing.T) {
	c := open(t, freeAddress(), "ann")
	ctx, cancel := context.WithCancel(context.Background())
	calls := make(chan error, 3)
	go func() { _, err := c.Wallet(ctx); calls <- err }()
	go func() { _, err := c.Next(ctx); calls <- err }()
	go func() { _, err := c.Ready(ctx); calls <- err }()
	cancel()
	for range 3 {
		if err := <-calls; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	go func() { _, err := c.Wallet(context.Background()); calls <- err }()
	go func() { _, err := c.Next(context.Background()); calls <- err }()
	go func() { _, err := c.Grab(context.Background(), "p", ""); calls <- err }()
	_ = c.Close()
	for range 3 {
		if err := <-calls; !errors.Is(err, client.ErrClosed) {
			t.Error(err)
		}
	}
	if err := c.Close(); err != nil || !errors.Is(c.Err(), client.ErrClosed) {
		t.Error(err, c.Err())
	}
}

// TestCloseWhileDialing has a server that accepts connections and sends nothing. Close must return at once.
func TestCloseWhileDialing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := hubtest.BufferedPipe()
		c := open(t, "server.example", "ann", func(o *client.Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return near, nil }
		})
		synctest.Wait() // the client waits for the handshake
		begun := time.Now()
		_ = c.Close()
		if took := time.Since(begun); took > 0 {
			t.Errorf("closing took %v", took)
		}
		_ = far.Close()
		time.Sleep(time.Minute) // until the SDK has given up the handshake
	})
}

func TestToken(t *testing.T) {
	t.Run("bad", func(t *testing.T) {
		c := open(t, shared.addr, "ann", func(o *client.Options) { o.Token = "nonsense" })
		_, err := c.Wallet(soon(t))
		var closed *client.CloseError
		if !errors.As(err, &closed) || closed.Code != 3500 || !errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("%v", err)
		}
		if _, err := c.Next(soon(t)); !errors.As(err, &closed) {
			t.Errorf("events end with %v", err)
		}
	})
	t.Run("over", func(t *testing.T) {
		c := open(t, shared.addr, "ann", func(o *client.Options) { o.Token = token("ann", "", -time.Second) })
		if _, err := c.Ready(soon(t)); !errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("%v", err)
		}
	})
	t.Run("refused by the host", func(t *testing.T) {
		c := open(t, shared.addr, "ann", func(o *client.Options) {
			o.Token, o.GetToken = "", func(context.Context) (string, error) { return "", client.ErrUnauthorized }
		})
		if _, err := c.Ready(soon(t)); !errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("%v", err)
		}
	})
}

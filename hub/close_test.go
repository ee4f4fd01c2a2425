package hub_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

func TestCloseSendsWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := dial(t, h, hub.JSON)
		for _, payload := range []string{"1", "2", "3"} {
			session.conn.Send([]byte(payload))
		}
		session.conn.Close(3503, "revoked")
		session.conn.Close(3504, "too late")
		session.conn.Send([]byte("too late"))
		go c.read()
		c.end(t)
		if got := c.received(); !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("got %q", got)
		}
		if closed := c.closeError(t); closed.Code != 3503 || closed.Text != "revoked" {
			t.Errorf("closed with %v", closed)
		}
		synctest.Wait()
		if _, _, closed := session.received(); closed != 1 {
			t.Errorf("Closed was called %d times", closed)
		}
		if stats := h.Stats(); stats.Connections != 0 || stats.Closes[3503] != 1 {
			t.Errorf("stats %+v", stats)
		}
	})
}

// TestPeerThatReadsNothingIsDisconnected closes the connection of a client that reads nothing, so the close frame
// cannot be written. The connection must end all the same, and Close must not block.
func TestPeerThatReadsNothingIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		_, session := dial(t, h, hub.JSON)
		session.conn.Close(3001, "drain")
		time.Sleep(15 * time.Second)
		if n := h.Connections(); n != 0 {
			t.Error("the connection is still there")
		}
		if _, _, closed := session.received(); closed != 1 {
			t.Errorf("Closed was called %d times", closed)
		}
	})
}

// TestPeerThatIgnoresTheCloseFrameIsDisconnected has a client that reads the close frame and keeps sending. Its
// connection must end after a timeout.
func TestPeerThatIgnoresTheCloseFrameIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := dial(t, h, hub.JSON)
		c.ws.SetCloseHandler(func(int, string) error { return nil })
		go c.ws.ReadMessage()
		session.conn.Close(3001, "drain")
		for range 10 {
			c.ws.WriteMessage(websocket.TextMessage, []byte("still here"))
			time.Sleep(time.Second)
		}
		if n := h.Connections(); n != 0 {
			t.Error("the connection is still there")
		}
		if frames, _, _ := session.received(); len(frames) != 0 {
			t.Errorf("%d frames were handled after Close", len(frames))
		}
	})
}

func TestCloseFrameOfThePeerIsAnswered(t *testing.T) {
	for _, test := range []struct {
		name    string
		message []byte
		answer  int
	}{
		{"with a code", websocket.FormatCloseMessage(4001, "bye"), 4001},
		{"without", nil, websocket.CloseNoStatusReceived},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				h := start(t, s.options())
				c, session := connect(t, h, hub.JSON)
				session.conn.Subscribe("room", 0, nil)
				noError(t, c.ws.WriteControl(websocket.CloseMessage, test.message, time.Time{}))
				c.end(t)
				if closed := c.closeError(t); closed.Code != test.answer {
					t.Errorf("answered %v, want %d", closed, test.answer)
				}
				synctest.Wait()
				stats := h.Stats()
				if stats.Connections != 0 || stats.Topics != 0 || stats.ClosedByPeer != 1 {
					t.Errorf("stats %+v", stats)
				}
			})
		})
	}
}

func TestLostPeerLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		c.ws.Close()
		synctest.Wait()
		if stats := h.Stats(); stats.Connections != 0 || stats.Topics != 0 || stats.Lost != 1 {
			t.Errorf("stats %+v", stats)
		}
		session.conn.Subscribe("room", 0, nil)
		session.conn.Send([]byte("too late"))
		session.conn.Close(3001, "drain")
		if _, _, closed := session.received(); closed != 1 || h.Stats().Topics != 0 {
			t.Errorf("Closed was called %d times, %d topics", closed, h.Stats().Topics)
		}
	})
}

func TestDrainClosesWithinTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		const count = 40
		clients := make([]*client, count)
		ends := make([]time.Duration, count)
		began := time.Now()
		var busy *session // the session that has a command in progress
		for i := range clients {
			c, s := connect(t, h, hub.JSON)
			clients[i] = c
			go func() {
				<-c.done
				ends[i] = time.Since(began)
			}()
			if i == 0 {
				busy = s
				busy.setBusy(true)
				time.AfterFunc(8*time.Second, func() {
					s.conn.Send([]byte("the last answer"))
					s.setBusy(false)
				})
			}
		}
		noError(t, h.Drain(context.Background(), 20*time.Second, 3001, "drain"))
		synctest.Wait()
		early := 0
		for i, c := range clients {
			if closed := c.closeError(t); closed.Code != 3001 {
				t.Errorf("client %d was closed with %v", i, closed)
			}
			if ends[i] < 10*time.Second {
				early++
			}
			if i > 0 && ends[i] > 20*time.Second+slack {
				t.Errorf("client %d was closed after %v", i, ends[i])
			}
		}
		if early < count/5 || early > count*4/5 {
			t.Errorf("%d of %d connections were closed in the first half of the window, want about half", early, count)
		}
		if got := clients[0].received(); len(got) != 1 || ends[0] < 8*time.Second {
			t.Errorf("the connection with a command in progress was closed after %v with %q, want after its answer", ends[0], got)
		}
	})
}

func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		_, busy := connect(t, h, hub.JSON)
		busy.setBusy(true)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := h.Drain(ctx, 0, 3001, "drain"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain returned %v", err)
		}
	})
}

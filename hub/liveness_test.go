package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

// slack is the largest delay that the wheel's ticks add to a deadline.
const slack = 150 * time.Millisecond

func TestSilentPeerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		time.Sleep(time.Minute) // there is no ping before Release
		if got := c.received(); len(got) != 0 {
			t.Fatalf("got %q before Release", got)
		}
		released := time.Now()
		session.conn.Release(nil)
		var pinged time.Time
		for len(c.received()) == 0 {
			time.Sleep(10 * time.Millisecond)
			pinged = time.Now()
		}
		if wait := pinged.Sub(released); wait > 25*time.Second+slack {
			t.Errorf("first ping after %v, want a part of 25 s", wait)
		}
		c.end(t)
		if closed := c.closeError(t); closed.Code != hub.CloseNoPong || closed.Text != "no pong" {
			t.Errorf("closed with %v", closed)
		}
		if wait := time.Since(pinged); wait < 8*time.Second-slack || wait > 8*time.Second+slack {
			t.Errorf("closed %v after the ping, want 8 s", wait)
		}
		if got := c.received(); len(got) != 1 || got[0] != "ping" {
			t.Errorf("got %q", got)
		}
	})
}

// TestAnyFrameIsASignOfLife has the client answer the pings in turn with a message, a WebSocket ping and a WebSocket
// pong. Each must keep the connection open.
func TestAnyFrameIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := dial(t, h, hub.JSON)
		pongs := 0
		c.ws.SetPongHandler(func(data string) error {
			pongs++
			if data != "hello" {
				t.Errorf("pong with %q", data)
			}
			return nil
		})
		go c.read()
		session.conn.Release([]byte("welcome"))
		answers := []func() error{
			func() error { return c.ws.WriteMessage(websocket.TextMessage, []byte("{}")) },
			func() error { return c.ws.WriteControl(websocket.PingMessage, []byte("hello"), time.Time{}) },
			func() error { return c.ws.WriteControl(websocket.PongMessage, nil, time.Time{}) },
		}
		const rounds = 9
		for i := range rounds {
			for len(c.received()) < i+2 {
				time.Sleep(time.Second)
			}
			noError(t, answers[i%len(answers)]())
		}
		c.end(t) // because the last ping was not answered
		if closed := c.closeError(t); closed.Code != hub.CloseNoPong {
			t.Errorf("closed with %v", closed)
		}
		if got := len(c.received()); got != 1+rounds+1 || pongs != rounds/3 {
			t.Errorf("%d messages and %d pongs, want %d and %d", got, pongs, 1+rounds+1, rounds/3)
		}
	})
}

// TestBusyHandlerIsNotTakenForSilence blocks the client's handler for minutes, so nothing is read. The connection must
// stay open.
func TestBusyHandlerIsNotTakenForSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		session.rest = func() { time.Sleep(5 * time.Minute) }
		session.conn.Release(nil)
		c.write(t, "long work")
		time.Sleep(5*time.Minute - time.Second)
		select {
		case <-c.done:
			t.Fatalf("closed while the handler was at work: %v", c.err)
		default:
		}
		c.end(t)
	})
}

func TestCloseAtClosesInTime(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(c *hub.Conn, now time.Time)
		want time.Duration
		code int
	}{
		{"once", func(c *hub.Conn, now time.Time) { c.CloseAt(now.Add(8*time.Second), 3502, "no connect") }, 8 * time.Second, 3502},
		{"moved later", func(c *hub.Conn, now time.Time) {
			c.CloseAt(now.Add(8*time.Second), 3502, "no connect")
			c.CloseAt(now.Add(10*time.Minute), 3005, "expired")
		}, 10 * time.Minute, 3005},
		{"moved earlier", func(c *hub.Conn, now time.Time) {
			c.CloseAt(now.Add(time.Hour), 3005, "expired")
			c.CloseAt(now.Add(time.Minute), 3005, "expired")
		}, time.Minute, 3005},
		{"in the past", func(c *hub.Conn, now time.Time) { c.CloseAt(now.Add(-time.Hour), 3005, "expired") }, 0, 3005},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, newStore().options())
				c, session := connect(t, h, hub.JSON)
				began := time.Now()
				test.set(session.conn, began)
				c.end(t)
				if took := time.Since(began); took < test.want || took > test.want+slack {
					t.Errorf("closed after %v, want %v", took, test.want)
				}
				if closed := c.closeError(t); closed.Code != test.code {
					t.Errorf("closed with %v", closed)
				}
			})
		})
	}
}

func TestCloseAtZeroCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		session.conn.CloseAt(time.Now().Add(time.Second), 3005, "expired")
		session.conn.CloseAt(time.Time{}, 0, "")
		time.Sleep(time.Minute)
		session.conn.Send([]byte("alive"))
		synctest.Wait()
		if got := strings.Join(c.received(), " "); got != "alive" {
			t.Errorf("got %q", got)
		}
	})
}

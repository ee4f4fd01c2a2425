package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/hub/hubtest"
	"hongbao/store/memstore"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// limited returns an option that turns rate limits on. All servers opened with it share one limiter.
func limited() func(*Options) {
	shared := memstore.NewLimiter(memstore.LimiterOptions{})
	return func(o *Options) {
		o.Rates, o.Local, o.Limiter = true, memstore.NewLimiter(memstore.LimiterOptions{}), shared
	}
}

// TestTooManyCommands floods one connection with commands. They must be refused, and the connection closed if it
// continues. Other connections must not be affected.
func TestTooManyCommands(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, limited(), withoutRefill)
		addr := s.listen(t)
		for _, e := range []wire.Encoding{wire.JSON, wire.Protobuf} {
			c, _ := connected(t, addr, e, "ann")
			other, _ := connected(t, addr, e, "ann")
			id := 1
			flood := func(n int) {
				var frame []string
				for range n {
					id++
					frame = append(frame, fmt.Sprintf(`{"id":%d,"rpc":{"method":"nothing"}}`, id))
				}
				c.send(frame...)
			}
			refused := 0
			for refused == 0 && id < 1000 {
				flood(25)
				for range 25 {
					if r := c.next(); r.Error == nil || r.Error.Code == uint32(wire.CodeRateLimited) {
						mustFail(t, r, wire.CodeRateLimited)
						refused++
					}
				}
			}
			if refused == 0 {
				t.Fatal("nothing was refused")
			}
			for range 7 { // the 200th refusal, which is one too many, comes in the last frame
				flood(32)
			}
			c.mustClose(wire.CloseTooManyCommands)
			rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
		}
	})
}

// TestHandshakesCount makes handshakes from one address after its budget is used up. They must be refused, and those from another
// address must not.
func TestHandshakesCount(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, limited())
		h := s.Handler()
		status := func(from string) int {
			r := httptest.NewRequest("GET", "/v1/socket", nil)
			r.RemoteAddr = from
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		n := 0
		for n < 5000 && status("198.51.100.7:1000") != http.StatusTooManyRequests {
			n++
		}
		if n < 1000 || n == 5000 {
			t.Errorf("%d handshakes from one address, want 1000 and what time adds", n)
		}
		if got := status("198.51.100.8:1000"); got != http.StatusBadRequest {
			t.Errorf("a request without an upgrade from another address: status %d, want 400", got)
		}
	})
}

// TestRateOfGuests creates many guests from one address. They must be limited, and guests from other addresses must
// not.
func TestRateOfGuests(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, limited(), func(o *Options) { o.Guests = Guests{Key: testGuestKey} })
		h := s.Handler()
		guest := func(from string) *http.Response { return post(h, from, "/v1/guests", `{"name":"Mei"}`) }
		began, n := time.Now(), 0
		for n < 300 && guest("198.51.100.7:"+strconv.Itoa(1000+n)).StatusCode == 200 {
			n++
		}
		if most := 101 + int(2*time.Since(began).Seconds()); n < 100 || n > most {
			t.Errorf("%d guests came at once, want 100 to %d", n, most)
		}
		if r := guest("198.51.100.8:1000"); r.StatusCode != 200 {
			t.Errorf("from another address: %d", r.StatusCode)
		}
	})
}

// TestRatesNeedALimiter turns rate limits on without a limiter. New must return an error.
func TestRatesNeedALimiter(t *testing.T) {
	if _, err := New(nil, nil, nil, nil, Options{Rates: true}); err == nil {
		t.Error("made a server that would keep no rates")
	}
}

// TestFrameIsRefusedWithoutWaiting sends a frame of refused commands while the client reads nothing. Only before the
// first reply of a frame may the server wait for the client: the reading goroutine may be a poller, which serves other
// connections, too.
func TestFrameIsRefusedWithoutWaiting(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		began := time.Now()
		var asked atomic.Int64 // how often the clock was read since the client has unread replies
		var tooMuch atomic.Pointer[hub.Conn]
		s := newTestServer(t, func(o *Options) {
			o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{})
			o.Now = func() time.Time {
				if conn := tooMuch.Load(); conn != nil && asked.Add(1) == 1 {
					conn.Queue([]byte(`{"id":999,"rpc":{"data":"` + strings.Repeat("much", 1<<19) + `"}}`)) // not flushed yet
				}
				return began
			}
		})
		var conn *hub.Conn
		c, _ := connected(t, s.listenAttached(t, func(c *hub.Conn) { conn = c }), wire.JSON, "ann")
		frame := func(n int) []string {
			frame := make([]string, n)
			for i := range frame {
				frame[i] = fmt.Sprintf(`{"id":%d,"rpc":{"method":"nothing"}}`, i+1)
			}
			return frame
		}
		ask := func(n int) {
			c.send(frame(n)...)
			for range n {
				c.next()
			}
		}
		for range (api.CommandBurst - 1) / wire.CommandsPerFrame { // the connect command counts, too
			ask(wire.CommandsPerFrame)
		}
		ask((api.CommandBurst - 1) % wire.CommandsPerFrame)
		synctest.Wait() // otherwise the goroutine that has written the last reply could still write the long one
		tooMuch.Store(conn)
		c.send(frame(3)...)
		s.eventually(t, "all three to be looked at", func() bool { return asked.Load() >= 3 })
		c.send(frame(1)...)
		synctest.Wait()
		if n := asked.Load(); n != 3 {
			t.Errorf("%d commands are looked at, though the client has not taken earlier replies", n)
		}
		conn.Flush()
		for range 1 + 3 + 1 {
			c.next()
		}
	})
}

// listenAttached is listen, and calls attached with each connection when the hub attaches it.
func (s *testServer) listenAttached(t *testing.T, attached func(*hub.Conn)) (addr string) {
	t.Helper()
	return hubtest.ServeOnPipe(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := s.upgrader.Upgrade(hub.Pollable(w), r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		s.hub.Attach(ws, hub.JSON, func(c *hub.Conn) hub.Handler {
			attached(c)
			return s.sessions.NewSession(c, "192.0.2.1", nil)
		})
	}))
}

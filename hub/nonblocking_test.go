package hub_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
)

// TestNothingWaitsForAStuckWrite calls all methods while the flushers of three connections block in a Write. Each call
// must return.
func TestNothingWaitsForAStuckWrite(t *testing.T) {
	// A goroutine that waits for a lock stops the bubble's clock, so nothing inside the bubble would notice.
	var doing atomic.Value
	watchdog := time.AfterFunc(2*time.Minute, func() { panic("waits for a stuck Write: " + doing.Load().(string)) })
	defer watchdog.Stop()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.QueueBytes, o.PingEvery = 1000, time.Second
		h := start(t, o)
		var stuck []*session
		for range 3 {
			_, session := dial(t, h, hub.JSON)
			session.conn.Subscribe("room", 0, nil)
			session.conn.Release(nil)
			stuck = append(stuck, session)
		}
		h.Publish("room", s.commit("room", "stuck"))
		synctest.Wait()
		if n := h.Stats().QueuedBytes; n == 0 {
			t.Fatal("no bytes are queued, so no flusher is stuck")
		}
		reading, other := connect(t, h, hub.JSON)
		began := time.Now()
		for _, call := range []struct {
			name string
			run  func()
		}{
			{"Publish", func() { h.Publish("room", s.commit("room", "more")) }},
			{"Publish a push that is shed", func() { h.Publish("room", hub.Message{Data: make([]byte, 1000)}) }},
			{"Signal", func() { h.Signal("room", []byte("signal")) }},
			{"Subscribe", func() { other.conn.Subscribe("room", s.last("room"), nil) }},
			{"Send", func() { stuck[0].conn.Send([]byte("reply")) }},
			{"Behind", func() { stuck[0].conn.Behind() }},
			{"Hold and Release", func() { stuck[0].conn.Hold(); stuck[0].conn.Release([]byte("first")) }},
			{"CloseAt", func() { stuck[0].conn.CloseAt(time.Now().Add(time.Hour), 3005, "expired") }},
			{"Topics", func() { stuck[0].conn.Topics() }},
			{"Ended", func() { stuck[0].conn.Ended("room") }},
			{"Recent", func() { h.Recent(context.Background(), []hub.Span{{Topic: "room", Through: s.last("room")}}) }},
			{"Stats", func() { h.Stats() }},
			{"Listeners", func() { h.Listeners("room") }},
			{"Connections", func() { h.Connections() }},
			{"Unsubscribe", func() { stuck[1].conn.Unsubscribe("room", 0, []byte("out")) }},
			{"Close", func() { stuck[1].conn.Close(3503, "revoked") }},
			{"Publish to slow clients", func() { h.Publish("room", s.commit("room", string(make([]byte, 1000)))) }},
			{"Publish again", func() { h.Publish("room", s.commit("room", "again")) }},
		} {
			doing.Store(call.name)
			var returned atomic.Bool
			go func() {
				call.run()
				returned.Store(true)
			}()
			synctest.Wait()
			if !returned.Load() || time.Since(began) > 0 {
				t.Errorf("%s waits for the stuck Write", call.name)
			}
		}
		if slow := h.Stats().Slow; slow != 2 {
			t.Errorf("%d connections were too slow, want the two that are still in the room", slow)
		}

		doing.Store("the clock")
		other.conn.Release(nil)
		time.Sleep(3 * time.Second) // a Write may take ten seconds
		got := reading.received()
		if len(got) < 4 || len(got[0]) < 1000 || got[1] != "room:4:again" || got[2] != "ping" {
			t.Errorf("the client that reads got %.40q", got)
		}

		doing.Store("Drain")
		leaving, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_ = h.Drain(leaving, 0, 3001, "drain")
		if closed := reading.closeError(t); closed.Code != 3001 || time.Since(began) > 5*time.Second {
			t.Errorf("the client that reads was closed with %v after %v", closed, time.Since(began))
		}
		time.Sleep(time.Minute)
		if n := h.Connections(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/store/memstore"
)

// TestLoosePushesWait for what leaves with them, but not long, and not when they are many.
func TestLoosePushesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.QueueBytes = 16_000
		h := start(t, o)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		loose := func(text string) { h.Publish("room", hub.Message{Data: []byte(text)}) }
		check := func(when string, frames ...int) {
			t.Helper()
			synctest.Wait()
			if got := c.frames(); !slices.Equal(got, frames) {
				t.Errorf("%s: messages per frame %v, want %v", when, got, frames)
			}
		}
		loose("a")
		loose("b")
		check("nothing to leave with")
		session.conn.Send([]byte("reply"))
		check("a reply", 3)
		loose("c")
		h.Publish("room", s.commit("room", "message"))
		check("a message", 3, 2)
		for range 2 {
			loose("d")
			time.Sleep(100 * time.Millisecond)
		}
		check("a moment later", 3, 2, 1, 1)
		loose(strings.Repeat("e", 1100))
		check("a sixteenth of what may be queued", 3, 2, 1, 1, 1)
		want := []string{
			"room:0:a", "room:0:b", "reply", "room:0:c", "room:1:message", "room:0:d", "room:0:d", "room:0:" + strings.Repeat("e", 1100),
		}
		if !slices.Equal(c.received(), want) {
			t.Errorf("got %.60q", c.received())
		}
	})
}

// TestLateMessages wait on any instance, in their place among the others; while a reply is awaited, for that, but not long.
func TestLateMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := memstore.NewBroker()
		var hubs []*hub.Hub
		var clients []*client
		var sessions []*session
		for range 2 {
			o := s.options()
			o.Bus = broker.Endpoint()
			h := start(t, o)
			c, session := connect(t, h, hub.JSON)
			session.conn.Subscribe("room", 0, nil)
			hubs, clients, sessions = append(hubs, h), append(clients, c), append(sessions, session)
		}
		publish := func(text string, late bool) {
			m := s.commit("room", text)
			m.Late = late
			hubs[0].Publish("room", m)
		}
		check := func(when string, frames ...int) {
			t.Helper()
			time.Sleep(time.Millisecond) // the bus
			synctest.Wait()
			for i, c := range clients {
				if got := c.frames(); !slices.Equal(got, frames) {
					t.Errorf("%s, instance %d: messages per frame %v, want %v", when, i, got, frames)
				}
			}
		}
		publish("a", true)
		check("no hurry")
		publish("b", false)
		check("a message", 2)
		publish("c", true)
		time.Sleep(60 * time.Millisecond)
		check("a tick later", 2, 1)

		for _, session := range sessions {
			session.setBusy(true)
		}
		publish("d", true)
		time.Sleep(100 * time.Millisecond)
		check("a reply is to come", 2, 1)
		for _, session := range sessions {
			session.conn.Send([]byte("reply"))
		}
		check("the reply", 2, 1, 2)
		publish("e", true)
		time.Sleep(210 * time.Millisecond)
		check("it does not come", 2, 1, 2, 1)
		publish("f", true)
		time.Sleep(100 * time.Millisecond)
		check("it still does not", 2, 1, 2, 1)
		time.Sleep(110 * time.Millisecond)
		for _, session := range sessions {
			session.setBusy(false)
		}
		publish("g", true)
		time.Sleep(60 * time.Millisecond)
		check("none is awaited", 2, 1, 2, 1, 1, 1)
		for i, c := range clients {
			wantSeqs(t, fmt.Sprint("instance ", i), "room", c.received(), 1, 7)
		}
	})
}

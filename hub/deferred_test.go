package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/hub/hubtest"
)

// TestUnsequencedPushesAreDeferred publishes messages without a seq. They must be delayed a little, to be written
// together with other messages. Many of them must be written at once.
func TestUnsequencedPushesAreDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.QueueBytes = 16_000
		h := start(t, o)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		publish := func(text string) { h.Publish("room", hub.Message{Data: []byte(text)}) }
		check := func(when string, frames ...int) {
			t.Helper()
			synctest.Wait()
			if got := c.frames(); !slices.Equal(got, frames) {
				t.Errorf("%s: messages per frame %v, want %v", when, got, frames)
			}
		}
		publish("a")
		publish("b")
		check("at once")
		session.conn.Send([]byte("reply"))
		check("after a reply", 3)
		publish("c")
		h.Publish("room", s.commit("room", "message"))
		check("after a message", 3, 2)
		for range 2 {
			publish("d")
			time.Sleep(100 * time.Millisecond)
		}
		check("after a tick", 3, 2, 1, 1)
		publish(strings.Repeat("e", 1100))
		check("beyond a sixteenth of the queue", 3, 2, 1, 1, 1)
		want := []string{
			"room:0:a", "room:0:b", "reply", "room:0:c", "room:1:message", "room:0:d", "room:0:d", "room:0:" + strings.Repeat("e", 1100),
		}
		if !slices.Equal(c.received(), want) {
			t.Errorf("got %.60q", c.received())
		}
	})
}

// TestDeferredMessagesWaitForAReply publishes deferred messages on one of several instances. They must keep their order
// on every instance. They wait one tick for another write, or longer while the client expects a reply.
func TestDeferredMessagesWaitForAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := hubtest.NewBroker()
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
		publish := func(text string, deferred bool) {
			m := s.commit("room", text)
			m.Deferred = deferred
			hubs[0].Publish("room", m)
		}
		check := func(when string, frames ...int) {
			t.Helper()
			time.Sleep(time.Millisecond) // for the delay of the bus
			synctest.Wait()
			for i, c := range clients {
				if got := c.frames(); !slices.Equal(got, frames) {
					t.Errorf("%s, instance %d: messages per frame %v, want %v", when, i, got, frames)
				}
			}
		}
		publish("a", true)
		check("at once")
		publish("b", false)
		check("after a message", 2)
		publish("c", true)
		time.Sleep(60 * time.Millisecond)
		check("after a tick", 2, 1)

		for _, session := range sessions {
			session.setBusy(true)
		}
		publish("d", true)
		time.Sleep(100 * time.Millisecond)
		check("while a reply is expected", 2, 1)
		for _, session := range sessions {
			session.conn.Send([]byte("reply"))
		}
		check("with the reply", 2, 1, 2)
		publish("e", true)
		time.Sleep(210 * time.Millisecond)
		check("after four ticks without a reply", 2, 1, 2, 1)
		publish("f", true)
		time.Sleep(100 * time.Millisecond)
		check("while a reply is still expected", 2, 1, 2, 1)
		time.Sleep(110 * time.Millisecond)
		for _, session := range sessions {
			session.setBusy(false)
		}
		publish("g", true)
		time.Sleep(60 * time.Millisecond)
		check("when no reply is expected", 2, 1, 2, 1, 1, 1)
		for i, c := range clients {
			wantSeqs(t, fmt.Sprint("instance ", i), "room", c.received(), 1, 7)
		}
	})
}

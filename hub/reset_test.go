package hub_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
	"hongbao/hub/hubtest"
)

// lose makes the store lose the messages of the topic behind a seq.
func (s *store) lose(topic string, behind int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages[topic] = s.messages[topic][:behind]
}

// mustBeReset fails the test unless the connection of the client was closed because the store has lost messages.
func mustBeReset(t *testing.T, c *client) {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(time.Minute): // in the time of the bubble
		t.Fatal("the connection was not closed")
	}
	if !websocket.IsCloseError(c.err, hub.CloseStateInvalidated) {
		t.Errorf("reading ended with %v, want close %d", c.err, hub.CloseStateInvalidated)
	}
}

// TestStoreThatLostMessages delivers four messages, and then the store loses two of them. The connections of the topic must
// be closed. A client that connects again must begin at the position of the store, and receive all that follows.
func TestStoreThatLostMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		var told string
		o.WentBack = func(topic string, had, has int64) { told = fmt.Sprint(topic, " ", had, " ", has) }
		h := start(t, o)
		c, session := connect(t, h, hub.JSON)
		other, otherSession := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		_, slow := dial(t, h, hub.JSON) // does not read, so its connection ends later than the others
		slow.conn.Subscribe("room", 0, nil)
		otherSession.conn.Subscribe("elsewhere", 0, nil)
		for i := range 4 {
			h.Publish("room", s.commit("room", fmt.Sprint("m", i+1)))
		}
		s.lose("room", 2)
		h.Compare()
		mustBeReset(t, c)
		synctest.Wait()
		if told != "room 4 2" {
			t.Errorf("WentBack was told %q, want topic, delivered seq and stored seq", told)
		}

		again, session := connect(t, h, hub.JSON)
		if at := session.conn.Subscribe("room", 2, nil); at != 2 {
			t.Errorf("a new connection begins at %d, want 2", at)
		}
		h.Publish("room", s.commit("room", "other 3"))
		synctest.Wait()
		again.mu.Lock()
		defer again.mu.Unlock()
		if len(again.got) != 1 || again.got[0] != "room:3:other 3" {
			t.Errorf("the new connection received %q, want the message that has the seq now", again.got)
		}
		select {
		case <-other.done:
			t.Error("a connection of another topic was closed")
		default:
		}
	})
}

// TestMessageCommittedDuringAComparison publishes a message while the last seqs are being read. The store has not lost it,
// although the read does not show it.
func TestMessageCommittedDuringAComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		var h *hub.Hub
		o.LastSeqs = func(ctx context.Context, topics []string) (map[string]int64, error) {
			lasts, err := s.lastSeqs(ctx, topics)
			h.Publish("room", s.commit("room", "meanwhile"))
			return lasts, err
		}
		h = start(t, o)
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		for range 5 {
			h.Compare()
			time.Sleep(time.Second)
		}
		select {
		case <-c.done:
			t.Errorf("the connection was closed: %v", c.err)
		default:
		}
	})
}

// TestReset closes all connections, with and without a topic, and forgets the positions. A connection that is made during the reset gets
// no old position: it could name messages of the new numbering by it. It is closed, too, because it may know the old numbering.
func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		silent, _ := connect(t, h, hub.Protobuf)
		session.conn.Subscribe("room", 9, nil)
		for range 2 { // which the connection below has seen: otherwise a comparison would close it
			s.commit("room", "m")
		}
		var during *client
		h.Reset(func() {
			during, session = connect(t, h, hub.JSON)
			if at := session.conn.Subscribe("room", 2, nil); at != 2 {
				t.Errorf("a connection made during the reset begins at %d, want 2", at)
			}
		})
		mustBeReset(t, c)
		mustBeReset(t, silent)
		mustBeReset(t, during)
		_, session = connect(t, h, hub.JSON)
		if at := session.conn.Subscribe("room", 3, nil); at != 3 {
			t.Errorf("a new connection begins at %d, want 3", at)
		}
	})
}

// slowBus holds back what is published, like a bus without a connection to its server.
type slowBus struct {
	hub.Bus
	mu   sync.Mutex
	held []func() // guarded by mu
}

func (b *slowBus) Publish(topic string, payload []byte, rank hub.Rank) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = append(b.held, func() { b.Bus.Publish(topic, payload, rank) })
}

func (b *slowBus) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, publish := range b.held {
		publish()
	}
	b.held = nil
}

// TestMessageThatCrossesAReset commits messages, publishes them in one way or another, and loses them before they arrive. A client that
// loads the topic after that must receive the messages that the store has, and none that it has lost.
func TestMessageThatCrossesAReset(t *testing.T) {
	type system struct {
		store *store
		a, b  *hub.Hub // the client is connected to b
		bus   *slowBus // of a
	}
	publish := func(h *hub.Hub, m hub.Message, final string) {
		m.Final = final
		h.Publish("room", m)
	}
	sendMuchLater := func(s *system, _ ...hub.Message) {
		time.Sleep(10 * time.Minute) // backlogs are kept for two minutes
		s.bus.release()
	}
	for name, c := range map[string]struct {
		before func(*system, ...hub.Message) // after the commit, before the loss
		after  func(*system, ...hub.Message) // when the client is there
	}{
		"queued before, sent after it": {
			func(s *system, lost ...hub.Message) {
				for _, m := range lost {
					publish(s.a, m, "")
				}
			},
			sendMuchLater,
		},
		"queued before, sent after it, with a final topic": {
			func(s *system, lost ...hub.Message) {
				for _, m := range lost {
					publish(s.a, m, "user:ann")
				}
			},
			sendMuchLater,
		},
		"without a seq, queued before, sent after it": {
			func(s *system, _ ...hub.Message) { publish(s.a, hub.Message{Data: []byte("lost balance")}, "") },
			sendMuchLater,
		},
		"published after it, elsewhere": {
			func(*system, ...hub.Message) {},
			func(s *system, lost ...hub.Message) {
				for _, m := range lost {
					publish(s.a, m, "")
				}
				s.bus.release()
			},
		},
		"published after it, here": {
			func(*system, ...hub.Message) {},
			func(s *system, lost ...hub.Message) {
				for _, m := range lost {
					publish(s.b, m, "")
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				broker := hubtest.NewBroker()
				made := &system{store: s, bus: &slowBus{Bus: broker.Endpoint()}}
				instance := func(bus hub.Bus) *hub.Hub {
					o := s.options()
					o.Bus = bus
					h := start(t, o)
					h.SetEpoch("first")
					return h
				}
				made.a, made.b = instance(made.bus), instance(broker.Endpoint())
				early, session := connect(t, made.b, hub.JSON)
				session.conn.Subscribe("room", 0, nil)
				s.commit("room", "m1")
				lost := []hub.Message{s.commit("room", "lost 2"), s.commit("room", "lost 3")}
				c.before(made, lost...)
				s.lose("room", 1)
				for _, h := range []*hub.Hub{made.b, made.a} {
					h.Reset(func() { h.SetEpoch("second") })
				}
				mustBeReset(t, early)

				client, session := connect(t, made.b, hub.JSON)
				session.conn.Subscribe("room", 1, nil)
				time.Sleep(3 * time.Second) // the comparisons of a new topic are over
				c.after(made, lost...)
				synctest.Wait()
				for i := range 3 {
					made.a.Publish("room", s.commit("room", fmt.Sprint("m", i+2)))
					made.bus.release()
					time.Sleep(time.Second)
				}
				if got, want := client.received(), []string{"room:2:m2", "room:3:m3", "room:4:m4"}; !slices.Equal(got, want) {
					t.Errorf("the client received %q, want %q", got, want)
				}
			})
		})
	}
}

// TestMessagesAfterAResetAreBelievedAgain counts reads from the store. For a while after a reset each message is read, and later none.
func TestMessagesAfterAResetAreBelievedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		h.Reset(func() { h.SetEpoch("second") })
		client, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		h.Publish("room", s.commit("room", "m1"))
		time.Sleep(time.Minute)
		if n := s.fetched(); n != 1 {
			t.Errorf("%d reads for a message right after a reset, want 1", n)
		}
		h.Publish("room", s.commit("room", "m2"))
		time.Sleep(time.Second)
		if n := s.fetched(); n != 1 {
			t.Errorf("%d reads for a message a minute later, want none", n-1)
		}
		if got, want := client.received(), []string{"room:1:m1", "room:2:m2"}; !slices.Equal(got, want) {
			t.Errorf("the client received %q, want %q", got, want)
		}
	})
}

// TestMessageOfAnotherEpochIsCompared has two instances that name the numbering differently, because one has noticed a new epoch first. A message of one is not
// delivered by the other as it is, but must come from the store within seconds, and not only with the comparison each minute.
func TestMessageOfAnotherEpochIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		broker := hubtest.NewBroker()
		var hubs []*hub.Hub
		for i := range 2 {
			o := s.options()
			o.Bus = broker.Endpoint()
			h := start(t, o)
			h.SetEpoch(fmt.Sprint("epoch ", i))
			hubs = append(hubs, h)
		}
		c, session := connect(t, hubs[1], hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		time.Sleep(10 * time.Second) // a new topic is compared more often, and so is each one after the bus has come up
		began := time.Now()
		hubs[0].Publish("room", s.commit("room", "a"))
		for began.Add(3 * time.Second).After(time.Now()) {
			time.Sleep(100 * time.Millisecond)
		}
		wantPushes(t, "the subscriber, after 3 s", c, "room:1:a")
	})
}

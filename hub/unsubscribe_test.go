package hub_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
	"hongbao/hub/hubtest"
)

// commitFinal stores a message whose Final field names the topic last.
func (s *store) commitFinal(topic, text, last string) hub.Message {
	s.commit(topic, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.messages[topic]
	all[len(all)-1].Final = last
	return all[len(all)-1]
}

// settled waits until nothing more arrives, and returns all messages that the client has received.
func settled(c *client) []string {
	synctest.Wait()
	return c.received()
}

// wantPushes checks all messages that the client has received.
func wantPushes(t *testing.T, name string, c *client, want ...string) {
	t.Helper()
	if got := settled(c); !slices.Equal(got, want) {
		t.Errorf("%s got %q, want %q", name, got, want)
	}
}

// TestNothingFollowsAFinalMessage publishes messages after one with Final. Subscribers of the topic that Final names
// must not receive them, on any instance. This must hold whether the messages come over the bus or from the store.
func TestNothingFollowsAFinalMessage(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				broker := hubtest.NewBroker()
				var hubs []*hub.Hub
				for range 2 {
					o := s.options()
					o.Bus = broker.Endpoint()
					hubs = append(hubs, start(t, o))
				}
				var ann, bob []*client
				var annSessions []*session
				for i, h := range hubs {
					c, session := connect(t, h, hub.Encoding(i))
					session.conn.Subscribe("user:ann", -1, nil)
					session.conn.Subscribe("room", 0, nil)
					ann, annSessions = append(ann, c), append(annSessions, session)
					c, session = connect(t, h, hub.Encoding(i))
					session.conn.Subscribe("room", 0, nil)
					bob = append(bob, c)
				}
				hubs[0].Publish("room", s.commit("room", "a"))
				last := s.commitFinal("room", "out", "user:ann")
				if !lost {
					hubs[0].Publish("room", last)
				}
				hubs[0].Publish("room", s.commit("room", "b"))
				time.Sleep(time.Second)
				hubs[0].Publish("room", hub.Message{Data: []byte("loose")})
				time.Sleep(time.Second)
				for i := range hubs {
					wantPushes(t, fmt.Sprint("ann ", i), ann[i], "room:1:a", "room:2:out")
					wantPushes(t, fmt.Sprint("bob ", i), bob[i], "room:1:a", "room:2:out", "room:3:b", "room:0:loose")
					if !annSessions[i].conn.Ended("room") || annSessions[i].conn.Ended("user:ann") || annSessions[i].conn.Ended("nowhere") {
						t.Errorf("instance %d: only the room has ended", i)
					}
					annSessions[i].conn.Unsubscribe("room", 2, []byte("bye"))
					annSessions[i].conn.Unsubscribe("room", 0, []byte("bye again"))
					wantPushes(t, fmt.Sprint("ann ", i), ann[i], "room:1:a", "room:2:out", "bye")
					if annSessions[i].conn.Ended("room") || hubs[i].Listeners("room") != 1 {
						t.Errorf("instance %d: the subscription has not ended", i)
					}
				}
			})
		})
	}
}

// TestUnsubscribeWaitsForItsMessage calls Unsubscribe with a seq that has not arrived. The subscriber must receive the
// messages up to that seq, and none after it.
func TestUnsubscribeWaitsForItsMessage(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				h := start(t, s.options())
				c, session := connect(t, h, hub.JSON)
				session.conn.Subscribe("room", 0, nil)
				time.Sleep(3 * time.Second) // until the comparisons for a new topic are over
				var messages []hub.Message
				for range 4 {
					messages = append(messages, s.commit("room", "x"))
				}
				h.Publish("room", messages[0])
				session.conn.Unsubscribe("room", 3, []byte("left"), []byte("bye"))
				session.conn.Unsubscribe("room", 4, []byte("too late"))
				wantPushes(t, "the subscriber", c, "room:1:x")
				if !lost {
					h.Publish("room", messages[2])
					h.Publish("room", messages[3])
					h.Publish("room", messages[1])
				}
				time.Sleep(time.Second)
				wantPushes(t, "the former subscriber", c, "room:1:x", "room:2:x", "room:3:x", "left", "bye")
				if stats := h.Stats(); stats.Topics != 0 {
					t.Errorf("a topic without listeners is left: %+v", stats)
				}
			})
		})
	}
}

// TestResubscribeCancelsAPendingEnd subscribes again before the final message has arrived. The subscriber must continue
// to receive messages after it.
func TestResubscribeCancelsAPendingEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 0, nil)
		announce := func(position int64) []byte { return fmt.Appendf(nil, "in at %d", position) }
		messages := []hub.Message{s.commitFinal("room", "out", "user:ann"), s.commit("room", "without her"), s.commit("room", "in")}
		session.conn.Unsubscribe("room", 1, []byte("bye"))
		session.conn.Subscribe("room", 2, announce)
		for _, m := range messages {
			h.Publish("room", m)
		}
		wantPushes(t, "the returned subscriber", c, "room:1:out", "room:2:without her", "room:3:in")

		// A final message that is published after Subscribe ends the subscription.
		h.Publish("room", s.commitFinal("room", "out again", "user:ann"))
		late := s.commit("room", "without her again")
		session.conn.Subscribe("room", late.Seq, announce)
		h.Publish("room", late)
		h.Publish("room", s.commit("room", "in again"))
		wantPushes(t, "the returned subscriber", c, "room:1:out", "room:2:without her", "room:3:in", "room:4:out again", "in at 5", "room:6:in again")
	})
}

// TestResubscribeAtTheFinalMessageCancelsAPendingEnd subscribes again with the seq of the final message as the last one
// seen: nothing was sent to the topic meanwhile. The subscriber must continue to receive messages.
func TestResubscribeAtTheFinalMessageCancelsAPendingEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 0, nil)
		out := s.commitFinal("room", "out", "user:ann")
		session.conn.Unsubscribe("room", out.Seq, []byte("bye"))
		session.conn.Subscribe("room", out.Seq, nil)
		h.Publish("room", out)
		h.Publish("room", s.commit("room", "in"))
		wantPushes(t, "the returned subscriber", c, "room:1:out", "room:2:in")
	})
}

// TestFinalMessageEndsAPendingUnsubscribe schedules two ends of a subscription. The earlier one must count.
func TestFinalMessageEndsAPendingUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 0, nil)
		session.conn.Unsubscribe("room", 3, []byte("bye"))
		h.Publish("room", s.commitFinal("room", "out", "user:ann"))
		wantPushes(t, "the former subscriber", c, "room:1:out", "bye")
	})
}

// TestFinalMessageBeforeThePositionIsIgnored publishes a final message whose seq is not above a subscription's
// position. The subscription must not end.
func TestFinalMessageBeforeThePositionIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		_, other := connect(t, h, hub.JSON)
		other.conn.Subscribe("room", 0, nil)
		out := s.commitFinal("room", "out", "user:ann")
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 1, nil)
		h.Publish("room", out)
		h.Publish("room", s.commit("room", "x"))
		wantPushes(t, "the later subscriber", c, "room:2:x")
	})
}

// TestSubscriptionsEndConcurrently ends subscriptions concurrently by disconnecting, by Final and by Unsubscribe.
func TestSubscriptionsEndConcurrently(t *testing.T) {
	s := newStore()
	h := start(t, s.options())
	const people, rounds = 12, 60
	stop := make(chan struct{})
	var storm, all sync.WaitGroup
	storm.Go(func() {
		for random := rand.New(rand.NewPCG(1, 2)); ; {
			select {
			case <-stop:
				return
			default:
			}
			h.Publish("room", s.commitFinal("room", "x", fmt.Sprint("user:", random.IntN(people))))
		}
	})
	for i := range people {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 3))
			for range rounds {
				c, session := connect(t, h, hub.Encoding(i%2))
				session.conn.Subscribe(fmt.Sprint("user:", i), -1, nil)
				session.conn.Subscribe("room", s.last("room"), nil)
				switch random.IntN(3) {
				case 0:
					session.conn.Unsubscribe("room", s.last("room")+int64(random.IntN(5)), []byte("bye"))
				case 1:
					session.conn.Subscribe("room", s.last("room"), nil)
				}
				c.ws.Close()
			}
		})
	}
	all.Wait()
	close(stop)
	storm.Wait()
	eventually(t, "all are gone", func() bool { return h.Connections() == 0 })
	if stats := h.Stats(); stats.Topics != 0 {
		t.Errorf("topics without listeners are left: %+v", stats)
	}
}

// TestOlderResubscribeKeepsAPendingEnd repeats a Subscribe that knows less than the message that ends the subscription. The end must stay scheduled:
// the user has left after what that Subscribe knows.
func TestOlderResubscribeKeepsAPendingEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		messages := []hub.Message{s.commit("room", "a"), s.commit("room", "out"), s.commit("room", "without her")}
		session.conn.Unsubscribe("room", 2, []byte("bye"))
		session.conn.Subscribe("room", 1, nil)
		for _, m := range messages {
			h.Publish("room", m)
		}
		wantPushes(t, "the former subscriber", c, "room:1:a", "room:2:out", "bye")
	})
}

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
	"hongbao/store/memstore"
)

// commitLast is commit of a message with a Last.
func (s *store) commitLast(topic, text, last string) hub.Message {
	s.commit(topic, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.messages[topic]
	all[len(all)-1].Last = last
	return all[len(all)-1]
}

// settled is what the client has when everything that is on its way has come.
func settled(c *client) []string {
	synctest.Wait()
	return c.received()
}

// wantPushes checks everything that the client has got.
func wantPushes(t *testing.T, who string, c *client, want ...string) {
	t.Helper()
	if got := settled(c); !slices.Equal(got, want) {
		t.Errorf("%s got %q, want %q", who, got, want)
	}
}

// TestLast: whoever listens to the topic that a message names gets nothing behind that message, on any instance, whether
// the message comes by the bus or is read from the store.
func TestLast(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				broker := memstore.NewBroker()
				var hubs []*hub.Hub
				for range 2 {
					o := s.options()
					o.Bus = broker.Endpoint()
					hubs = append(hubs, start(t, o))
				}
				var ann, bob []*client
				var hers []*session
				for i, h := range hubs {
					c, session := connect(t, h, hub.Encoding(i))
					session.conn.Subscribe("user:ann", -1, nil)
					session.conn.Subscribe("room", 0, nil)
					ann, hers = append(ann, c), append(hers, session)
					c, session = connect(t, h, hub.Encoding(i))
					session.conn.Subscribe("room", 0, nil)
					bob = append(bob, c)
				}
				hubs[0].Publish("room", s.commit("room", "a"))
				last := s.commitLast("room", "out", "user:ann")
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
					if !hers[i].conn.Ended("room") || hers[i].conn.Ended("user:ann") || hers[i].conn.Ended("nowhere") {
						t.Errorf("instance %d: only the room has ended", i)
					}
					hers[i].conn.Unsubscribe("room", 2, []byte("bye"))
					hers[i].conn.Unsubscribe("room", 0, []byte("bye again"))
					wantPushes(t, fmt.Sprint("ann ", i), ann[i], "room:1:a", "room:2:out", "bye")
					if hers[i].conn.Ended("room") || hubs[i].Listeners("room") != 1 {
						t.Errorf("instance %d: she is still in the topic", i)
					}
				}
			})
		})
	}
}

// TestUnsubscribeThrough: the topic is left behind a message that is still to come, whatever comes behind it.
func TestUnsubscribeThrough(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				h := start(t, s.options())
				c, session := connect(t, h, hub.JSON)
				session.conn.Subscribe("room", 0, nil)
				time.Sleep(3 * time.Second) // past the comparisons of a new topic
				var messages []hub.Message
				for range 4 {
					messages = append(messages, s.commit("room", "x"))
				}
				h.Publish("room", messages[0])
				session.conn.Unsubscribe("room", 3, []byte("left"), []byte("bye"))
				session.conn.Unsubscribe("room", 4, []byte("too late"))
				wantPushes(t, "who waits", c, "room:1:x")
				if !lost {
					h.Publish("room", messages[2])
					h.Publish("room", messages[3])
					h.Publish("room", messages[1])
				}
				time.Sleep(time.Second)
				wantPushes(t, "who has left", c, "room:1:x", "room:2:x", "room:3:x", "left", "bye")
				if stats := h.Stats(); stats.Topics != 0 {
					t.Errorf("a topic without listeners is left: %+v", stats)
				}
			})
		})
	}
}

// TestBackBeforeTheEnd: one who is back before he has heard that he is out has never been out.
func TestBackBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 0, nil)
		announce := func(position int64) []byte { return fmt.Appendf(nil, "in at %d", position) }
		messages := []hub.Message{s.commitLast("room", "out", "user:ann"), s.commit("room", "without her"), s.commit("room", "in")}
		session.conn.Unsubscribe("room", 1, []byte("bye"))
		session.conn.Subscribe("room", 2, announce)
		for _, m := range messages {
			h.Publish("room", m)
		}
		wantPushes(t, "who was out for a moment", c, "room:1:out", "room:2:without her", "room:3:in")

		// What ends behind that counts.
		h.Publish("room", s.commitLast("room", "out again", "user:ann"))
		late := s.commit("room", "without her again")
		session.conn.Subscribe("room", late.Seq, announce)
		h.Publish("room", late)
		h.Publish("room", s.commit("room", "in again"))
		wantPushes(t, "who is back", c, "room:1:out", "room:2:without her", "room:3:in", "room:4:out again", "in at 5", "room:6:in again")
	})
}

// TestLastBeforeThrough: of two ends the first one counts, and nothing is waited for behind it.
func TestLastBeforeThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 0, nil)
		session.conn.Unsubscribe("room", 3, []byte("bye"))
		h.Publish("room", s.commitLast("room", "out", "user:ann"))
		wantPushes(t, "who is out", c, "room:1:out", "bye")
	})
}

// TestLastOfThePast: what was the last message for somebody means nothing to him once he has come back behind it.
func TestLastOfThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		_, other := connect(t, h, hub.JSON)
		other.conn.Subscribe("room", 0, nil)
		out := s.commitLast("room", "out", "user:ann")
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("user:ann", -1, nil)
		session.conn.Subscribe("room", 1, nil)
		h.Publish("room", out)
		h.Publish("room", s.commit("room", "x"))
		wantPushes(t, "who came behind it", c, "room:2:x")
	})
}

// TestEndingsInAStorm lets connections come and go, on their own account, by Last and by Unsubscribe, all at once.
func TestEndingsInAStorm(t *testing.T) {
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
			h.Publish("room", s.commitLast("room", "x", fmt.Sprint("user:", random.IntN(people))))
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

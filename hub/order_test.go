package hub_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
)

// wantSeqs checks that the client received each message of the topic from first to last once, in order.
func wantSeqs(t *testing.T, client, topic string, got []string, first, last int64) {
	t.Helper()
	next := first
	for _, push := range got {
		rest, ok := strings.CutPrefix(push, topic+":")
		if !ok {
			continue
		}
		seq, _, _ := strings.Cut(rest, ":")
		if seq != fmt.Sprint(next) {
			t.Fatalf("%s got %s, want seq %d", client, push, next)
		}
		next++
	}
	if next != last+1 {
		t.Fatalf("%s got up to seq %d, want up to %d", client, next-1, last)
	}
}

// TestOrderProperty has several publishers publish messages out of order, some lost and some repeated. Subscribers join
// at random times, with a seq that may be old. Each must receive every message after its position, once and in order.
func TestOrderProperty(t *testing.T) {
	const seeds = 60
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomSchedule(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func randomSchedule(t *testing.T, random *rand.Rand) {
	const (
		committers = 4
		each       = 40
		listeners  = 5
	)
	s := newStore()
	h := start(t, s.options())
	var everyone sync.WaitGroup
	for range committers {
		everyone.Go(commitAndLose(h, s, each, rand.New(rand.NewPCG(random.Uint64(), 1))))
	}
	clients := make([]*client, listeners)
	positions := make([]int64, listeners)
	for i := range clients {
		c, session := connect(t, h, hub.Encoding(i%2))
		clients[i] = c
		wait := rand.N(200 * time.Millisecond)
		everyone.Go(func() {
			time.Sleep(wait)
			seen := s.last("room")
			time.Sleep(wait / 8)
			positions[i] = session.conn.Subscribe("room", seen, nil)
			if positions[i] < seen {
				t.Errorf("position %d is before what was seen, %d", positions[i], seen)
			}
		})
	}
	everyone.Wait()
	time.Sleep(2 * time.Minute) // a lost last message is found by the next comparison of all topics
	for i, c := range clients {
		wantSeqs(t, fmt.Sprint("listener ", i), "room", c.received(), positions[i]+1, committers*each)
	}
}

// commitAndLose returns a function that stores count messages and publishes most of them: after a random delay, some
// twice, some never.
func commitAndLose(h *hub.Hub, s *store, count int, random *rand.Rand) func() {
	return func() {
		for range count {
			m := s.commit("room", "x")
			time.Sleep(time.Duration(random.Int64N(int64(10 * time.Millisecond))))
			switch random.IntN(10) {
			case 0:
			case 1:
				h.Publish("room", m)
				h.Publish("room", m)
			default:
				h.Publish("room", m)
			}
		}
	}
}

func TestGapIsRepairedAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		time.Sleep(3 * time.Second) // until the comparisons for a new topic are over
		s.commit("room", "lost")
		second := s.commit("room", "second")

		s.fail(errors.New("store is down"))
		h.Publish("room", second)
		synctest.Wait()
		if got := c.received(); len(got) != 0 {
			t.Fatalf("delivered across a gap: %q", got)
		}
		time.Sleep(time.Minute / 2)
		if n := s.fetched(); n < 5 || n > 20 {
			t.Errorf("%d attempts in half a minute, want a few", n)
		}
		s.fail(nil)
		time.Sleep(6 * time.Second)
		wantSeqs(t, "listener", "room", c.received(), 1, 2)
		if repairs := h.Stats().GapRepairs; repairs != 1 {
			t.Errorf("%d gap repairs, want 1", repairs)
		}
	})
}

func TestCrossedPublishesNeedNoFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		first, second := s.commit("room", "a"), s.commit("room", "b")
		time.Sleep(80 * time.Millisecond) // so that the comparison for a new topic happens while messages are missing
		h.Publish("room", second)
		time.Sleep(80 * time.Millisecond)
		h.Publish("room", first)
		time.Sleep(5 * time.Second)
		wantSeqs(t, "listener", "room", c.received(), 1, 2)
		if n := s.fetched(); n != 0 {
			t.Errorf("%d fetches for messages that came by themselves", n)
		}
	})
}

// TestRepeatedMessageRevealsNoGap publishes a topic's last message again. The hub must neither deliver it nor read from the
// store, and a signal behind it must not wait.
func TestRepeatedMessageRevealsNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		first := s.commit("room", "a")
		h.Publish("room", first)
		h.Publish("room", first)
		h.Signal("room", []byte("behind"))
		synctest.Wait()
		if _, signals, _ := session.received(); !slices.Equal(signals, []string{"room:behind"}) {
			t.Errorf("got signals %q", signals)
		}
		time.Sleep(5 * time.Second)
		wantSeqs(t, "listener", "room", c.received(), 1, 1)
		if n := s.fetched(); n != 0 {
			t.Errorf("%d fetches because of a message that came twice", n)
		}
	})
}

func TestGapOfManyPagesIsRepairedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.Protobuf)
		session.conn.Subscribe("room", 0, nil)
		const count = 3210
		for range count - 1 {
			s.commit("room", "lost")
		}
		h.Publish("room", s.commit("room", "came"))
		time.Sleep(300 * time.Millisecond) // long enough to wait for the gap once, not once per page
		wantSeqs(t, "listener", "room", c.received(), 1, count)
	})
}

// TestSubscribeDuringPublishes subscribes connections while messages are published. Another connection keeps the topic
// in existence. Each must receive every message after its position, once and in order.
func TestSubscribeDuringPublishes(t *testing.T) {
	s := newStore()
	h := start(t, s.options())
	_, keeper := connect(t, h, hub.JSON)
	keeper.conn.Subscribe("room", 0, nil)
	const listeners = 30
	stop := make(chan struct{})
	var storm sync.WaitGroup
	for range 3 {
		storm.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					h.Publish("room", s.commit("room", "x"))
				}
				eventually(t, "the queues to shrink", func() bool { return h.Stats().QueuedBytes < 1<<16 })
			}
		})
	}
	clients := make([]*client, listeners)
	positions := make([]int64, listeners)
	for i := range clients {
		c, session := connect(t, h, hub.Encoding(i%2))
		clients[i] = c
		positions[i] = session.conn.Subscribe("room", s.last("room"), func(position int64) []byte {
			return fmt.Appendf(nil, "announced %d", position)
		})
	}
	close(stop)
	storm.Wait()
	last := s.last("room")
	for i, c := range clients {
		tail := fmt.Sprintf("room:%d:x", last)
		if positions[i] < last {
			eventually(t, "the last message", func() bool { return slices.Contains(c.received(), tail) })
		}
		eventually(t, "the announcement", func() bool { return len(c.received()) > 0 })
		got := c.received()
		if want := fmt.Sprintf("announced %d", positions[i]); got[0] != want {
			t.Fatalf("first came %q, want %q", got[0], want)
		}
		wantSeqs(t, fmt.Sprint("listener ", i), "room", got, positions[i]+1, last)
	}
}

func TestSubscribingTwiceChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		c, session := connect(t, h, hub.JSON)
		announce := func(int64) []byte { return []byte("in") }
		session.conn.Subscribe("room", 0, announce)
		h.Publish("room", s.commit("room", "a"))
		if position := session.conn.Subscribe("room", 0, announce); position != 1 {
			t.Errorf("position %d after the first message was delivered", position)
		}
		h.Publish("room", s.commit("room", "b"))
		if n := h.Listeners("room"); n != 1 {
			t.Errorf("%d listeners", n)
		}
		session.conn.Unsubscribe("room", 0, []byte("out"))
		session.conn.Unsubscribe("room", 0, []byte("out again"))
		h.Publish("room", s.commit("room", "c"))
		synctest.Wait()
		if got := strings.Join(c.received(), " "); got != "in room:1:a room:2:b out" {
			t.Errorf("got %q", got)
		}
		if stats := h.Stats(); stats.Topics != 0 || h.Listeners("room") != 0 {
			t.Errorf("a topic without listeners is left: %+v", stats)
		}
	})
}

// TestSubscriberAheadOfTheTopicRevealsAGap subscribes a connection whose seq from the store is above the topic's last
// seq. The hub must fetch the messages in between.
func TestSubscriberAheadOfTheTopicRevealsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		early, first := connect(t, h, hub.JSON)
		first.conn.Subscribe("room", 0, nil)
		time.Sleep(3 * time.Second)
		for range 3 {
			s.commit("room", "lost")
		}
		late, second := connect(t, h, hub.JSON)
		if position := second.conn.Subscribe("room", 2, nil); position != 2 {
			t.Errorf("position %d, want 2", position)
		}
		time.Sleep(200 * time.Millisecond)
		wantSeqs(t, "the earlier subscriber", "room", early.received(), 1, 2)
		h.Publish("room", s.commit("room", "four"))
		time.Sleep(200 * time.Millisecond)
		wantSeqs(t, "the earlier subscriber", "room", early.received(), 1, 4)
		wantSeqs(t, "the later subscriber", "room", late.received(), 3, 4)
		if delivered := h.Stats().Delivered; delivered != 6 {
			t.Errorf("%d deliveries are counted, want the 4 and 2 that the subscribers have received", delivered)
		}
	})
}

func TestSignalsComeAfterEarlierMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		_, session := connect(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		first, second := s.commit("room", "a"), s.commit("room", "b")
		h.Publish("room", second)
		h.Signal("room", []byte("after b"))
		synctest.Wait()
		if _, signals, _ := session.received(); len(signals) != 0 {
			t.Errorf("signals overtook a message: %q", signals)
		}
		h.Publish("room", first)
		h.Signal("room", []byte("now"))
		h.Signal("elsewhere", []byte("not here"))
		if _, signals, _ := session.received(); !slices.Equal(signals, []string{"room:after b", "room:now"}) {
			t.Errorf("got signals %q", signals)
		}
	})
}

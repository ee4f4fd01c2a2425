package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
)

// recent calls Recent for a span of the topic "room" and returns the texts of the messages. "-" means that the span is
// omitted.
func recent(t *testing.T, h *hub.Hub, after, through int64) string {
	t.Helper()
	messages, ok := h.Recent(t.Context(), []hub.Span{{Topic: "room", After: after, Through: through}})["room"]
	if !ok {
		return "-"
	}
	var texts []string
	for i, m := range messages {
		if m.Seq != after+1+int64(i) {
			t.Errorf("seq %d at index %d of the messages after %d", m.Seq, i, after)
		}
		texts = append(texts, string(m.Data))
	}
	return strings.Join(texts, " ")
}

// startSubscribed starts a hub with one connection that is subscribed to "room". Before that it commits the given
// number of messages.
func startSubscribed(t *testing.T, s *store, o hub.Options, before int) *hub.Hub {
	t.Helper()
	h := start(t, o)
	for i := range before {
		s.commit("room", fmt.Sprintf("m%d", i+1))
	}
	_, session := connect(t, h, hub.JSON)
	session.conn.Subscribe("room", s.last("room"), nil)
	return h
}

// TestRecentReadsTheStoreOnce has many clients call Recent. The store must be read once. Messages delivered afterwards
// must be available without another read.
func TestRecentReadsTheStoreOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := startSubscribed(t, s, s.options(), 100)
		reads := s.fetched()
		var clients sync.WaitGroup
		for range 1000 {
			clients.Go(func() {
				if got := recent(t, h, 97, 100); got != "m98 m99 m100" {
					t.Errorf("got %q", got)
				}
			})
		}
		clients.Wait()
		h.Publish("room", s.commit("room", "m101"))
		if got := recent(t, h, 0, 101); strings.Count(got, "m") != 101 || !strings.HasSuffix(got, "m100 m101") {
			t.Errorf("got %q", got)
		}
		if n := s.fetched() - reads; n != 1 || h.Stats().Resumes != 1 {
			t.Errorf("the store was read %d times and %d reads are counted, want 1", n, h.Stats().Resumes)
		}
		time.Sleep(3 * time.Minute)
		if got := recent(t, h, 100, 101); got != "m101" || h.Stats().Resumes != 2 {
			t.Errorf("later: %q, %d reads", got, h.Stats().Resumes)
		}
	})
}

// TestDropRecentReadsAgain changes messages in the store and drops what is kept of them. A client that reconnects then gets the changed ones.
func TestDropRecentReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := startSubscribed(t, s, s.options(), 3)
		h.DropRecent("nowhere")
		if got := recent(t, h, 1, 3); got != "m2 m3" || h.Stats().Resumes != 1 {
			t.Errorf("got %q, %d reads", got, h.Stats().Resumes)
		}
		h.DropRecent("room")
		h.Publish("room", s.commit("room", "m4"))
		if got := recent(t, h, 1, 4); got != "m2 m3 m4" || h.Stats().Resumes != 2 {
			t.Errorf("after DropRecent: %q, %d reads", got, h.Stats().Resumes)
		}
	})
}

// TestRecentReadsTopicsTogether calls Recent for several topics. All of them must be read with one query.
func TestRecentReadsTopicsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := start(t, s.options())
		_, session := connect(t, h, hub.JSON)
		var spans []hub.Span
		for i := range 20 {
			topic := fmt.Sprint("room-", i)
			s.commit(topic, "text")
			spans = append(spans, hub.Span{Topic: topic, After: 0, Through: session.conn.Subscribe(topic, 1, nil)})
		}
		spans = append(spans, hub.Span{Topic: "without subscribers", Through: 1})
		reads := s.fetched()
		if found := h.Recent(t.Context(), spans); len(found) != 20 || s.fetched()-reads != 1 {
			t.Errorf("%d found with %d reads", len(found), s.fetched()-reads)
		}
	})
}

// TestRecentIsBounded asks for more messages than a backlog holds. The span must be omitted, and the store must not be
// read again for it.
func TestRecentIsBounded(t *testing.T) {
	for _, test := range []struct {
		name          string
		messages      int
		text          string
		least, beyond int64 // the last least messages must be returned; a span of the last beyond messages must be omitted
	}{
		{"by number", 2000, "x", 600, 700},
		{"by bytes", 100, strings.Repeat("x", 10_000), 30, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				h := startSubscribed(t, s, s.options(), 0)
				for range test.messages {
					s.commit("room", test.text)
				}
				h.Publish("room", s.commit("room", test.text))
				time.Sleep(time.Minute) // until the missing messages are fetched
				last := s.last("room")
				for range 3 {
					if got := recent(t, h, last-test.least, last); int64(strings.Count(got, test.text)) != test.least {
						t.Errorf("%d of %d came", strings.Count(got, test.text), test.least)
					}
					if got := recent(t, h, last-test.beyond, last); got != "-" {
						t.Errorf("got %d bytes of what is not kept", len(got))
					}
					for range test.messages {
						h.Publish("room", s.commit("room", test.text))
						synctest.Wait() // until the listener has received the message
					}
					last = s.last("room")
				}
				if h.Stats().Resumes != 1 {
					t.Errorf("%d reads", h.Stats().Resumes)
				}
			})
		})
	}
}

// TestRecentWaitsForAGap asks for a span whose last message has not arrived on this instance. Recent must wait until
// that message is fetched.
func TestRecentWaitsForAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := startSubscribed(t, s, s.options(), 2)
		s.commit("room", "m3") // on another instance, which crashed before it published the message
		_, session := connect(t, h, hub.JSON)
		if got := recent(t, h, 1, session.conn.Subscribe("room", 3, nil)); got != "m2 m3" {
			t.Errorf("got %q", got)
		}
		began := time.Now()
		if got := recent(t, h, 1, 9); got != "-" || time.Since(began) > 5*time.Second {
			t.Errorf("got %q of what is not there, after %v", got, time.Since(began))
		}
	})
}

// TestRecentDuringAnOutage calls Recent while the store fails, and afterwards. Spans must be omitted during the outage,
// and returned after it.
func TestRecentDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := startSubscribed(t, s, s.options(), 5)
		s.fail(errors.New("no store"))
		var clients sync.WaitGroup
		for range 10 {
			clients.Go(func() {
				if got := recent(t, h, 1, 5); got != "-" {
					t.Errorf("got %q", got)
				}
			})
		}
		clients.Wait()
		s.fail(nil)
		if got := recent(t, h, 3, 5); got != "m4 m5" {
			t.Errorf("got %q", got)
		}
	})
}

// TestRecentOfManyTopicsReadsLittleOfEach calls Recent for many topics. Only a part of each must be read. A client that
// has missed more than that part of one topic must receive it all the same.
func TestRecentOfManyTopicsReadsLittleOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		read := 0
		o.Fetch = func(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
			found, err := s.fetch(ctx, spans)
			for _, messages := range found {
				read += len(messages)
			}
			return found, err
		}
		h := start(t, o)
		_, session := connect(t, h, hub.JSON)
		var spans []hub.Span
		for i := range 200 {
			topic := fmt.Sprint("room-", i)
			for range 300 {
				s.commit(topic, "text")
			}
			session.conn.Subscribe(topic, 300, nil)
			spans = append(spans, hub.Span{Topic: topic, After: 299, Through: 300})
		}
		if found := h.Recent(t.Context(), spans); len(found) != 200 || read > 6000 {
			t.Errorf("%d found, %d messages read", len(found), read)
		}
		spans[7].After = 1
		if found := h.Recent(t.Context(), spans); len(found) != 200 || len(found["room-7"]) != 299 {
			t.Errorf("%d found, %d of a room of which more was missed", len(found), len(found["room-7"]))
		}
		if n := h.Stats().Resumes; n != 201 {
			t.Errorf("%d reads", n)
		}
	})
}

// TestRecentReturnsNothingTakenBack recalls a text that is in the backlog, or in a read in progress. Recent must not
// return the text.
func TestRecentReturnsNothingTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.Revise = func(m hub.Message) func(hub.Message) hub.Message {
			target, ok := bytes.CutPrefix(m.Data, []byte("forget "))
			if !ok {
				return nil
			}
			return func(earlier hub.Message) hub.Message {
				if bytes.Equal(earlier.Data, target) {
					earlier.Data = []byte("-")
				}
				return earlier
			}
		}
		reading, goOn := make(chan struct{}), make(chan struct{})
		o.Fetch = func(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
			found, err := s.fetch(ctx, spans)
			close(reading)
			<-goOn
			return found, err
		}
		h := startSubscribed(t, s, o, 5)
		asked := make(chan string)
		go func() { asked <- recent(t, h, 1, 5) }()
		<-reading
		h.Publish("room", s.commit("room", "forget m4"))
		close(goOn)
		if got := <-asked; got != "m2 m3 - m5" {
			t.Errorf("got %q", got)
		}
		h.Publish("room", s.commit("room", "forget m2"))
		if got := recent(t, h, 1, 7); got != "- m3 - m5 forget m4 forget m2" {
			t.Errorf("got %q", got)
		}
	})
}

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

// comeBack asks for a span of the topic "room", and gives what it says; "-" when it is left out.
func comeBack(t *testing.T, h *hub.Hub, after, through int64) string {
	t.Helper()
	messages, ok := h.Recent(t.Context(), []hub.Span{{Topic: "room", After: after, Through: through}})["room"]
	if !ok {
		return "-"
	}
	var texts []string
	for i, m := range messages {
		if m.Seq != after+1+int64(i) {
			t.Errorf("seq %d at place %d behind %d", m.Seq, i, after)
		}
		texts = append(texts, string(m.Data))
	}
	return strings.Join(texts, " ")
}

// listening makes a hub with one connection in "room", after so many messages.
func listening(t *testing.T, s *store, o hub.Options, before int) *hub.Hub {
	t.Helper()
	h := start(t, o)
	for i := range before {
		s.commit("room", fmt.Sprintf("m%d", i+1))
	}
	_, session := connect(t, h, hub.JSON)
	session.conn.Subscribe("room", s.last("room"), nil)
	return h
}

// TestRecent: however many come back, the store is read once; what is delivered from then on is known.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := listening(t, s, s.options(), 100)
		reads := s.fetched()
		var crowd sync.WaitGroup
		for range 1000 {
			crowd.Go(func() {
				if got := comeBack(t, h, 97, 100); got != "m98 m99 m100" {
					t.Errorf("got %q", got)
				}
			})
		}
		crowd.Wait()
		h.Publish("room", s.commit("room", "m101"))
		if got := comeBack(t, h, 0, 101); strings.Count(got, "m") != 101 || !strings.HasSuffix(got, "m100 m101") {
			t.Errorf("got %q", got)
		}
		if n := s.fetched() - reads; n != 1 || h.Stats().Resumes != 1 {
			t.Errorf("the store was read %d times, %d are counted", n, h.Stats().Resumes)
		}
		time.Sleep(3 * time.Minute)
		if got := comeBack(t, h, 100, 101); got != "m101" || h.Stats().Resumes != 2 {
			t.Errorf("later: %q, %d reads", got, h.Stats().Resumes)
		}
	})
}

// TestRecentSeveral: all topics of one caller are read together.
func TestRecentSeveral(t *testing.T) {
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
		spans = append(spans, hub.Span{Topic: "nobody is there", Through: 1})
		reads := s.fetched()
		if found := h.Recent(t.Context(), spans); len(found) != 20 || s.fetched()-reads != 1 {
			t.Errorf("%d found with %d reads", len(found), s.fetched()-reads)
		}
	})
}

// TestRecentBounds: what is not kept is left out, and not read again.
func TestRecentBounds(t *testing.T) {
	for _, test := range []struct {
		name          string
		messages      int
		text          string
		least, beyond int64 // how many of the last may be had, and how many not
	}{
		{"by number", 2000, "x", 600, 700},
		{"by bytes", 100, strings.Repeat("x", 10_000), 30, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				h := listening(t, s, s.options(), 0)
				for range test.messages {
					s.commit("room", test.text)
				}
				h.Publish("room", s.commit("room", test.text))
				time.Sleep(time.Minute) // until the gap is repaired
				last := s.last("room")
				for range 3 {
					if got := comeBack(t, h, last-test.least, last); int64(strings.Count(got, test.text)) != test.least {
						t.Errorf("%d of %d came", strings.Count(got, test.text), test.least)
					}
					if got := comeBack(t, h, last-test.beyond, last); got != "-" {
						t.Errorf("got %d bytes of what is not kept", len(got))
					}
					for range test.messages {
						h.Publish("room", s.commit("room", test.text))
						synctest.Wait() // the listener takes it
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

// TestRecentBehind: a position that the topic has not come to yet is waited for.
func TestRecentBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := listening(t, s, s.options(), 2)
		s.commit("room", "m3") // on another instance, which has died
		_, session := connect(t, h, hub.JSON)
		if got := comeBack(t, h, 1, session.conn.Subscribe("room", 3, nil)); got != "m2 m3" {
			t.Errorf("got %q", got)
		}
		began := time.Now()
		if got := comeBack(t, h, 1, 9); got != "-" || time.Since(began) > 5*time.Second {
			t.Errorf("got %q of what is not there, after %v", got, time.Since(began))
		}
	})
}

// TestRecentFails: in an outage of the store nobody is given anything, and it does not outlast that.
func TestRecentFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := listening(t, s, s.options(), 5)
		s.fail(errors.New("no store"))
		var crowd sync.WaitGroup
		for range 10 {
			crowd.Go(func() {
				if got := comeBack(t, h, 1, 5); got != "-" {
					t.Errorf("got %q", got)
				}
			})
		}
		crowd.Wait()
		s.fail(nil)
		if got := comeBack(t, h, 3, 5); got != "m4 m5" {
			t.Errorf("got %q", got)
		}
	})
}

// TestRecentOfMany: who is in many rooms has little of each read, and who has missed more of one of them is yet given it.
func TestRecentOfMany(t *testing.T) {
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

// TestRecentRevised: what a message takes back is not given any more, be it kept, or on its way from the store.
func TestRecentRevised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.Revise = func(m hub.Message) func([]byte) []byte {
			target, ok := bytes.CutPrefix(m.Data, []byte("forget "))
			if !ok {
				return nil
			}
			return func(data []byte) []byte {
				if bytes.Equal(data, target) {
					return []byte("-")
				}
				return data
			}
		}
		reading, goOn := make(chan struct{}), make(chan struct{})
		o.Fetch = func(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
			found, err := s.fetch(ctx, spans)
			close(reading)
			<-goOn
			return found, err
		}
		h := listening(t, s, o, 5)
		asked := make(chan string)
		go func() { asked <- comeBack(t, h, 1, 5) }()
		<-reading
		h.Publish("room", s.commit("room", "forget m4"))
		close(goOn)
		if got := <-asked; got != "m2 m3 - m5" {
			t.Errorf("got %q", got)
		}
		h.Publish("room", s.commit("room", "forget m2"))
		if got := comeBack(t, h, 1, 7); got != "- m3 - m5 forget m4 forget m2" {
			t.Errorf("got %q", got)
		}
	})
}

package hub_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
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

package hub_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/hub"
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
			if !slices.Equal(c.wire, frames) {
				t.Errorf("%s: messages per frame %v, want %v", when, c.wire, frames)
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

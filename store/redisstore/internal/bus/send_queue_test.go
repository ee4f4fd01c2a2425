package bus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/hub"
)

// texts returns the messages of a queue as they would be sent.
func texts(o *sendQueue) (all []string) {
	for _, p := range o.messages {
		all = append(all, fmt.Sprintf("%s%d:%s", p.topic, p.rank, p.bytes[headerLen:]))
	}
	return all
}

// TestSendQueueCompacts checks that compact drops loose messages and keeps the highest rank of a topic. A kept
// message does not overtake earlier messages of its topic.
func TestSendQueueCompacts(t *testing.T) {
	var all []message
	for s := range strings.FieldsSeq("a1 a2 b1 a0 a-1 a4 a3 b0 b3 a-1 b2 a0 c0 a5") {
		var rank hub.Rank
		if _, err := fmt.Sscan(s[1:], &rank); err != nil {
			t.Fatal(err)
		}
		all = append(all, newMessage(s[:1], nil, rank))
	}
	var got []string
	for _, p := range compact(all) {
		got = append(got, fmt.Sprint(p.topic, p.rank))
	}
	// b2 stays besides b3, because a kept message of b is between them.
	if want := "a2 a-1 a4 a3 b3 a-1 b2 a5"; strings.Join(got, " ") != want {
		t.Errorf("kept %v, want %s", got, want)
	}
}

// TestSendQueueBounds puts too many messages of each kind into send queues. The queues stay within their limits, and
// report a loss only if messages were dropped that later ones do not replace.
func TestSendQueueBounds(t *testing.T) {
	for name, c := range map[string]struct {
		rank  func(i int) hub.Rank
		topic func(i int) string
		lost  bool
	}{
		"loose":            {func(int) hub.Rank { return hub.Loose }, func(int) string { return "room" }, false},
		"one topic":        {func(i int) hub.Rank { return hub.Rank(i + 1) }, func(int) string { return "room" }, false},
		"too many topics":  {func(int) hub.Rank { return 1 }, func(i int) string { return fmt.Sprint("room ", i) }, true},
		"too many to keep": {func(int) hub.Rank { return hub.Kept }, func(int) string { return "room" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := newSendQueue(16)
			count := 3 * o.limit.count
			for i := range count {
				o.put(c.topic(i), fmt.Append(nil, i), c.rank(i))
				if o.size.exceeds(o.limit) || o.size.count != len(o.messages) {
					t.Fatalf("%+v with %d messages exceeds %+v", o.size, len(o.messages), o.limit)
				}
			}
			if o.lost != c.lost {
				t.Errorf("lost: %v", o.lost)
			}
			if o.size != sizeOf(o.messages) {
				t.Errorf("counted %+v, has %+v", o.size, sizeOf(o.messages))
			}
			if last := fmt.Sprint(":", count-1); c.rank(1) != hub.Loose && !strings.HasSuffix(texts(o)[len(o.messages)-1], last) {
				t.Errorf("the newest message was dropped")
			}
		})
	}
}

// TestSendQueuePutBack puts the messages of a failed round trip back: they precede newer ones, without the loose one.
func TestSendQueuePutBack(t *testing.T) {
	o := newSendQueue(1)
	for i, rank := range []hub.Rank{1, hub.Loose, hub.Kept, 2} {
		o.put("room", fmt.Append(nil, i), rank)
	}
	taken := o.take()
	o.put("room", []byte("4"), 3)
	o.putBack(taken[1:])
	if got, want := texts(o), []string{"room-1:2", "room2:3", "room3:4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if o.size != sizeOf(o.messages) {
		t.Errorf("counted %+v, has %+v", o.size, sizeOf(o.messages))
	}
}

func TestSubscriptions(t *testing.T) {
	w := newSubscriptions()
	next := func(want string) {
		t.Helper()
		subscribe, unsubscribe := w.next()
		slices.Sort(subscribe)
		if got := fmt.Sprint(subscribe, unsubscribe); got != want {
			t.Errorf("next is %s, want %s", got, want)
		}
	}
	w.set("a", true)
	w.set("b", true)
	w.set("b", false)
	w.set("c", true)
	w.begin()
	next("[a c] []")
	w.set("a", false)
	w.set("d", true)
	w.set("c", false)
	w.set("c", true)
	w.set("e", true)
	w.set("e", false)
	next("[d] [a]")
	next("[] []")
	w.end()
	w.set("f", true)
	w.begin()
	next("[c d f] []")
	w.set("f", false)
	w.end() // before the change was sent
	if len(w.topics) != 2 || w.changed != nil {
		t.Errorf("left: %v %v", w.topics, w.changed)
	}
}

// TestSlowSubscription confirms subscriptions early and late. Only the late confirmation is reported as slow.
func TestSlowSubscription(t *testing.T) {
	w := newSubscriptions()
	w.begin()
	w.set("a", true)
	w.set("b", true)
	w.next()
	w.set("c", true)
	w.next()
	w.requested[1].since = time.Now().Add(-time.Second)
	if w.confirmed("a") || w.confirmed("b") {
		t.Error("a fast confirmation is reported as slow")
	}
	if !w.confirmed("c") {
		t.Error("a slow confirmation is not reported")
	}
	if w.confirmed("c") {
		t.Error("a second confirmation is reported")
	}
}

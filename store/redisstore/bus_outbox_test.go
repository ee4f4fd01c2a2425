package redisstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/hub"
)

// texts are the parcels of an outbox, as they would be sent.
func texts(o *outbox) (all []string) {
	for _, p := range o.parcels {
		all = append(all, fmt.Sprintf("%s%d:%s", p.topic, p.rank, p.bytes[parcelHeader:]))
	}
	return all
}

// TestOutboxKeepsWhatIsNeeded tidies: loose parcels go, of a topic the highest stays, and one that is kept does not
// overtake what was published to its topic before.
func TestOutboxKeepsWhatIsNeeded(t *testing.T) {
	var all []parcel
	for s := range strings.FieldsSeq("a1 a2 b1 a0 a-1 a4 a3 b0 b3 a-1 b2 a0 c0 a5") {
		var rank hub.Rank
		if _, err := fmt.Sscan(s[1:], &rank); err != nil {
			t.Fatal(err)
		}
		all = append(all, newParcel(s[:1], nil, rank))
	}
	var got []string
	for _, p := range needed(all) {
		got = append(got, fmt.Sprint(p.topic, p.rank))
	}
	// b2 crossed b3: it costs one more.
	if want := "a2 a-1 a4 a3 b3 a-1 b2 a5"; strings.Join(got, " ") != want {
		t.Errorf("kept %v, want %s", got, want)
	}
}

// TestOutboxBounds fills outboxes with each kind of parcel beyond their limits.
func TestOutboxBounds(t *testing.T) {
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
			o := newOutbox(16)
			count := 3 * o.limit.count
			for i := range count {
				o.put(c.topic(i), fmt.Append(nil, i), c.rank(i))
				if o.load.exceeds(o.limit) || o.load.count != len(o.parcels) {
					t.Fatalf("%+v with %d parcels exceeds %+v", o.load, len(o.parcels), o.limit)
				}
			}
			if o.lost != c.lost {
				t.Errorf("lost: %v", o.lost)
			}
			if o.load != loadOf(o.parcels) {
				t.Errorf("counted %+v, has %+v", o.load, loadOf(o.parcels))
			}
			if last := fmt.Sprint(":", count-1); c.rank(1) != hub.Loose && !strings.HasSuffix(texts(o)[len(o.parcels)-1], last) {
				t.Errorf("the newest is gone")
			}
		})
	}
}

// TestOutboxBack puts a failed round trip back.
func TestOutboxBack(t *testing.T) {
	o := newOutbox(1)
	for i, rank := range []hub.Rank{1, hub.Loose, hub.Kept, 2} {
		o.put("room", fmt.Append(nil, i), rank)
	}
	taken := o.take()
	o.put("room", []byte("4"), 3)
	o.back(taken[1:])
	if got, want := texts(o), []string{"room-1:2", "room2:3", "room3:4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if o.load != loadOf(o.parcels) {
		t.Errorf("counted %+v, has %+v", o.load, loadOf(o.parcels))
	}
}

func TestWants(t *testing.T) {
	w := newWants()
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
	w.end() // before it was told
	if len(w.topics) != 2 || w.changed != nil {
		t.Errorf("left: %v %v", w.topics, w.changed)
	}
}

// TestLateSubscription: an answer that took long is told apart.
func TestLateSubscription(t *testing.T) {
	w := newWants()
	w.begin()
	w.set("a", true)
	w.set("b", true)
	w.next()
	w.set("c", true)
	w.next()
	w.asked[1].since = time.Now().Add(-time.Second)
	if w.answered("a") || w.answered("b") {
		t.Error("an answer in time is called late")
	}
	if !w.answered("c") {
		t.Error("a late answer is not")
	}
	if w.answered("c") {
		t.Error("nobody asked again")
	}
}

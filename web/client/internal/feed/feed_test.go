package feed

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hongbao/web/client/model"
)

// TestFeedModel has a random sequence of pushes, losses, repetitions, history reads and takes. The feed must return
// every entry of a stay once and in order, or name it as skipped. After the room was numbered anew, it must return only
// entries of the new numbering, also if an answer of history comes late.
func TestFeedModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maxMissed := rapid.SampledFrom([]int64{0, 0, 5}).Draw(t, "max missed")
		m := &feedModel{t: t, feed: New(rapid.IntRange(1, 5).Draw(t, "queue"), maxMissed), last: 10, maxMissed: maxMissed}
		t.Repeat(map[string]func(*rapid.T){
			"push":    func(*rapid.T) { m.last++; m.push(m.last) },
			"lose":    func(*rapid.T) { m.last++ },
			"repeat":  func(t *rapid.T) { m.push(rapid.Int64Range(1, m.last).Draw(t, "seq")) },
			"enter":   func(*rapid.T) { m.enter() },
			"leave":   func(*rapid.T) { m.leave() },
			"reach":   func(*rapid.T) { m.feed.Reach("r", m.epoch(), m.last, false) },
			"loose":   func(*rapid.T) { m.feed.AddLoose(model.Typing{}) },
			"history": func(t *rapid.T) { m.history(rapid.IntRange(1, 3).Draw(t, "page")) },
			"ask":     func(t *rapid.T) { m.ask(rapid.IntRange(1, 3).Draw(t, "page")) },
			"answer":  func(*rapid.T) { m.answer() },
			"number":  func(t *rapid.T) { m.number(rapid.Int64Range(max(1, m.last-2), m.last+2).Draw(t, "position")) },
			"take":    func(*rapid.T) { m.take() },
			"":        func(*rapid.T) { m.check() },
		})
		m.feed.Reach("r", m.epoch(), m.last, false)
		m.leave()
		for n := 0; m.busy(); n++ {
			if n > 10_000 {
				t.Fatal("there is no end")
			}
			m.take()
			m.answer()
			m.history(100)
		}
		if m.inside || len(m.feed.stays) > 0 {
			t.Fatalf("the stay has ended, but not all was returned; %+v", m.feed)
		}
	})
}

// feedModel is one room of a server and one client, as the test tracks them.
type feedModel struct {
	t         *rapid.T
	feed      Feed
	last      int64
	maxMissed int64

	in      bool  // the user is in the room
	inside  bool  // the client has been told that the user is in the room
	refused bool  // a read of history was refused, because the user was out
	taken   int64 // seq of the last entry that the program took
	numbers int   // how often the room was numbered anew

	asked []historyAnswer // answers of history that are still under way
}

// historyAnswer is what the server's history had when it was asked.
type historyAnswer struct {
	missing Missing
	entries []model.Entry
}

func (m *feedModel) epoch() string { return strconv.Itoa(m.numbers) }

// entry returns an entry of the room. Its ID is the epoch.
func (m *feedModel) entry(seq int64) model.Entry {
	return model.Entry{Room: "r", Seq: seq, ID: m.epoch()}
}

// number begins a new epoch, in which the room's last entry has the given seq. It does nothing while the client returns a stay
// that has ended: such a stay keeps its numbers.
func (m *feedModel) number(last int64) {
	s := m.feed.staying("r")
	if s == nil || s.state == stayBehind {
		return
	}
	m.numbers++
	m.last = last
	m.feed.Reach("r", m.epoch(), last, false)
}

func (m *feedModel) push(seq int64) { m.feed.Push(m.entry(seq)) }

func (m *feedModel) enter() {
	m.feed.Enter(model.Room{ID: "r", LastSeq: m.last}, true)
	m.feed.Reach("r", m.epoch(), m.last, false)
	m.in = true
}

func (m *feedModel) leave() {
	m.feed.Leave("r")
	m.in = false
}

func (m *feedModel) take() {
	switch e := m.feed.Take().(type) {
	case model.Entered:
		if m.inside {
			m.t.Fatalf("entered twice")
		}
		m.inside, m.refused, m.taken = true, false, e.Room.LastSeq
	case model.Left:
		if !m.inside {
			m.t.Fatalf("left without having been there")
		}
		m.inside = false
	case model.Entry:
		if !m.inside || e.Seq != m.taken+1 {
			m.t.Fatalf("got %d after %d, inside: %v", e.Seq, m.taken, m.inside)
		}
		if e.ID != m.epoch() {
			m.t.Fatalf("got entry %d of epoch %s in epoch %s", e.Seq, e.ID, m.epoch())
		}
		m.taken = e.Seq
	case model.Skipped:
		renumbered := e.After == 0 && m.numbers > 0
		if !m.inside || !renumbered && (e.After != m.taken || e.Through <= e.After || m.maxMissed == 0 && !m.refused) {
			m.t.Fatalf("skipped %+v after %d, inside: %v", e, m.taken, m.inside)
		}
		m.taken = e.Through
	}
}

// history answers one read of history at once.
func (m *feedModel) history(page int) {
	m.ask(page)
	m.answer()
}

// ask reads history for the first stay that misses entries. The answer is under way until answer is called. If the user is not
// in the room, it is empty.
func (m *feedModel) ask(page int) {
	missing, ok := m.feed.NextMissing()
	if !ok {
		return
	}
	m.refused = m.refused || !m.in
	var entries []model.Entry
	for seq := missing.After + 1; m.in && seq <= m.last && len(entries) < page; seq++ {
		entries = append(entries, m.entry(seq))
	}
	m.asked = append(m.asked, historyAnswer{missing, entries})
}

// answer delivers the oldest answer that is under way.
func (m *feedModel) answer() {
	if len(m.asked) == 0 {
		return
	}
	a := m.asked[0]
	m.asked = m.asked[1:]
	m.feed.HistoryRead(a.missing, a.entries)
}

func (m *feedModel) busy() bool { return len(m.feed.turns)+len(m.feed.missing)+len(m.asked) > 0 }

// check verifies the invariants of the feed.
func (m *feedModel) check() {
	loose := 0
	for _, s := range m.feed.turns {
		if s == nil {
			loose++
		} else if s.state != stayQueued || s.then != nil && s.then.then != nil {
			m.t.Fatalf("has a turn at %d, or too many stays behind it", s.state)
		}
	}
	stays := 0
	if s := m.feed.stays["r"]; s != nil {
		stays++
		if len(s.ready) > m.feed.queue+3 {
			m.t.Fatalf("%d entries are kept", len(s.ready))
		}
	}
	if loose != len(m.feed.loose) || len(m.feed.turns) > loose+stays+1 {
		m.t.Fatalf("%d turns, %d loose events, %d stays", len(m.feed.turns), len(m.feed.loose), stays)
	}
}

// TestLateHistory numbers the room anew while an answer of history is under way. The new numbers are such that the client asked for
// the entries after the same seq. What history had before must be neither returned nor given up for that.
func TestLateHistory(t *testing.T) {
	for name, late := range map[string][]model.Entry{"no entry": nil, "an entry": {{Room: "r", Seq: 11, ID: "old"}}} {
		f := New(10, 0)
		f.Enter(model.Room{ID: "r", LastSeq: 10}, false)
		f.Reach("r", "before", 12, false)
		f.Take()
		asked, _ := f.NextMissing()
		f.Reach("r", "after", 10, false)
		f.Reach("r", "after", 11, false)
		f.HistoryRead(asked, late)
		if e := f.Take(); e != (model.Skipped{Room: "r", Through: 10}) {
			t.Errorf("%s: first %+v, want that the room is numbered anew through 10", name, e)
		}
		if e := f.Take(); e != nil {
			t.Fatalf("%s: then %+v, want a request for entry 11", name, e)
		}
		asked, _ = f.NextMissing()
		f.HistoryRead(asked, []model.Entry{{Room: "r", Seq: 11, ID: "new"}})
		if e, ok := f.Take().(model.Entry); !ok || e.ID != "new" {
			t.Errorf("%s: then %+v, want the new entry 11", name, e)
		}
	}
}

// TestLooseEventsAreBounded adds more events without a room than the feed keeps. The newest must be kept, in order.
func TestLooseEventsAreBounded(t *testing.T) {
	f := New(1, 0)
	for i := range maxLoose + 10 {
		f.AddLoose(model.MemberCount{Count: i})
	}
	for i := range maxLoose {
		if e := f.Take(); e != (model.MemberCount{Count: i + 10}) {
			t.Fatalf("the %dth is %+v", i, e)
		}
	}
	if e := f.Take(); e != nil || len(f.turns) > 0 {
		t.Errorf("and then %+v", e)
	}
}

// TestFullFeedKeepsThePlaceholder adds more events than the feed keeps behind the placeholder for a Connected event. The feed must
// return nothing before that event.
func TestFullFeedKeepsThePlaceholder(t *testing.T) {
	f := New(1, 0)
	f.HoldConnected()
	for i := range maxLoose + 10 {
		f.AddLoose(model.MemberCount{Count: i})
	}
	if e := f.Take(); e != nil {
		t.Fatalf("before Connected, Take returned %+v", e)
	}
	f.AddConnected(model.Connected{})
	if e, ok := f.Take().(model.Connected); !ok {
		t.Fatalf("the first event is %+v, want Connected", e)
	}
	if e := f.Take(); e != (model.MemberCount{Count: 11}) {
		t.Errorf("the second event is %+v, want the oldest one that fits", e)
	}
}

// TestRoomsTakeTurns fills one room with entries. The entries of another room must not be delayed.
func TestRoomsTakeTurns(t *testing.T) {
	f := New(10, 0)
	for _, room := range []string{"a", "b"} {
		f.Enter(model.Room{ID: room}, false)
		for seq := range int64(3) {
			f.Push(model.Entry{Room: room, Seq: seq + 1})
		}
	}
	var order []string
	for e := f.Take(); e != nil; e = f.Take() {
		order = append(order, fmt.Sprint(e.(model.Entry).Room, e.(model.Entry).Seq))
	}
	if !slices.Equal(order, []string{"a1", "b1", "a2", "b2", "a3", "b3"}) {
		t.Error(order)
	}
}

// TestLeaveReasonIsReset has a user come back before the old stay has ended. When the user leaves later, the old reason
// must not be reported.
func TestLeaveReasonIsReset(t *testing.T) {
	f := New(10, 0)
	f.Enter(model.Room{ID: "r"}, false)
	f.WillLeave("r", "kicked")
	f.Enter(model.Room{ID: "r"}, false)
	f.Leave("r")
	if e := f.Take(); e != (model.Left{Room: "r"}) {
		t.Errorf("%+v", e)
	}
}

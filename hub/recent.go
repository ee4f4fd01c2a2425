package hub

import (
	"slices"
	"sync/atomic"
	"time"
)

// What a topic keeps of its recent messages, for those who come back. It begins when the first one asks, is read from
// the store then, as much as may be kept, and goes on with what is delivered, until nobody has asked for a while.
const (
	keptMessages = 640 // more than anybody is given at once, for what comes meanwhile
	keptBytes    = 384 << 10
	keptFor      = 2 * time.Minute
	// keptByHub bounds what all topics keep: what goes beyond it is not kept, and so not to be had.
	keptByHub = 64 << 20
)

// recent is guarded by its topic's mu. The kept messages have no holes, and end at topic.last.
type recent struct {
	first int64 // the seq of the first one kept
	kept  [][]byte
	bytes int
	all   *atomic.Int64 // bytes that all topics keep
	fill  *fill         // a read of what lies before first; nil: none under way
	done  bool          // what lies before first is not to be had from here
	until int64         // tick at which it is dropped
}

// fill is one read of what lies before the first message kept.
type fill struct {
	topic *topic
	span  Span
	ready chan struct{} // closed when it is over

	failed  bool                  // valid then
	changes []func([]byte) []byte // guarded by topic.mu: what messages since then have made of earlier ones
}

// remember keeps a message that is being delivered.
func (t *topic) remember(m Message) {
	r := t.recent
	if r == nil {
		return
	}
	if t.hub.o.Revise != nil {
		if change := t.hub.o.Revise(m); change != nil {
			r.change(change)
		}
	}
	r.kept = append(r.kept, m.Data)
	r.grow(len(m.Data))
	for len(r.kept) > keptMessages || r.bytes > keptBytes || len(r.kept) > 0 && r.all.Load() > keptByHub {
		r.grow(-len(r.kept[0]))
		r.kept[0] = nil
		r.kept = r.kept[1:]
		r.first++
		r.done = true
	}
}

func (r *recent) grow(bytes int) {
	r.bytes += bytes
	r.all.Add(int64(bytes))
}

// change makes of earlier messages what a later one says. Who was given them before keeps what he has.
func (r *recent) change(change func([]byte) []byte) {
	for i, data := range r.kept {
		changed := change(data)
		r.grow(len(changed) - len(data))
		r.kept[i] = changed
	}
	if r.fill != nil {
		r.fill.changes = append(r.fill.changes, change)
	}
}

// hurdle is what has to be over before a span can be had.
type hurdle struct {
	over  <-chan struct{}
	fill  *fill // nil: it is a gap
	begin bool  // the fill is new: somebody has to read it
}

// recall gives the span, or what is in the way; with neither, it is not to be had.
func (t *topic) recall(s Span) ([]Message, *hurdle) {
	if t.last == unsequenced {
		return nil, nil
	}
	if s.Through > t.last { // something is missing here, and will be read
		if t.moved == nil {
			t.moved = make(chan struct{})
		}
		return nil, &hurdle{over: t.moved}
	}
	until := t.hub.wheels.after(keptFor)
	if t.recent == nil {
		t.recent = &recent{first: t.last + 1, all: &t.hub.kept, until: until}
		t.wakeBy(until)
	}
	r := t.recent
	switch {
	case s.After+1 >= r.first:
		r.until = until // only for those to whom it is of use: what is too little is let go, and may be more the next time
		messages := make([]Message, 0, s.Through-s.After)
		for i, data := range r.kept[s.After+1-r.first : s.Through+1-r.first] {
			messages = append(messages, Message{Seq: s.After + 1 + int64(i), Data: data})
		}
		return messages, nil
	case r.done, t.last-s.After > keptMessages:
		return nil, nil
	case r.fill != nil:
		return nil, &hurdle{over: r.fill.ready, fill: r.fill}
	}
	r.fill = &fill{topic: t, ready: make(chan struct{}), span: Span{Topic: t.name, After: s.After, Through: r.first - 1}}
	return nil, &hurdle{over: r.fill.ready, fill: r.fill, begin: true}
}

// widen has the fill read so many messages, if that is more than was asked for: so others need not read again.
func (f *fill) widen(messages int64) {
	f.span.After = max(0, min(f.span.After, f.span.Through-messages))
}

// filled takes what the store has, or that it could not be asked.
func (f *fill) filled(messages []Message, failed bool) {
	t := f.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	f.failed = failed
	close(f.ready)
	r := t.recent
	if r == nil || r.fill != f {
		return
	}
	r.fill = nil
	if !failed {
		r.prepend(f, messages)
		// What was read and is not kept now did not fit, or is not there.
		r.done = r.done || r.first > f.span.After+1 || r.first == 1
	}
}

// prepend keeps as many of the messages as fit and have no hole between them and those that are kept.
func (r *recent) prepend(f *fill, messages []Message) {
	var older [][]byte
	for i := len(messages) - 1; i >= 0 && messages[i].Seq == r.first-1; i-- {
		data := messages[i].Data
		for _, change := range f.changes {
			data = change(data)
		}
		if len(older)+len(r.kept) == keptMessages || r.bytes+len(data) > keptBytes || r.all.Load()+int64(len(data)) > keptByHub {
			break
		}
		older = append(older, data)
		r.grow(len(data))
		r.first--
	}
	all := make([][]byte, 0, len(older)+len(r.kept))
	for _, data := range slices.Backward(older) {
		all = append(all, data)
	}
	r.kept = append(all, r.kept...)
}

// forgetRecent drops what is kept when nobody has asked for it for long enough.
func (t *topic) forgetRecent(now int64) {
	switch r := t.recent; {
	case r == nil:
	case now >= r.until && r.fill == nil:
		t.dropRecent()
	default:
		t.wakeBy(max(r.until, now+1))
	}
}

func (t *topic) dropRecent() {
	if r := t.recent; r != nil {
		r.grow(-r.bytes)
		t.recent = nil
	}
}

// step moves the topic to the next message.
func (t *topic) step() {
	t.last++
	t.tellMoved()
}

// tellMoved lets those look again who wait for the topic to move.
func (t *topic) tellMoved() {
	if t.moved != nil {
		close(t.moved)
		t.moved = nil
	}
}

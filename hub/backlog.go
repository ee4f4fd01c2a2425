package hub

import (
	"slices"
	"sync/atomic"
	"time"

	"hongbao/hub/internal/wheel"
)

const (
	maxBacklog      = 640 // messages; more than one reconnecting client gets, because more arrive meanwhile
	maxBacklogBytes = 384 << 10
	backlogFor      = 2 * time.Minute // how long a backlog is kept after the last client that could use it
	// maxBacklogs bounds the bytes of all backlogs of the hub together. A message over this bound is not added to a
	// backlog.
	maxBacklogs = 64 << 20
)

// backlog holds the most recent messages of a topic, for clients that reconnect. The first client that reconnects
// creates it. Older messages are then read from the store, and each delivered message is appended. It is dropped when
// no client has used it for backlogFor. Its messages have no gaps and end at topic.last. The topic's lock guards it.
type backlog struct {
	first    int64 // seq of the first message kept
	messages []Message
	bytes    int
	total    *atomic.Int64 // bytes of all backlogs of the hub
	fill     *fill         // the read of older messages that is in progress; nil: none
	complete bool          // messages before first cannot be added: too many, too large or not in the store
	until    wheel.Tick    // the tick at which the backlog is dropped
}

// fill is one read from the store of the messages that directly precede the backlog's first message.
type fill struct {
	span  Span
	ready chan struct{} // closed when the read has ended, with success or failure

	failed  bool                    // valid after ready is closed
	changes []func(Message) Message // revisions delivered since the read began, to be applied to its result; guarded by the topic's lock
}

// append adds a message that is being delivered. It drops the oldest messages when the backlog exceeds its bounds.
func (b *backlog) append(m Message) {
	b.messages = append(b.messages, m)
	b.grow(sizeOf(m))
	for len(b.messages) > maxBacklog || b.bytes > maxBacklogBytes || len(b.messages) > 0 && b.total.Load() > maxBacklogs {
		b.grow(-sizeOf(b.messages[0]))
		b.messages[0] = Message{}
		b.messages = b.messages[1:]
		b.first++
		b.complete = true
	}
}

// sizeOf returns about the memory that a message takes: its bytes, the Message itself and its Meta.
func sizeOf(m Message) int { return len(m.Data) + 128 }

func (b *backlog) grow(bytes int) {
	b.bytes += bytes
	b.total.Add(int64(bytes))
}

// revise applies a change, which a new message makes, to all earlier messages of the backlog and of the read in
// progress. Copies returned by slice before stay unchanged.
func (b *backlog) revise(change func(Message) Message) {
	for i, m := range b.messages {
		changed := change(m)
		b.grow(len(changed.Data) - len(m.Data))
		b.messages[i] = changed
	}
	if b.fill != nil {
		b.fill.changes = append(b.fill.changes, change)
	}
}

// slice returns a copy of the messages of the span. The whole span must be in the backlog.
func (b *backlog) slice(s Span) []Message {
	from, to := s.After+1-b.first, s.Through+1-b.first
	return append(make([]Message, 0, to-from), b.messages[from:to]...)
}

// widen makes the fill read at least the given number of messages, so that other clients need no read of their own.
func (f *fill) widen(messages int64) {
	f.span.After = max(0, min(f.span.After, f.span.Through-messages))
}

// filled ends a fill: it adds the messages that were read from the store. If the read failed, it adds nothing.
func (b *backlog) filled(f *fill, messages []Message, failed bool) {
	b.fill = nil
	if failed {
		return
	}
	b.prepend(f, messages)
	// If messages of the fill's span were not added, they did not fit or are not in the store. Reading again would not
	// help.
	b.complete = b.complete || b.first > f.span.After+1 || b.first == 1
}

// prepend puts messages from the store before the backlog's first message, newest first. It stops at a missing message
// or when the backlog is full.
func (b *backlog) prepend(f *fill, messages []Message) {
	var older []Message
	for i := len(messages) - 1; i >= 0 && messages[i].Seq == b.first-1; i-- {
		m := messages[i]
		for _, change := range f.changes {
			m = change(m)
		}
		size := sizeOf(m)
		if len(older)+len(b.messages) == maxBacklog || b.bytes+size > maxBacklogBytes || b.total.Load()+int64(size) > maxBacklogs {
			break
		}
		older = append(older, m)
		b.grow(size)
		b.first--
	}
	slices.Reverse(older)
	b.messages = append(older, b.messages...)
}

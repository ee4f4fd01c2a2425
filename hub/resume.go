package hub

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"hongbao/hub/internal/wheel"
)

const (
	// resumeWait is the longest time that a reconnecting client waits for the messages that it has missed.
	resumeWait = 3 * time.Second
	// fillMessages is how many messages one read from the store asks for, unless a client needs more. Each topic of the read
	// gets an equal part, but at most maxBacklog messages.
	fillMessages = 5000
)

// resumer returns to reconnecting clients the messages that they have missed.
type resumer struct {
	// static
	topics *registry
	fetch  fetcher
	counts *counters
	log    *slog.Logger
}

// obstacle is an event that must happen before the messages of a span are available.
type obstacle struct {
	topic *topic
	gone  <-chan struct{} // closed when the caller should try again
	fill  *fill           // the read that the caller waits for; nil: it waits for messages that the topic misses
	begin bool            // the fill is new: the caller must start its read
}

// missed does the work of Hub.Recent.
func (r *resumer) missed(ctx context.Context, spans []Span) map[string][]Message {
	ctx, cancel := context.WithTimeout(ctx, resumeWait)
	defer cancel()
	found := make(map[string][]Message, len(spans))
	for len(spans) > 0 {
		var waiting []Span
		var obstacles []*obstacle
		for _, s := range spans {
			t := r.topics.lock(s.Topic)
			if t == nil {
				continue
			}
			messages, o := t.recall(s)
			t.mu.Unlock()
			switch {
			case o != nil:
				waiting, obstacles = append(waiting, s), append(obstacles, o)
			case messages != nil:
				found[s.Topic] = messages
			}
		}
		r.begin(obstacles)
		spans = nil
		for i, o := range obstacles {
			if o.await(ctx) {
				spans = append(spans, waiting[i])
			}
		}
	}
	return found
}

// await waits for the end of the obstacle. It reports whether the caller should try again.
func (o *obstacle) await(ctx context.Context) bool {
	select {
	case <-o.gone:
		return o.fill == nil || !o.fill.failed
	case <-ctx.Done():
		return false
	}
}

// recall returns the messages of a span, or the obstacle that the caller must wait for. If it returns neither, the
// messages are not available.
func (t *topic) recall(s Span) ([]Message, *obstacle) {
	if t.last == unsequenced {
		return nil, nil
	}
	if s.Through > t.last { // messages of the span have not arrived here, and will be fetched
		if t.advanced == nil {
			t.advanced = make(chan struct{})
		}
		return nil, &obstacle{topic: t, gone: t.advanced}
	}
	until := t.env.wheels.After(backlogFor)
	b := t.openBacklog(until)
	switch {
	case s.After+1 >= b.first:
		b.until = until // set only on success: a backlog that is too short is thus dropped in time, and the next one may begin earlier
		return b.slice(s), nil
	case b.complete, t.last-s.After > maxBacklog:
		return nil, nil
	case b.fill != nil:
		return nil, &obstacle{topic: t, gone: b.fill.ready, fill: b.fill}
	}
	b.fill = &fill{ready: make(chan struct{}), span: Span{Topic: t.name, After: s.After, Through: b.first - 1}}
	return nil, &obstacle{topic: t, gone: b.fill.ready, fill: b.fill, begin: true}
}

// openBacklog returns the topic's backlog. If there is none, it creates one that is kept until the given tick.
func (t *topic) openBacklog(until wheel.Tick) *backlog {
	if t.backlog == nil {
		t.backlog = &backlog{first: t.last + 1, total: &t.env.backlogs, until: until}
		t.wakeBy(until)
	}
	return t.backlog
}

// begin starts the new fills of one caller. They are read from the store together.
func (r *resumer) begin(obstacles []*obstacle) {
	var fills []*obstacle
	for _, o := range obstacles {
		if o.begin {
			fills = append(fills, o)
		}
	}
	if len(fills) == 0 {
		return
	}
	for _, o := range fills {
		o.fill.widen(min(maxBacklog, fillMessages/int64(len(fills))))
	}
	go r.read(fills)
}

// read reads the messages of fills from the store. It continues when its caller gives up, because other clients may
// wait for the same messages.
func (r *resumer) read(fills []*obstacle) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	spans := make([]Span, len(fills))
	for i, o := range fills {
		spans[i] = o.fill.span
	}
	r.counts.resumes.Add(uint64(len(spans)))
	messages, err := r.fetch(ctx, spans)
	if err != nil {
		r.log.Warn("missed messages not read", "topics", len(spans), "err", err)
	}
	for _, o := range fills {
		o.topic.filled(o.fill, messages[o.fill.span.Topic], err != nil)
	}
}

// filled ends a fill: it stores the messages read in the backlog, or nothing if the read failed, and wakes the clients
// that wait.
func (t *topic) filled(f *fill, messages []Message, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.failed = failed
	close(f.ready)
	if t.backlog != nil && t.backlog.fill == f {
		t.backlog.filled(f, messages, failed)
	}
}

const (
	maxBacklog      = 640 // messages; a client gets at most 500, and further ones arrive while it reconnects
	maxBacklogBytes = 384 << 10
	backlogFor      = 2 * time.Minute // how long a backlog is kept after the last client that could use it
	// maxBacklogs bounds the bytes of all backlogs of the hub together. Above it, a backlog that gets a new message drops its
	// oldest ones, and older messages from the store are not added.
	maxBacklogs = 64 << 20
)

// backlog holds the most recent messages of a topic, for clients that reconnect. The first client that reconnects
// creates it. Older messages are then read from the store, and each delivered message with a seq is appended. The backlog is
// dropped when no client has used it for backlogFor. Its messages have no gaps and end at topic.last. The topic's lock guards it.
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
	changes []func(Message) Message // revisions since the read began, to be applied to its result; guarded by the topic's lock
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

// sizeOf returns the approximate memory that a message takes: its bytes, the Message itself and its Meta.
func sizeOf(m Message) int { return len(m.Data) + 128 }

func (b *backlog) grow(bytes int) {
	b.bytes += bytes
	b.total.Add(int64(bytes))
}

// revise applies a change, which a new message makes, to all earlier messages of the backlog and of the read in
// progress. Copies that slice has returned earlier stay unchanged.
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

// filled ends a fill: it adds the messages that were read from the store, as far as they fit. If the read failed, it adds nothing.
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

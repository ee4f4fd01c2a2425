package hub

import (
	"context"
	"log/slog"
	"time"

	"hongbao/hub/internal/wheel"
)

const (
	// resumeWait is the longest time that a reconnecting client waits for the messages that it has missed.
	resumeWait = 3 * time.Second
	// fillMessages is how many messages one read from the store asks for, unless a client needs more. For a single
	// topic that is at most maxBacklog messages. For several topics, each gets an equal part.
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

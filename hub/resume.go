package hub

import (
	"context"
	"time"
)

// Span is the messages of a topic in (After, Through].
type Span struct {
	Topic          string
	After, Through int64
}

const (
	// recentWait is how long those who come back wait at most for what they have missed.
	recentWait = 3 * time.Second
	// fillMessages is how many messages are read at a time, if not more are asked for: of one topic as many as may be kept, of
	// many topics some of each.
	fillMessages = 5000
)

// Recent gives spans of topics that the caller's connection listens to, each up to a position that Subscribe has returned.
// Left out are those that are longer than what is kept, that the store does not have whole, or that are not to be had
// in time. However many ask, a topic is read from the store once, unless somebody has missed more of it than was read then; and
// all that one caller has to have read are read together.
func (h *Hub) Recent(ctx context.Context, spans []Span) map[string][]Message {
	ctx, cancel := context.WithTimeout(ctx, recentWait)
	defer cancel()
	found := make(map[string][]Message, len(spans))
	for len(spans) > 0 {
		var waiting []Span
		var hurdles []*hurdle
		for _, s := range spans {
			t := h.reach(s.Topic)
			if t == nil {
				continue
			}
			messages, in := t.recall(s)
			t.mu.Unlock()
			switch {
			case in != nil:
				waiting, hurdles = append(waiting, s), append(hurdles, in)
			case messages != nil:
				found[s.Topic] = messages
			}
		}
		h.beginFills(hurdles)
		spans = nil
		for i, in := range hurdles {
			if in.overcome(ctx) {
				spans = append(spans, waiting[i])
			}
		}
	}
	return found
}

// overcome tells whether it is worth asking again.
func (in *hurdle) overcome(ctx context.Context) bool {
	select {
	case <-in.over:
		return in.fill == nil || !in.fill.failed
	case <-ctx.Done():
		return false
	}
}

// beginFills has those read that are new.
func (h *Hub) beginFills(hurdles []*hurdle) {
	var fills []*fill
	for _, in := range hurdles {
		if in.begin {
			fills = append(fills, in.fill)
		}
	}
	if len(fills) == 0 {
		return
	}
	for _, f := range fills {
		f.widen(min(keptMessages, fillMessages/int64(len(fills))))
	}
	go h.readFills(fills)
}

// readFills reads them all from the store. It is nobody's call: who asked first may go, and others wait for it too.
func (h *Hub) readFills(fills []*fill) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	spans := make([]Span, len(fills))
	for i, f := range fills {
		spans[i] = f.span
	}
	h.counts.resumes.Add(uint64(len(spans)))
	messages, err := h.o.Fetch(ctx, spans)
	if err != nil {
		h.o.Log.Warn("recent messages not read", "topics", len(spans), "err", err)
	}
	for _, f := range fills {
		f.filled(messages[f.span.Topic], err != nil)
	}
}

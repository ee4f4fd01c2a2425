package hub

import "context"

// Span is the messages of a topic in (After, Through].
type Span struct {
	Topic          string
	After, Through int64
}

// Recent gives spans of topics that the caller's connection listens to, each up to a position that Subscribe has returned.
// Those that are longer than what is kept, or that the store does not have whole, are left out. However many ask, each
// topic is read from the store once, and all that one caller has to have read are read together.
func (h *Hub) Recent(ctx context.Context, spans []Span) (map[string][]Message, error) {
	found := make(map[string][]Message, len(spans))
	for len(spans) > 0 {
		var again []Span
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
				again, hurdles = append(again, s), append(hurdles, in)
			case messages != nil:
				found[s.Topic] = messages
			}
		}
		h.beginFills(hurdles)
		for _, in := range hurdles {
			if err := in.await(ctx); err != nil {
				return nil, err
			}
		}
		spans = again
	}
	return found, nil
}

func (in *hurdle) await(ctx context.Context) error {
	select {
	case <-in.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	if in.fill != nil {
		return in.fill.err
	}
	return nil
}

// beginFills has those read that are new.
func (h *Hub) beginFills(hurdles []*hurdle) {
	var fills []*fill
	for _, in := range hurdles {
		if in.begin {
			fills = append(fills, in.fill)
		}
	}
	if len(fills) > 0 {
		go h.readFills(fills)
	}
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
	for _, f := range fills {
		f.filled(messages[f.span.Topic], err)
	}
}

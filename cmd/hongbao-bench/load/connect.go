package load

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// welcome is what matters of a connect reply.
type welcome struct {
	Subs map[string]struct {
		Recovered    bool              `json:"recovered"`
		Epoch        string            `json:"epoch"`
		Offset       int64             `json:"offset"`
		Publications []json.RawMessage `json:"publications"`
	} `json:"subs"`
}

// connectPatience is how long a user waits for the answer that he is in.
const connectPatience = 15 * time.Second

// greet says who the user is and what he has heard so far.
func (u *user) greet(s *socket) error {
	subs := map[string]any{}
	for _, j := range u.journals {
		if u.epoch != "" {
			subs[j.room.channel] = map[string]any{"recover": true, "epoch": u.epoch, "offset": j.last.Load()}
		}
	}
	frame, err := json.Marshal(map[string]any{"id": 1, "connect": map[string]any{"token": u.token, "name": "load", "subs": subs}})
	if err != nil {
		return err
	}
	return s.send(func(b []byte) []byte { return append(b, frame...) })
}

// welcomed takes the answer, which comes before anything else.
func (u *user) welcomed(ctx context.Context) error {
	l := &u.line
	if l.kind == refused {
		told := l.refusal
		told.word = slices.Clone(told.word)
		return &told
	}
	if l.kind != reply || l.id != 1 {
		return fmt.Errorf("before the connect reply comes something else: %+v", *l)
	}
	var w welcome
	if err := json.Unmarshal(l.data, &w); err != nil {
		return err
	}
	u.mu.Lock()
	u.next = 1
	u.mu.Unlock()
	return u.catchUp(ctx, w)
}

// catchUp takes what was missed: with the reply, or from the history when that was too much for it.
func (u *user) catchUp(ctx context.Context, w welcome) error {
	for _, j := range u.journals {
		sub, in := w.Subs[j.room.channel]
		switch {
		case !in:
			u.crew.checks.fault(checkComplete, "%s is not in %s any more", u.id, j.room.id)
			continue
		case u.epoch == "":
			j.start(sub.Offset)
		case sub.Recovered:
			for _, p := range sub.Publications {
				var e entry
				c := newCursor(p)
				if e.read(&c); !c.ok {
					return fmt.Errorf("no publication: %s", p)
				}
				j.hear(&e, u.crew.checks)
			}
		default:
			u.crew.board.failed("not_recovered")
			if err := u.readHistory(ctx, j, sub.Offset); err != nil {
				return err
			}
		}
	}
	for _, sub := range w.Subs {
		u.epoch = sub.Epoch
	}
	return nil
}

// readHistory fills the journal up to a place.
func (u *user) readHistory(ctx context.Context, j *journal, upTo int64) error {
	for j.last.Load() < upTo {
		page, err := u.crew.target.history(ctx, u, j.room.id, j.last.Load())
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("the history of %s ends after %d, its last is %d", j.room.id, j.last.Load(), upTo)
		}
		for i := range page {
			j.hear(&page[i], u.crew.checks)
		}
	}
	return nil
}

package load

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// connectReply holds the parts of a connect reply that this program needs.
type connectReply struct {
	Subs map[string]struct {
		Recovered    bool              `json:"recovered"`
		Epoch        string            `json:"epoch"`
		Offset       int64             `json:"offset"`
		Publications []json.RawMessage `json:"publications"`
	} `json:"subs"`
}

// connectTimeout is how long a user waits for the connect reply.
const connectTimeout = 15 * time.Second

// sendConnect sends the connect command. After the first connect, it names the user's positions in all rooms.
func (u *user) sendConnect(s *socket) error {
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

// readConnectReply reads the first message of a connection, which must be the connect reply.
func (u *user) readConnectReply(ctx context.Context) error {
	l := &u.message
	if l.kind == refused {
		failure := l.refusal
		failure.word = slices.Clone(failure.word)
		return &failure
	}
	if l.kind != reply || l.id != 1 {
		return fmt.Errorf("the first message is not the connect reply: %+v", *l)
	}
	var w connectReply
	if err := json.Unmarshal(l.data, &w); err != nil {
		return err
	}
	u.mu.Lock()
	u.next = 1
	u.mu.Unlock()
	return u.catchUp(ctx, w)
}

// catchUp reads the entries that the user has missed: from the connect reply or, for rooms that the server could not recover,
// from the history.
func (u *user) catchUp(ctx context.Context, w connectReply) error {
	for _, j := range u.journals {
		sub, in := w.Subs[j.room.channel]
		switch {
		case !in:
			u.group.checks.fault(checkComplete, "%s is no longer in %s", u.id, j.room.id)
			continue
		case u.epoch == "":
			j.start(sub.Offset)
		case sub.Recovered:
			for _, p := range sub.Publications {
				var e entry
				c := newCursor(p)
				if e.read(&c); !c.ok {
					return fmt.Errorf("not a publication: %s", p)
				}
				j.receive(&e, u.group.checks)
			}
		default:
			u.group.runStats.failed("not_recovered")
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

// readHistory reads a room's history into the journal, up to a seq.
func (u *user) readHistory(ctx context.Context, j *journal, upTo int64) error {
	for j.last.Load() < upTo {
		page, err := u.group.target.history(ctx, u, j.room.id, j.last.Load())
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("the history of %s ends at %d, the last seq is %d", j.room.id, j.last.Load(), upTo)
		}
		for i := range page {
			j.receive(&page[i], u.group.checks)
		}
	}
	return nil
}

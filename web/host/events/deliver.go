package events

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/store/eventlog"
)

const (
	workers   = 8 // concurrent deliveries, each for another key (a room or a user)
	batchSize = 100
	idleEvery = 300 * time.Millisecond // pause when there is no event

	firstPause = time.Second // after a failed round: the store has failed, or the webhook accepted nothing; doubled after each further one
	mostPause  = 5 * time.Minute
	// suspectAfter is a pause before a round. From this pause on, not the host but the event is taken to be at fault. That holds
	// only if all events of the batch are of one room or user.
	suspectAfter = 32 * time.Second

	firstBackoff = 10 * time.Second // of an event that was refused once; doubled after each further try, up to mostBackoff
	mostBackoff  = 4 * time.Hour
	parkAfter    = 72 * time.Hour  // an event is parked when a try fails this long after the event was first held
	maxHeld      = 10_000          // about how many events are held and not parked; further ones are parked at once
	drainTime    = 5 * time.Second // how long the held events of a key may be delivered before the next events of others
	maxWhy       = 300             // bytes of an error's text that are stored with a held event
)

// delivery delivers the events to the webhook.
type delivery struct{ *Service }

// round delivers some of the held events that are due, and then the next batch of events. It returns the pause before the next
// round. before is the pause that the last round returned.
func (s delivery) round(ctx context.Context, before time.Duration) (pause time.Duration) {
	caughtUp := s.retryHeld(ctx)
	c, err := s.o.Store.Consumer(ctx, WebhookConsumer)
	if err != nil {
		return s.troubled(ctx, WebhookConsumer, "read position", before, err)
	}
	after, err := s.stored(ctx, c)
	if err != nil {
		return s.troubled(ctx, WebhookConsumer, "read position", before, err)
	}
	b, err := s.o.Store.Events(ctx, eventlog.Query{After: after, Kinds: s.o.Kinds, Limit: batchSize})
	if eventlog.Refused(err) {
		s.o.Log.Error("events were deleted before the webhook got them; it goes on with the oldest that are kept", "err", err)
		b.Next, err = s.o.Store.OldestEvent(ctx)
		b.More = true
	}
	if err != nil {
		return s.troubled(ctx, WebhookConsumer, "read events", before, err)
	}
	for _, fault := range b.Faults {
		s.o.Log.Error("event left out", "err", fault)
	}
	if b.Waits != nil {
		s.o.Log.Info("event not visible yet", "consumer", WebhookConsumer, "err", b.Waits)
	}
	held, err := s.deliverBatch(ctx, b, before)
	if err != nil {
		return s.troubled(ctx, WebhookConsumer, "deliver", before, err)
	}
	if next := b.Next.String(); next != c.After {
		moved := eventlog.Consumer{Name: WebhookConsumer, After: next, UpdatedAt: s.o.Now()}
		if err := s.o.Store.Advance(ctx, moved, c.After, s.o.Instance, held); err != nil {
			return s.troubled(ctx, WebhookConsumer, "store position", before, err)
		}
	}
	if b.More || caughtUp { // after caughtUp, more of the held events may be due
		return 0
	}
	return idleEvery
}

// troubled logs a failure and returns the pause after it: twice the pause before, from firstPause to mostPause. If ctx has
// ended, it returns 0.
func (s *Service) troubled(ctx context.Context, consumer, doing string, before time.Duration, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	pause := firstPause
	if before >= firstPause {
		pause = min(2*before, mostPause)
	}
	s.o.Log.Warn("consumer of events waits", "consumer", consumer, "failed", doing, "pause", pause, "err", err)
	return pause
}

// outcome is the result of delivering the events of one key.
type outcome struct {
	events    []eventlog.Event
	delivered int   // how many of them were accepted
	err       error // the error of the first event that was not accepted
}

// deliverBatch delivers the events, in parallel for different keys. It returns the events that must be held. If the host accepts
// none of the events that it was sent, it returns an error, and the batch is delivered again later. There is no such error if
// the host has only refused events (see refuses) and all of them may still be held.
func (s delivery) deliverBatch(ctx context.Context, b eventlog.Batch, before time.Duration) (held []eventlog.Hold, err error) {
	if len(b.Events) == 0 {
		return nil, nil
	}
	keys, n, err := s.o.Store.HeldKeys(ctx, WebhookConsumer)
	if err != nil {
		return nil, err
	}
	waiting := map[string]bool{}
	for _, key := range keys {
		waiting[key] = true
	}
	order, groups := []string{}, map[string]*outcome{}
	for _, e := range b.Events {
		key := e.Key()
		if groups[key] == nil {
			order, groups[key] = append(order, key), &outcome{}
		}
		groups[key].events = append(groups[key].events, e)
	}
	s.sendGroups(ctx, order, groups, waiting)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	accepted, tried, failed, refused := 0, 0, error(nil), true
	for _, key := range order {
		o := groups[key]
		accepted += o.delivered
		if !waiting[key] {
			tried++
		}
		if o.err != nil {
			failed, refused = o.err, refused && s.refuses(o.err, tried == 1 && len(order) == 1 && before >= suspectAfter)
		}
	}
	if failed != nil && accepted == 0 && (!refused || n+len(b.Events) > maxHeld) {
		return nil, failed
	}
	now := s.o.Now()
	for _, key := range order {
		o := groups[key]
		for i, e := range o.events[o.delivered:] {
			h := eventlog.Hold{Key: key, At: e.Position, FirstAt: now, NextAt: now}
			if i == 0 && o.err != nil {
				h.Tries, h.Why, h.NextAt = 1, cut(o.err.Error()), now.Add(backoff(1))
				s.o.Log.Warn("webhook refuses an event", "key", key, "event", e.ID, "err", o.err)
			} else if n+len(held) >= maxHeld {
				h.Parked, h.Why = true, "too many events are held"
			}
			held = append(held, h)
		}
	}
	return held, nil
}

// refuses reports whether the failure concerns the event alone. If only one key has events, it is unknown whether the host or
// the event is at fault. So after a while (suspect) an answer such as 500 counts as a refusal. Then later events of other keys
// are delivered.
func (s delivery) refuses(err error, suspect bool) bool {
	var sent *sendError
	return errors.As(err, &sent) && (sent.refused || suspect && sent.answered)
}

// sendGroups delivers the events of each key in order, until one fails. It skips the keys in waiting, which have held events.
func (s delivery) sendGroups(ctx context.Context, order []string, groups map[string]*outcome, waiting map[string]bool) {
	var all sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, key := range order {
		if waiting[key] {
			continue
		}
		o := groups[key]
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			for _, e := range o.events {
				if o.err = s.o.Webhook.send(ctx, e); o.err != nil {
					return
				}
				o.delivered++
			}
		})
	}
	all.Wait()
}

// retryHeld delivers, for as many keys as there are workers, the oldest held event if it is due. If the host accepts it, the later
// held events of the key follow at once, for about drainTime. So a key catches up even if the host is only a little faster than
// new events arrive. retryHeld reports whether any event is held no more.
func (s delivery) retryHeld(ctx context.Context) (accepted bool) {
	due, err := s.o.Store.DueHolds(ctx, WebhookConsumer, s.o.Now(), workers)
	if err != nil {
		s.o.Log.Warn("held events not read", "err", err)
		return false
	}
	until := time.Now().Add(drainTime)
	var all sync.WaitGroup
	var some atomic.Bool
	for _, h := range due {
		all.Go(func() {
			if !s.retryList(ctx, []eventlog.Hold{h}) {
				return
			}
			some.Store(true)
			for time.Now().Before(until) && ctx.Err() == nil {
				next, err := s.o.Store.KeyHolds(ctx, WebhookConsumer, h.Key, batchSize)
				if err != nil || len(next) == 0 || !s.retryList(ctx, next) {
					return
				}
			}
		})
	}
	all.Wait()
	return some.Load()
}

// retryList delivers held events of one key, until one is not accepted. It reports whether none of them is held any more.
func (s delivery) retryList(ctx context.Context, holds []eventlog.Hold) bool {
	at := make([]eventlog.Position, len(holds))
	for i, h := range holds {
		at[i] = h.At
	}
	found, err := s.o.Store.EventsAt(ctx, at)
	if err != nil {
		s.o.Log.Warn("held events not read", "err", err)
		return false
	}
	for _, h := range holds {
		e, ok := found[h.At]
		if !s.retryOne(ctx, h, e, ok) {
			return false
		}
	}
	return true
}

// retryOne delivers a held event, or drops it if the event is not stored any more. It reports whether the event is held no more.
func (s delivery) retryOne(ctx context.Context, h eventlog.Hold, e eventlog.Event, stored bool) (done bool) {
	var err error
	if !stored {
		s.o.Log.Error("held event was deleted because of its age", "key", h.Key, "first", h.FirstAt)
	} else {
		err = s.o.Webhook.send(ctx, e)
	}
	if ctx.Err() != nil {
		return false
	}
	if done = err == nil; done {
		err = s.o.Store.DropHold(ctx, WebhookConsumer, h)
	} else {
		now := s.o.Now()
		h.Tries++
		h.Why, h.NextAt = cut(err.Error()), now.Add(backoff(h.Tries))
		if h.Parked = now.Sub(h.FirstAt) > parkAfter; h.Parked {
			s.o.Log.Error("event parked: the webhook refuses it", "key", h.Key, "event", e.ID, "tries", h.Tries, "err", err)
		}
		err = s.o.Store.PutHold(ctx, WebhookConsumer, h)
	}
	if err != nil {
		s.o.Log.Warn("held event not stored", "key", h.Key, "err", err)
		return false
	}
	return done
}

// backoff returns the time before the next try, with up to a fifth more at random.
func backoff(tries int) time.Duration {
	d := mostBackoff
	if tries < 12 {
		d = min(firstBackoff<<(tries-1), mostBackoff)
	}
	return d + rand.N(d/5) //nolint:gosec // jitter, so that deliveries do not return together
}

// cut returns the beginning of an error's text in a form that Postgres can store. The webhook's host chooses a part of the
// text, so it may contain any bytes.
func cut(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	return strings.ToValidUTF8(text[:min(len(text), maxWhy)], "") // without half a character at the end
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

package storetest

import (
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

func consumersListed(b *eventsBench) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	for _, c := range []eventlog.Consumer{{Name: "search", After: "x", UpdatedAt: now}, {Name: "bot", UpdatedAt: now}, {Name: "search", After: "y", UpdatedAt: now}} {
		b.must(b.u.Consumers.PutConsumer(b.ctx, c))
	}
	list, err := b.u.Consumers.ConsumerList(b.ctx, 9)
	b.must(err)
	if len(list) != 2 || list[0] != (eventlog.Consumer{Name: "bot", UpdatedAt: now}) || list[1] != (eventlog.Consumer{Name: "search", After: "y", UpdatedAt: now}) {
		b.Errorf("listed %+v", list)
	}
	if list, err = b.u.Consumers.ConsumerList(b.ctx, 1); err != nil || len(list) != 1 {
		b.Errorf("one of them: %+v, %v", list, err)
	}
	b.must(b.u.Consumers.DeleteConsumer(b.ctx, "bot"))
	if list, err = b.u.Consumers.ConsumerList(b.ctx, 9); err != nil || len(list) != 1 || list[0].Name != "search" {
		b.Errorf("after one was deleted: %+v, %v", list, err)
	}
	if err := b.u.Consumers.DeleteConsumer(b.ctx, "bot"); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("deleted again: %v", err)
	}
	if _, err := b.u.Consumers.Consumer(b.ctx, "none"); !errors.Is(err, chat.ErrNotFound) {
		b.Errorf("an unknown consumer: %v", err)
	}
}

func oneDelivers(b *eventsBench) {
	consumers, now := b.u.Consumers, time.Now()
	lease := func(owner string, ttl time.Duration) error {
		_, err := consumers.Lease(b.ctx, "webhook", owner, ttl, now)
		return err
	}
	b.must(lease("a", time.Minute))
	if err := lease("b", time.Minute); !eventlog.Lost(err) {
		b.Errorf("a lease while another instance has it: %v", err)
	}
	b.must(lease("a", time.Millisecond)) // renewed, now for a shorter time
	time.Sleep(20 * time.Millisecond)    // sleeps: the lease must end by the clock of the database
	b.must(lease("b", time.Minute))
	moved := eventlog.Consumer{Name: "webhook", After: "one", UpdatedAt: now}
	if err := consumers.Advance(b.ctx, moved, "", "a", nil); !eventlog.Lost(err) {
		b.Errorf("an instance that has lost the lease stores a position: %v", err)
	}
	b.must(consumers.Advance(b.ctx, moved, "", "b", nil))
	b.must(consumers.PutConsumer(b.ctx, eventlog.Consumer{Name: "webhook", After: "by hand", UpdatedAt: now}))
	b.must(consumers.Advance(b.ctx, eventlog.Consumer{Name: "webhook", After: "two", UpdatedAt: now}, "one", "b", nil))
	if c, err := consumers.Consumer(b.ctx, "webhook"); err != nil || c.After != "by hand" {
		b.Errorf("the position is %+v, %v; want the one that an operator has stored meanwhile", c, err)
	}
}

// heldNumbers holds an event, delivers it, and holds another one. An instance that has lost its lease may still store its result under the first number,
// which must not be that of the second event.
func heldNumbers(b *eventsBench) {
	consumers, now := b.u.Consumers, time.UnixMilli(1_700_000_000_000).UTC()
	all, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	seen := map[int64]bool{}
	_, err := consumers.Lease(b.ctx, "webhook", "a", time.Minute, now)
	b.must(err)
	before := ""
	for _, next := range []string{"x", "y", "z"} {
		b.must(consumers.Advance(b.ctx, eventlog.Consumer{Name: "webhook", After: next, UpdatedAt: now}, before, "a", []eventlog.Hold{
			{Key: "room 1", At: all[0].Position, FirstAt: now, NextAt: now}, {Key: "room 1", At: all[1].Position, FirstAt: now, NextAt: now},
		}))
		before = next
		of, err := consumers.KeyHolds(b.ctx, "webhook", "room 1", 9)
		b.must(err)
		if len(of) != 2 || of[0].At != all[0].Position || of[1].At != all[1].Position {
			b.Fatalf("held are %+v, want two in order", of)
		}
		for _, h := range of {
			if seen[h.No] {
				b.Errorf("the number %d comes again", h.No)
			}
			seen[h.No] = true
			b.must(consumers.DropHold(b.ctx, "webhook", h))
		}
	}
}

func heldEvents(b *eventsBench) {
	consumers, now := b.u.Consumers, time.UnixMilli(1_700_000_000_000).UTC()
	_, err := consumers.Lease(b.ctx, "webhook", "a", time.Minute, now)
	b.must(err)
	all, _ := b.readAll(eventlog.Cursor{}, 1000, allKinds())
	hold := func(n int, key string, due time.Duration, parked bool) eventlog.Hold {
		return eventlog.Hold{Key: key, At: all[n].Position, FirstAt: now, NextAt: now.Add(due), Tries: 1, Why: "500", Parked: parked}
	}
	b.must(consumers.Advance(b.ctx, eventlog.Consumer{Name: "webhook", After: "x", UpdatedAt: now}, "", "a", []eventlog.Hold{
		hold(0, "room 1", time.Hour, false), hold(1, "room 1", 0, false), hold(2, "room 2", 0, false), hold(3, "room 3", 0, true),
	}))
	keys, n, err := consumers.HeldKeys(b.ctx, "webhook")
	b.must(err)
	if len(keys) != 2 || n != 3 {
		b.Errorf("keys %q of %d held events, want those of rooms 1 and 2 of 3: one is parked", keys, n)
	}
	of, err := consumers.KeyHolds(b.ctx, "webhook", "room 1", 9)
	b.must(err)
	if len(of) != 2 || of[0].At != all[0].Position || of[1].At != all[1].Position {
		b.Errorf("held of room 1: %+v, want two in order", of)
	}
	if of, err = consumers.KeyHolds(b.ctx, "webhook", "room 3", 9); err != nil || len(of) != 0 {
		b.Errorf("held of room 3: %+v, %v; want none, because it is parked", of, err)
	}
	due := func(at time.Time) []eventlog.Hold {
		found, err := consumers.DueHolds(b.ctx, "webhook", at, 9)
		b.must(err)
		return found
	}
	if found := due(now); len(found) != 1 || found[0].Key != "room 2" || found[0].Why != "500" || found[0].Tries != 1 {
		b.Errorf("due are %+v, want room 2: the first of room 1 is not", found)
	}
	second := due(now)[0]
	second.Parked, second.Tries = true, 2
	b.must(consumers.PutHold(b.ctx, "webhook", second))
	first := due(now.Add(time.Hour))
	if len(first) != 1 || first[0].At != all[0].Position {
		b.Fatalf("an hour later due are %+v, want the first of room 1", first)
	}
	b.must(consumers.DropHold(b.ctx, "webhook", first[0]))
	if found := due(now); len(found) != 1 || found[0].At != all[1].Position {
		b.Errorf("then due are %+v, want the second of room 1", found)
	}
	parked, err := consumers.ParkedHolds(b.ctx, "webhook", 0, 9)
	b.must(err)
	if len(parked) != 2 || parked[0].Key != "room 2" || parked[0].Tries != 2 || parked[1].Key != "room 3" {
		b.Errorf("parked are %+v, want rooms 2 and 3", parked)
	}
	if after, err := consumers.ParkedHolds(b.ctx, "webhook", parked[0].No, 9); err != nil || len(after) != 1 || after[0].Key != "room 3" {
		b.Errorf("after the first: %+v, %v", after, err)
	}
	found, err := consumers.EventsAt(b.ctx, []eventlog.Position{all[2].Position, {Chain: 1 << 40}})
	b.must(err)
	if len(found) != 1 || found[all[2].Position].ID != all[2].ID {
		b.Errorf("by position: %+v, want event %s", found, all[2].ID)
	}
	for range 2 { // the first call marks the end of the stream; the second call may delete the rows before that mark
		_, err = b.u.PruneEvents(b.ctx, now.Add(48*time.Hour), now.Add(47*time.Hour), 0)
		b.must(err)
	}
	if parked, err = consumers.ParkedHolds(b.ctx, "webhook", 0, 9); err != nil || len(parked) != 0 {
		b.Errorf("parked after their events were deleted: %+v, %v; want none", parked, err)
	}
}

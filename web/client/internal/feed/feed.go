// Package feed orders the events that a program has not taken. It must always hold: the entries of a user's stay in a room are
// returned once and in order, or named as skipped. That does not depend on the order in which pushes, losses and pages of history
// arrive.
package feed

import (
	"slices"

	"hongbao/web/client/model"
)

// maxLoose is how many events that belong to no room are queued for a slow reader. Older ones are dropped.
const maxLoose = 1024

// Feed queues the events that the program has not taken. Rooms, and the events that belong to no room, take turns with one event
// each. The entries of each room stay in order.
type Feed struct {
	queue     int   // largest number of pushed entries that a stay queues; one more makes it drop all: see stay.push
	maxMissed int64 // largest number of missed entries that a stay reads from history; 0: no limit

	stays   map[string]*stay // by room: the user's newest stay in it
	turns   []*stay          // the stays in the order of their turns; a nil is the turn of the first loose event
	loose   []model.Event    // events that belong to no room; turns has one nil for each
	missing []*stay          // stays that wait for entries from history, in this order
}

// New returns an empty feed. queue is the largest number of pushed entries that a stay queues. If a stay misses more than
// maxMissed entries, the oldest are skipped. With maxMissed 0, none is skipped because of their number.
func New(queue int, maxMissed int64) Feed {
	return Feed{queue: queue, maxMissed: maxMissed, stays: map[string]*stay{}}
}

// AddLoose adds an event that belongs to no room. If there are more than maxLoose, the oldest is dropped, but not the placeholder
// for a Connected event.
func (f *Feed) AddLoose(e model.Event) {
	if len(f.loose) == maxLoose {
		oldest := 0
		if _, ok := f.loose[0].(unlisted); ok {
			oldest = 1
		}
		f.loose = slices.Delete(f.loose, oldest, oldest+1)
	} else {
		f.turns = append(f.turns, nil)
	}
	f.loose = append(f.loose, e)
}

// unlisted is the placeholder in the queue for a Connected event whose rooms are not known yet. Take returns nothing that is
// behind it.
type unlisted struct{ model.Event }

// HoldConnected queues a placeholder for a Connected event, unless one is queued already.
func (f *Feed) HoldConnected() {
	if f.connectedAt() < 0 {
		f.AddLoose(unlisted{})
	}
}

// AddConnected puts a Connected event in the place of the placeholder. Without a placeholder it queues the event at the end.
func (f *Feed) AddConnected(e model.Connected) {
	if i := f.connectedAt(); i >= 0 {
		f.loose[i] = e
		return
	}
	f.AddLoose(e)
}

// connectedAt returns the index of the placeholder in loose, or -1.
func (f *Feed) connectedAt() int {
	return slices.IndexFunc(f.loose, func(e model.Event) bool { _, ok := e.(unlisted); return ok })
}

// Describe completes a queued event Entered that has only the id of the room.
func (f *Feed) Describe(r model.Room) {
	s := f.stays[r.ID]
	if s == nil {
		return
	}
	for i, e := range s.notices {
		if entered, ok := e.(model.Entered); ok && entered.Room.Kind == "" {
			r.LastSeq = entered.Room.LastSeq
			s.notices[i] = model.Entered{Room: r}
		}
	}
}

// Enter begins a stay that starts after the room's last entry. If announce is true, Entered is queued. Enter begins no stay if the
// user already has one there. A stay that has ended, but still waits for the end of the one before it, continues instead.
func (f *Feed) Enter(r model.Room, announce bool) {
	before := f.stays[r.ID]
	if before != nil && before.left == nil {
		before.reason = "" // the user came back before the old stay ended
		return
	}
	if before != nil && before.state == stayBehind { // no entry of the old stay was returned: it continues
		before.left = nil
		return
	}
	s := &stay{room: r.ID, given: r.LastSeq, known: r.LastSeq}
	if announce {
		s.notices = []model.Event{model.Entered{Room: r}}
	}
	f.stays[r.ID] = s
	if before != nil {
		before.then, s.state = s, stayBehind
		return
	}
	f.enqueue(s)
}

// Reach says that the entries of the room after this position are pushed.
func (f *Feed) Reach(room, epoch string, position int64, recovered bool) {
	if s := f.staying(room); s != nil {
		s.reach(epoch, position, recovered)
		f.enqueue(s)
	}
}

// Push adds a pushed entry to its room's stay.
func (f *Feed) Push(e model.Entry) {
	if s := f.staying(e.Room); s != nil {
		s.push(e, f.queue)
		f.enqueue(s)
	}
}

// WillLeave stores why the user's stay in the room is about to end.
func (f *Feed) WillLeave(room, reason string) {
	if s := f.staying(room); s != nil {
		s.reason = reason
	}
}

// Leave ends a stay. Its queued entries are still returned, before Left.
func (f *Feed) Leave(room string) {
	if s := f.staying(room); s != nil {
		s.left = &model.Left{Room: room, Reason: s.reason}
		f.enqueue(s)
	}
}

// staying returns the stay in a room that the user is in, or nil if there is none.
func (f *Feed) staying(room string) *stay {
	if s := f.stays[room]; s != nil && s.left == nil {
		return s
	}
	return nil
}

func (f *Feed) enqueue(s *stay) {
	if s.state == stayIdle {
		s.state = stayQueued
		f.turns = append(f.turns, s)
	}
}

// Take returns the next event, or nil if there is none at the moment.
func (f *Feed) Take() model.Event {
	for len(f.turns) > 0 {
		s := f.turns[0]
		if s == nil {
			e := f.loose[0]
			if _, wait := e.(unlisted); wait {
				return nil
			}
			f.turns, f.loose = f.turns[1:], f.loose[1:]
			return e
		}
		f.turns = f.turns[1:]
		s.state = stayIdle
		switch e, missing := s.next(f.maxMissed); {
		case missing != nil:
			s.state = stayFetching
			f.missing = append(f.missing, s)
		case e != nil:
			f.goOn(s, e)
			return e
		}
	}
	return nil
}

// goOn queues a stay for its next turn, or removes it if it has ended. given is the event just returned.
func (f *Feed) goOn(s *stay, given model.Event) {
	if _, over := given.(model.Left); !over {
		f.enqueue(s)
		return
	}
	if f.stays[s.room] == s {
		delete(f.stays, s.room)
	}
	if s.then != nil {
		s.then.state = stayIdle
		f.enqueue(s.then)
	}
}

// Missing names entries of a room that must be read from history: those after a seq, up to and including another.
type Missing struct {
	Room           string
	After, Through int64

	stay *stay
	span span
}

// Misses reports whether a stay waits for entries from history.
func (f *Feed) Misses() bool { return len(f.missing) > 0 }

// NextMissing returns the missing entries of the first stay that waits for history. The caller must then call HistoryRead with m.
func (f *Feed) NextMissing() (m Missing, ok bool) {
	if len(f.missing) == 0 {
		return Missing{}, false
	}
	s := f.missing[0]
	f.missing = f.missing[1:]
	missing := s.missing()
	return Missing{Room: s.room, After: missing.after, Through: missing.through, stay: s, span: missing}, true
}

// HistoryRead adds the entries that were read from history. Those that history does not have become Skipped.
func (f *Feed) HistoryRead(m Missing, entries []model.Entry) {
	m.stay.fill(m.span, entries)
	m.stay.state = stayIdle
	f.enqueue(m.stay)
}

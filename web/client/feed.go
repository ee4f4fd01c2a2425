package client

import (
	"slices"

	"hongbao/web/client/model"
)

// maxLoose is how many events that belong to no room are queued for a slow reader. Older ones are dropped.
const maxLoose = 1024

// feed queues the events that the program has not taken. Rooms take turns with one entry each. The entries of each room
// stay in order.
type feed struct {
	queue     int   // largest number of entries that a stay queues
	maxMissed int64 // 0: no limit

	stays   map[string]*stay // by room: the user's newest stay in it
	turns   []*stay          // the stays in the order of their turns; a nil is the turn of the first loose event
	loose   []model.Event    // events that belong to no room; turns has one nil for each
	missing []*stay          // stays that wait for entries from history, in this order
}

func newFeed(queue int, maxMissed int64) feed {
	return feed{queue: queue, maxMissed: maxMissed, stays: map[string]*stay{}}
}

// addLoose adds an event that belongs to no room. If there are more than maxLoose, the oldest is dropped.
func (f *feed) addLoose(e model.Event) {
	if len(f.loose) == maxLoose {
		f.loose = f.loose[1:]
	} else {
		f.turns = append(f.turns, nil)
	}
	f.loose = append(f.loose, e)
}

// unlisted stands in the queue for a Connected event whose rooms are not known yet. Nothing behind it is returned.
type unlisted struct{ model.Event }

// holdConnected queues a place for a Connected event, unless there is one.
func (f *feed) holdConnected() {
	if f.connectedAt() < 0 {
		f.addLoose(unlisted{})
	}
}

// addConnected queues a Connected event, in the place that was held for it.
func (f *feed) addConnected(e model.Connected) {
	if i := f.connectedAt(); i >= 0 {
		f.loose[i] = e
		return
	}
	f.addLoose(e)
}

// connectedAt returns the index in loose of the place that is held for a Connected event, or -1.
func (f *feed) connectedAt() int {
	return slices.IndexFunc(f.loose, func(e model.Event) bool { _, ok := e.(unlisted); return ok })
}

// describe gives the room to the event Entered that is queued and has only its id.
func (f *feed) describe(r model.Room) {
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

// enter begins a stay that starts after the room's last entry. It does nothing if the user already has a stay there. If
// announce is true, Entered is queued.
func (f *feed) enter(r model.Room, announce bool) {
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

// reach says that the entries of the room after this position are pushed.
func (f *feed) reach(room, epoch string, position int64, recovered bool) {
	if s := f.staying(room); s != nil {
		s.reach(epoch, position, recovered)
		f.enqueue(s)
	}
}

// push adds a pushed entry to its room's stay.
func (f *feed) push(e model.Entry) {
	if s := f.staying(e.Room); s != nil {
		s.push(e, f.queue)
		f.enqueue(s)
	}
}

// willLeave stores why the user's stay in the room is about to end.
func (f *feed) willLeave(room, reason string) {
	if s := f.staying(room); s != nil {
		s.reason = reason
	}
}

// leave ends a stay. Its queued entries are still returned, before Left.
func (f *feed) leave(room string) {
	if s := f.staying(room); s != nil {
		s.left = &model.Left{Room: room, Reason: s.reason}
		f.enqueue(s)
	}
}

// staying returns the stay in a room that the user is in, or nil if there is none.
func (f *feed) staying(room string) *stay {
	if s := f.stays[room]; s != nil && s.left == nil {
		return s
	}
	return nil
}

func (f *feed) enqueue(s *stay) {
	if s.state == stayIdle {
		s.state = stayQueued
		f.turns = append(f.turns, s)
	}
}

// take returns the next event, or nil if there is none at the moment.
func (f *feed) take() model.Event {
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
func (f *feed) goOn(s *stay, given model.Event) {
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

// nextMissing returns the first stay that waits for history, and the span that it misses. The caller must then call
// historyRead with both.
func (f *feed) nextMissing() (*stay, span) {
	if len(f.missing) == 0 {
		return nil, span{}
	}
	s := f.missing[0]
	f.missing = f.missing[1:]
	return s, s.missing()
}

// historyRead adds the entries that were read from history for a span. Those that history does not have become Skipped.
func (f *feed) historyRead(s *stay, requested span, entries []model.Entry) {
	s.fill(requested, entries)
	s.state = stayIdle
	f.enqueue(s)
}

package client

// maxLoose is how many events that belong to no room wait for a slow reader: the newest.
const maxLoose = 1024

// feed is what has happened and was not taken yet. Rooms take turns, one entry each; each is in its own order.
type feed struct {
	queue     int   // entries that a stay keeps
	maxMissed int64 // 0: no limit

	stays map[string]*stay // the newest of each room
	turns []*stay          // whose turn it is; nil: that of the first loose event
	loose []Event          // as many as there are nils in turns
	holes []*stay          // those that wait for history, in this order
}

func newFeed(queue int, maxMissed int64) feed {
	return feed{queue: queue, maxMissed: maxMissed, stays: map[string]*stay{}}
}

// tell adds an event that belongs to no room. The oldest makes way.
func (f *feed) tell(e Event) {
	if len(f.loose) == maxLoose {
		f.loose = f.loose[1:]
	} else {
		f.turns = append(f.turns, nil)
	}
	f.loose = append(f.loose, e)
}

// enter begins a stay where the room is now, unless one is in it already. tell: it is an event.
func (f *feed) enter(r Room, tell bool) {
	before := f.stays[r.ID]
	if before != nil && before.left == nil {
		before.reason = "" // he has come back before he was out
		return
	}
	if before != nil && before.place == behind { // nobody has heard of that stay: this one goes on with it
		before.left = nil
		return
	}
	s := &stay{room: r.ID, given: r.LastSeq, known: r.LastSeq}
	if tell {
		s.told = []Event{Entered{Room: r}}
	}
	f.stays[r.ID] = s
	if before != nil {
		before.then, s.place = s, behind
		return
	}
	f.enqueue(s)
}

// reach says from where on a room is live.
func (f *feed) reach(room, epoch string, position int64, recovered bool) {
	if s := f.staying(room); s != nil {
		s.reach(epoch, position, recovered)
		f.enqueue(s)
	}
}

// push adds an entry to its room.
func (f *feed) push(e Entry) {
	if s := f.staying(e.Room); s != nil {
		s.push(e, f.queue)
		f.enqueue(s)
	}
}

// willLeave notes why the stay is about to end.
func (f *feed) willLeave(room, reason string) {
	if s := f.staying(room); s != nil {
		s.reason = reason
	}
}

// leave ends a stay. What is there is given first.
func (f *feed) leave(room string) {
	if s := f.staying(room); s != nil {
		s.left = &Left{Room: room, Reason: s.reason}
		f.enqueue(s)
	}
}

// staying is the stay in a room that one is in.
func (f *feed) staying(room string) *stay {
	if s := f.stays[room]; s != nil && s.left == nil {
		return s
	}
	return nil
}

func (f *feed) enqueue(s *stay) {
	if s.place == idle {
		s.place = queued
		f.turns = append(f.turns, s)
	}
}

// take gives the next event; nil: there is none now.
func (f *feed) take() Event {
	for len(f.turns) > 0 {
		s := f.turns[0]
		f.turns = f.turns[1:]
		if s == nil {
			e := f.loose[0]
			f.loose = f.loose[1:]
			return e
		}
		s.place = idle
		switch e, hole := s.next(f.maxMissed); {
		case hole != nil:
			s.place = reading
			f.holes = append(f.holes, s)
		case e != nil:
			f.goOn(s, e)
			return e
		}
	}
	return nil
}

// goOn gives a stay its next turn, or its end.
func (f *feed) goOn(s *stay, given Event) {
	if _, over := given.(Left); !over {
		f.enqueue(s)
		return
	}
	if f.stays[s.room] == s {
		delete(f.stays, s.room)
	}
	if s.then != nil {
		s.then.place = idle
		f.enqueue(s.then)
	}
}

// nextHole takes the first that waits for history. It must be given to filled.
func (f *feed) nextHole() (*stay, hole) {
	if len(f.holes) == 0 {
		return nil, hole{}
	}
	s := f.holes[0]
	f.holes = f.holes[1:]
	return s, s.missing()
}

// filled says what history had of a hole.
func (f *feed) filled(s *stay, asked hole, entries []Entry) {
	s.fill(asked, entries)
	s.place = idle
	f.enqueue(s)
}

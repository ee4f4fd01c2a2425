package feed

import "hongbao/web/client/model"

// stay is the time from when a user enters a room until the user leaves it.
type stay struct {
	room    string
	epoch   string        // epoch of the room's seqs; "": not known yet
	numbers int           // how often the room was renumbered
	notices []model.Event // events to be returned before any entry
	given   int64         // seq of the last entry returned or skipped, or of the last one before the user entered
	known   int64         // seq of the last entry known to exist
	ready   []model.Entry // entries with a seq after given and up to known, ascending; some may be missing
	reason  string        // why the user is about to leave; "": not known
	left    *model.Left   // set when the user has left
	state   stayState
	then    *stay // the user's next stay in this room, which began before this one was returned completely
}

// stayState says what happens next to a stay.
type stayState uint8

const (
	stayIdle     stayState = iota // nothing to return
	stayQueued                    // waits for its turn
	stayFetching                  // waits for entries from history
	stayBehind                    // waits for the end of the previous stay in the room
)

// span is a range of entries that were not pushed: after one seq, up to and including another.
type span struct {
	after, through int64
	numbers        int // stay.numbers when the span was made: after a renumbering the same seqs may name other entries
}

// next returns the next event, or the span that must be read from history first. If both are nil, there is nothing to
// return at the moment.
func (s *stay) next(maxMissed int64) (model.Event, *span) {
	if len(s.notices) > 0 {
		e := s.notices[0]
		s.notices = s.notices[1:]
		return e, nil
	}
	missing := s.missing()
	switch size := missing.through - missing.after; {
	case size > 0 && maxMissed > 0 && size > maxMissed:
		return s.skip(missing.through - maxMissed), nil
	case size > 0:
		return nil, &missing
	case len(s.ready) > 0:
		e := s.ready[0]
		s.ready, s.given = s.ready[1:], e.Seq
		return e, nil
	case s.left != nil:
		return *s.left, nil
	}
	return nil, nil
}

// missing returns the span of entries that are missing before the first one in ready.
func (s *stay) missing() span {
	if len(s.ready) > 0 {
		return span{s.given, s.ready[0].Seq - 1, s.numbers}
	}
	return span{s.given, s.known, s.numbers}
}

// skip gives up the entries up to a seq and returns the Skipped event for them.
func (s *stay) skip(through int64) model.Event {
	e := model.Skipped{Room: s.room, After: s.given, Through: through}
	s.given = through
	return e
}

// push adds an entry, unless the stay has it already. If limit entries are queued, it drops all of them and the new
// one; they are later read from history.
func (s *stay) push(e model.Entry, limit int) {
	if e.Seq <= s.known {
		return
	}
	s.known = e.Seq
	if len(s.ready) >= limit {
		s.ready = nil
		return
	}
	s.ready = append(s.ready, e)
}

// fill adds entries from history. Entries of the requested span that history does not have are given up.
func (s *stay) fill(requested span, entries []model.Entry) {
	if s.numbers != requested.numbers {
		return // the entries may have the seqs from before a renumbering
	}
	missing := s.missing()
	first, last := 0, len(entries)
	for first < last && entries[first].Seq <= missing.after {
		first++
	}
	for last > first && entries[last-1].Seq > missing.through {
		last--
	}
	entries = entries[first:last]
	switch {
	case len(entries) == 0:
		if through := min(requested.through, missing.through); through > missing.after {
			s.notices = append(s.notices, s.skip(through))
		}
	case entries[0].Seq > missing.after+1:
		s.notices = append(s.notices, s.skip(entries[0].Seq-1))
	}
	s.ready = append(entries, s.ready...)
}

// reach records that the entries after this position are pushed. If recovered is true, the missed entries up to this position are
// pushed, too. If the room was renumbered, reach drops the queued entries and continues after the position.
func (s *stay) reach(epoch string, position int64, recovered bool) {
	switch {
	case s.epoch != "" && s.epoch != epoch, position < s.known:
		s.ready, s.given, s.known = nil, position, position
		s.numbers++
		s.notices = append(s.notices, model.Skipped{Room: s.room, Through: position})
	case !recovered:
		s.known = position
	}
	s.epoch = epoch
}

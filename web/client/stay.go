package client

// stay is somebody's time in a room, from when he came in until he is out.
type stay struct {
	room   string
	epoch  string  // of the room's numbers; "": not told yet
	told   []Event // to be given before any entry
	given  int64   // the last entry given, or where he came in
	known  int64   // the last entry that there is
	ready  []Entry // ascending, after given, at most known; there may be holes before and between
	reason string  // why he is about to be out
	left   *Left   // he is out
	place  place
	then   *stay // that began before this one was given to its end
}

// place is where a stay waits for its turn.
type place uint8

const (
	idle    place = iota // there is nothing to give
	queued               // among those who have something
	reading              // for entries from history
	behind               // for the stay before it to be over
)

// hole is a part of a room that was not pushed: the entries after one, up to another.
type hole struct {
	after, through int64
}

// next takes what comes next; a hole must be filled before there is anything. Both nil: there is nothing now.
func (s *stay) next(maxMissed int64) (Event, *hole) {
	if len(s.told) > 0 {
		e := s.told[0]
		s.told = s.told[1:]
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

// missing is the hole before what is ready.
func (s *stay) missing() hole {
	if len(s.ready) > 0 {
		return hole{s.given, s.ready[0].Seq - 1}
	}
	return hole{s.given, s.known}
}

// skip gives up the entries up to a seq.
func (s *stay) skip(through int64) Event {
	e := Skipped{Room: s.room, After: s.given, Through: through}
	s.given = through
	return e
}

// push adds an entry, unless it is there already. More than limit wait in history.
func (s *stay) push(e Entry, limit int) {
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

// fill puts what history has of a hole before what is ready. What it does not have is given up.
func (s *stay) fill(asked hole, entries []Entry) {
	missing := s.missing()
	if missing.after != asked.after {
		return // the room has been numbered anew
	}
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
		s.told = append(s.told, s.skip(missing.through))
	case entries[0].Seq > missing.after+1:
		s.told = append(s.told, s.skip(entries[0].Seq-1))
	}
	s.ready = append(entries, s.ready...)
}

// reach says that the room is live from a position on; recovered: what is missing up to there follows by itself.
func (s *stay) reach(epoch string, position int64, recovered bool) {
	switch {
	case s.epoch != "" && s.epoch != epoch, position < s.known:
		s.ready, s.given, s.known = nil, position, position
		s.told = append(s.told, Skipped{Room: s.room, Through: position})
	case !recovered:
		s.known = position
	}
	s.epoch = epoch
}

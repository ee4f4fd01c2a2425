package chaos

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// journal holds what a user received of the rooms.
type journal struct {
	announced func(packet) // called for each packet that the user hears of

	mu       sync.Mutex // guards the fields below
	breaks   []string   // the latest connects, disconnects and positions
	rooms    map[string]*roomJournal
	problems []string // what no check of a room can find
}

// roomJournal holds the entries that a user received of one room.
type roomJournal struct {
	epoch   string // "": not known
	after   int64  // seq of the last entry before the first received one
	last    int64  // seq of the last entry received, or given up
	entries []line // in the order in which they came
	gaps    []span // entries that a reconnect did not bring, and that must be read from history
	skipped []span // entries that the client has given up: SQL had lost them, and the room must be numbered anew
	fresh   int    // how often the room's entries were numbered anew since takeFresh
}

// line is an entry as a journal and SQL know it.
type line struct {
	seq int64
	id  string
}

// span is the entries after one seq, up to and including another.
type span struct{ after, through int64 }

func newJournal(announced func(packet)) *journal {
	return &journal{announced: announced, rooms: map[string]*roomJournal{}}
}

// noteBreak notes what may be needed to explain a problem.
func (j *journal) noteBreak(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.breaks = append(j.breaks[max(0, len(j.breaks)-20):], fmt.Sprintf("%.3f s: ", time.Duration(now()).Seconds())+fmt.Sprintf(format, args...))
}

// problem notes a fault that is certain already.
func (j *journal) problem(room, what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.problems = append(j.problems, room+": "+what)
}

// enter begins the journal of a room after its last entry.
func (j *journal) enter(room string, after int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rooms[room] = &roomJournal{after: after, last: after}
}

// subscribed says from which position on entries are pushed. If recovered is true, those that were missed are pushed, too.
func (j *journal) subscribed(room, epoch string, position int64, recovered bool) {
	j.noteBreak("room %s from %d in epoch %s, recovered %t", room, position, epoch, recovered)
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rooms[room]
	switch {
	case r == nil:
		j.rooms[room] = &roomJournal{epoch: epoch, after: position, last: position}
	case r.epoch != "" && r.epoch != epoch, position < r.last:
		j.rooms[room] = renumbered(epoch, position, r.fresh+1)
	case !recovered && position > r.last:
		r.gaps = append(r.gaps, span{r.last, position})
		r.last = position
	}
}

// renumber says that the room's entries have new numbers, and come from the next position on.
func (j *journal) renumber(room string, position int64) {
	j.noteBreak("room %s numbered anew from %d", room, position)
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh := 1
	if r := j.rooms[room]; r != nil {
		fresh += r.fresh
	}
	j.rooms[room] = renumbered("", position, fresh)
}

// skip says that the client has given up entries, because history does not have them.
func (j *journal) skip(room string, entries span) {
	j.noteBreak("room %s: entries after %d through %d were skipped", room, entries.after, entries.through)
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rooms[room]
	if r == nil || entries.through <= entries.after {
		j.problems = append(j.problems, fmt.Sprintf("%s: entries after %d through %d were skipped", room, entries.after, entries.through))
		return
	}
	r.skipped = append(r.skipped, entries)
	r.last = entries.through
}

// renumbered returns the journal of a room with new numbers. All entries must be read from history.
func renumbered(epoch string, position int64, fresh int) *roomJournal {
	return &roomJournal{epoch: epoch, last: position, gaps: []span{{0, position}}, fresh: fresh}
}

// entry adds an entry of a room.
func (j *journal) entry(room string, seq int64, id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rooms[room]
	if r == nil {
		j.problems = append(j.problems, fmt.Sprintf("%s: entry %d came before the room was entered", room, seq))
		return
	}
	r.entries = append(r.entries, line{seq, id})
	r.last = seq
}

func (j *journal) announce(p packet) { j.announced(p) }

// lastOf returns the seq of the last entry that the journal has of the room.
func (j *journal) lastOf(room string) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.rooms[room]; r != nil {
		return r.last
	}
	return -1
}

// copyOf returns a copy of the journal of a room.
func (j *journal) copyOf(room string) roomJournal {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rooms[room]
	if r == nil {
		return roomJournal{}
	}
	out := *r
	out.entries, out.gaps = append([]line(nil), r.entries...), append([]span(nil), r.gaps...)
	out.skipped = append([]span(nil), r.skipped...)
	return out
}

// connections returns the latest connects, disconnects and positions.
func (j *journal) connections() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.breaks, "; ")
}

// takeFresh returns how often the room's entries were numbered anew since the last call.
func (j *journal) takeFresh(room string) (fresh int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.rooms[room]; r != nil {
		fresh, r.fresh = r.fresh, 0
	}
	return fresh
}

// takeProblems returns the problems since the last call.
func (j *journal) takeProblems() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	problems := j.problems
	j.problems = nil
	return problems
}

// check compares a journal with the entries that SQL has of the room, by seq. Each entry from the journal's start to the room's
// end must have come once and in order, or be in an announced gap.
func (r roomJournal) check(stored []line) (wrong []string) {
	for _, s := range r.skipped {
		wrong = append(wrong, fmt.Sprintf("entries after %d through %d were skipped", s.after, s.through))
	}
	gaps := r.gaps
	next := r.after
	expect := func(seq int64) bool { // skips announced gaps
		for len(gaps) > 0 && gaps[0].after == next {
			next, gaps = gaps[0].through, gaps[1:]
		}
		return seq == next+1
	}
	for _, e := range r.entries {
		if !expect(e.seq) {
			wrong = append(wrong, fmt.Sprintf("after entry %d came %d", next, e.seq))
		}
		next = e.seq
		if n := int(e.seq) - 1; n < 0 || n >= len(stored) || stored[n] != e {
			wrong = append(wrong, fmt.Sprintf("entry %d with id %s is not in SQL", e.seq, e.id))
		}
	}
	if !expect(int64(len(stored)) + 1) {
		wrong = append(wrong, fmt.Sprintf("entries after %d never came, the room has %d", next, len(stored)))
	}
	return wrong
}

package session

import "slices"

const (
	// maxInFlight limits the commands of one connection that are not answered. At the limit, the socket is not read.
	maxInFlight = 32
	// maxRunning limits how many of these commands run concurrently, and so the memory for their replies.
	maxRunning = 8
)

// inFlight holds the commands of one session that are not answered. Session.mu guards it.
type inFlight struct {
	list  []*command    // in the order of arrival, so started ones come first; nil: none
	space chan struct{} // closed when a command is answered; nil: no frame waits for that
	early uint8         // number of commands that were answered early and still run
}

// has reports whether a command with this id is in flight.
func (f *inFlight) has(id uint32) bool {
	return slices.ContainsFunc(f.list, func(c *command) bool { return c.cmd.Id == id })
}

// next marks the next command that may start as started and returns it, or nil if none may start. A command that
// overlaps may start once all earlier ones have started. Any other command also waits until all running commands are
// ones that overlap. Before the connect reply, no command overlaps.
func (f *inFlight) next(phase phase) *command {
	alone := true // no running command excludes others
	for i, c := range f.list {
		overlaps := phase == open && c.overlaps()
		switch {
		case c.started:
			alone = alone && overlaps
		case i == maxRunning, !overlaps && !alone:
			return nil
		default:
			c.started = true
			return c
		}
	}
	return nil
}

// remove removes an answered command, and wakes the reader if it waits for space.
func (f *inFlight) remove(answered *command) {
	f.list = slices.DeleteFunc(f.list, func(c *command) bool { return c == answered })
	if len(f.list) == 0 {
		f.list = nil // so that an idle session uses no memory for it
	}
	if f.space != nil {
		close(f.space)
		f.space = nil
	}
}

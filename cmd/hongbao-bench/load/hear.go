package load

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// hear takes one message of the server's.
func (u *user) hear(l line) error {
	switch l.kind {
	case ping:
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.socket.send([]byte("{}"))
	case publication:
		return u.read(&l)
	case reply, refused:
		c := u.taken(l.id)
		if c == nil {
			return fmt.Errorf("an answer to command %d, which nobody has given", l.id)
		}
		u.settle(c, &l)
	case unsubscribed:
		u.crew.checks.fault(checkComplete, "%s is out of %s, and has not left", u.id, l.channel)
	}
	return nil
}

// read takes an entry of a room.
func (u *user) read(l *line) error {
	for _, j := range u.journals {
		if j.room.channel == string(l.channel) {
			j.hear(&l.entry, u.crew.checks)
			if due, ok := u.crew.dueOf(l.entry.key); ok {
				u.crew.board.delivered.note(time.Since(due))
			}
			return nil
		}
	}
	return fmt.Errorf("an entry of %s, where %s is not", l.channel, u.id)
}

// settle gives an answer to whom it is for. What is to be repeated is, after a while.
func (u *user) settle(c *call, l *line) {
	if l.kind == reply {
		c.answered(l.data, nil)
		return
	}
	first, _, _ := strings.Cut(string(l.refusal.word), " ")
	u.crew.board.failed(first)
	if !l.refusal.temporary || time.Since(c.due) > patience {
		c.answered(nil, &l.refusal)
		return
	}
	u.crew.board.resent.Add(1)
	time.AfterFunc(again, func() { u.say(c) })
}

// again is how long after a refusal a command is repeated.
const again = 500 * time.Millisecond

// word is the short name of an error that people are told the number of.
func word(err error) string {
	if errors.Is(err, errSentAway) {
		return "sent_away"
	}
	var told *refusal
	if errors.As(err, &told) {
		first, _, _ := strings.Cut(string(told.word), " ")
		return first
	}
	return "not_connected"
}

// Error implements error.
func (r *refusal) Error() string { return string(r.word) }

package load

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// hear takes one message of the server's, which came now.
func (u *user) hear(s *socket, now time.Time) error {
	l := &u.line
	switch l.kind {
	case ping:
		return s.pong()
	case publication:
		return u.read(l, now)
	case reply, refused:
		c := u.taken(l.id)
		if c == nil {
			return fmt.Errorf("an answer to command %d, which nobody has given", l.id)
		}
		u.settle(c, l, now)
	case unsubscribed:
		u.crew.checks.fault(checkComplete, "%s is out of %s, and has not left", u.id, l.channel)
	}
	return nil
}

// read takes an entry of a room.
func (u *user) read(l *line, now time.Time) error {
	for _, j := range u.journals {
		if j.room.channel == string(l.channel) {
			j.hear(&l.entry, u.crew.checks)
			if due, ok := u.crew.dueOf(l.entry.key); ok {
				u.crew.board.delivered.note(now.Sub(due))
			}
			return nil
		}
	}
	return fmt.Errorf("an entry of %s, where %s is not", l.channel, u.id)
}

// settle gives an answer to whom it is for. What is to be repeated is, after a while.
func (u *user) settle(c *call, l *line, now time.Time) {
	if l.kind == reply {
		c.answered(now, l.data, nil)
		return
	}
	first, _, _ := strings.Cut(string(l.refusal.word), " ")
	u.crew.board.failed(first)
	if !l.refusal.temporary || now.Sub(c.due) > patience {
		c.answered(now, nil, &l.refusal)
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

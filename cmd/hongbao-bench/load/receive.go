package load

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// receive handles one message of the server.
func (u *user) receive(s *socket, now time.Time) error {
	l := &u.message
	switch l.kind {
	case ping:
		return s.pong()
	case publication:
		return u.read(l, now)
	case reply, refused:
		c := u.taken(l.id)
		if c == nil {
			return fmt.Errorf("an answer to command %d, which was not sent", l.id)
		}
		u.settle(c, l, now)
	case unsubscribed:
		u.group.checks.fault(checkComplete, "%s is out of %s without having left", u.id, l.channel)
	}
	return nil
}

// read records an entry in the user's journal of its room, and the delay with which it came.
func (u *user) read(l *message, now time.Time) error {
	for _, j := range u.journals {
		if j.room.channel == string(l.channel) {
			j.receive(&l.entry, u.group.checks)
			if due, ok := u.group.dueOf(l.entry.key); ok {
				u.group.runStats.delivered.note(now.Sub(due))
			}
			return nil
		}
	}
	return fmt.Errorf("an entry of %s, in which %s is not a member", l.channel, u.id)
}

// settle passes an answer to the call that it belongs to. After a temporary error, the call is sent again after a
// pause.
func (u *user) settle(c *call, l *message, now time.Time) {
	if l.kind == reply {
		c.answered(now, l.data, nil)
		return
	}
	first, _, _ := strings.Cut(string(l.refusal.word), " ")
	u.group.runStats.failed(first)
	if !l.refusal.temporary || now.Sub(c.due) > repeatTimeout {
		c.answered(now, nil, &l.refusal)
		return
	}
	u.group.runStats.resent.Add(1)
	time.AfterFunc(again, func() { u.send(c) })
}

// again is the pause before a command is sent again after a temporary error, or after the outcome "pending".
const again = 500 * time.Millisecond

// word returns a short name of an error, for the counts in the report.
func word(err error) string {
	if errors.Is(err, errRefused) {
		return "sent_away"
	}
	var failure *refusal
	if errors.As(err, &failure) {
		first, _, _ := strings.Cut(string(failure.word), " ")
		return first
	}
	return "not_connected"
}

// Error implements error.
func (r *refusal) Error() string { return string(r.word) }

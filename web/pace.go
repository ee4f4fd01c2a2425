package web

import "time"

// The rate of one connection's commands, and how often it may be refused on end before it is closed.
const (
	commandEvery = time.Second / 50
	commandBurst = 100
	maxRefused   = 200
)

// rateState is the bucket of one connection: when it is full again (the "generic cell rate algorithm"), and how many
// commands were refused since it was full last.
type rateState struct {
	full    time.Duration // since rates.start
	refused int
}

// connection takes what one command costs the connection. More than zero: it is refused, and how long to wait for the
// next. Abuse: it has not paused for long. Only the session's reader asks.
func (r *rates) connection(s *session) (wait time.Duration, abuse bool) {
	if !r.on {
		return 0, false
	}
	return s.tokens.take(r.now().Sub(r.start))
}

func (t *rateState) take(now time.Duration) (wait time.Duration, abuse bool) {
	if t.full <= now {
		t.full, t.refused = now, 0
	}
	if wait := t.full + commandEvery - commandBurst*commandEvery - now; wait > 0 {
		t.refused++
		return wait, t.refused >= maxRefused
	}
	t.full += commandEvery
	return 0, false
}

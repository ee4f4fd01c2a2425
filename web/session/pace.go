package session

import (
	"time"

	"hongbao/web/api"
)

// maxRefused is how many commands of a connection may be refused, without its bucket becoming full in between, before
// it is closed.
const maxRefused = 200

// bucket limits the commands of one connection to api.CommandsPerSecond, by the generic cell rate algorithm.
type bucket struct {
	full    time.Duration // when the bucket will be full again, as time since Manager.start
	refused int           // number of refused commands since the bucket was last full
}

// take counts one command. If wait is above zero, the command is refused and the next one may come after wait. abuse
// means that more than maxRefused commands were refused.
func (b *bucket) take(now time.Duration) (wait time.Duration, abuse bool) {
	every := time.Second / api.CommandsPerSecond
	if b.full <= now {
		b.full, b.refused = now, 0
	}
	if wait := b.full + every - api.CommandBurst*every - now; wait > 0 {
		b.refused++
		return wait, b.refused >= maxRefused
	}
	b.full += every
	return 0, false
}

// takeToken counts one command of a connection. It allows everything if Config.Paced is false.
func (m *Manager) takeToken(b *bucket) (wait time.Duration, abuse bool) {
	if !m.c.Paced {
		return 0, false
	}
	return b.take(m.c.Now().Sub(m.start))
}

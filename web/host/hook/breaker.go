package hook

import (
	"sync"
	"time"
)

const (
	breakerFailures = 5               // failures in a row that open the breaker
	breakerPause    = 5 * time.Second // time from a failure until one question is asked on trial
)

// breaker is a circuit breaker for the questions about one command. It lets them fail at once while the host does not answer with
// status 200. After breakerFailures failures in a row it opens. Then one question is asked on trial after each breakerPause. If the
// host answers it, the breaker closes. The zero value is closed.
type breaker struct {
	mu       sync.Mutex
	failures int       // guarded by mu; failures in a row
	next     time.Time // guarded by mu; when the breaker is open: the time of the next trial
}

// admit reports whether a question may be asked. If it returns true, the caller must call record.
func (b *breaker) admit(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < breakerFailures:
		return true
	case now.Before(b.next):
		return false
	}
	b.next = now.Add(breakerPause) // so that only one question is on trial
	return true
}

// record counts the outcome of a question. It reports whether this has opened the breaker.
func (b *breaker) record(now time.Time, failed bool) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failures = 0
		return false
	}
	if b.failures++; b.failures >= breakerFailures {
		b.next = now.Add(breakerPause)
	}
	return b.failures == breakerFailures
}

// open reports whether questions fail at once, except one on trial.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures >= breakerFailures
}

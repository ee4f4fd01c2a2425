package session

import (
	"hongbao/web/push"
)

// maxSignals bounds the signals of a session that are not applied. Beyond it they are dropped, and the user's sessions are compared with
// the store.
const maxSignals = 1000

// signalQueue is the signals of a session that are not applied. Session.mu guards it. One goroutine at a time applies them, so
// that they stay in order.
type signalQueue struct {
	list     []push.Signal // in the order of arrival
	applying bool          // a goroutine is applying signals
}

// add queues signals and reports whether the caller must apply them. It returns false if another goroutine is applying
// signals, or if the session is not open: then the connect command applies them, because they may change what it has
// read.
func (q *signalQueue) add(phase phase, sigs ...push.Signal) (apply bool) {
	for _, sig := range sigs {
		if !q.full() || sig.Close != nil {
			q.list = append(q.list, sig)
		}
	}
	if phase != open || q.applying || len(q.list) == 0 {
		return false
	}
	q.applying = true
	return true
}

// full reports whether signals that are added are dropped.
func (q *signalQueue) full() bool { return len(q.list) >= maxSignals }

// Signal implements hub.Handler. If another instance sent the signal, this instance's cache may be outdated, so the parts that the signal
// concerns are forgotten. Signal never waits for the store, neither on the goroutine of a publisher nor on that of the bus.
func (s *Session) Signal(_ string, data []byte) {
	sig, err := push.ParseSignal(data)
	if err != nil {
		s.m.c.Log.Error("signal of an unknown form", "err", err)
		return
	}
	s.mu.Lock()
	if sig.By != s.m.c.Node {
		s.m.forget(sig, s.user.ID)
	}
	apply := s.signals.add(s.phase, sig)
	user, full := s.user.ID, s.signals.full()
	s.mu.Unlock()
	if full {
		s.m.rechecks.add(user)
	}
	if apply {
		s.applyCached()
	}
}

// forget removes from the cache of package chat what a signal to the user's sessions has made outdated.
func (m *Manager) forget(sig push.Signal, user string) {
	switch {
	case sig.Room == "":
	case sig.Reason == push.ReasonDeleted:
		m.c.Chat.Forget(sig.Room, "")
	default:
		m.c.Chat.Forget(sig.Room, user)
	}
}

package web

// maxLate is how many commands of one connection may go on after they were answered.
const maxLate = 32

// answerEarly answers a command that goes on, and tells whether it did: not if too many do already, then its answer
// comes with its end. An answered command is in flight no more: its id is free, and those behind it may start.
func (s *session) answerEarly(p *pending, reply []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == maxLate {
		return false
	}
	s.late++
	p.late = true
	s.answerLocked(p, reply)
	s.startLocked()
	return true
}

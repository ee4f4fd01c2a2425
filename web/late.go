package web

import (
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// maxLate is how many commands of one connection may go on after they were answered.
const maxLate = 32

// answerEarly answers a command that goes on, and tells whether it did: not if too many do already, then its answer
// comes with its end. An answered command is in flight no more: its id is free, and those behind it may start.
func (s *session) answerEarly(p *pending, reply []byte) bool {
	s.mu.Lock()
	if s.late == maxLate {
		s.mu.Unlock()
		return false
	}
	s.late++
	p.late = true
	flush := s.answerLocked(p, reply)
	s.startLocked()
	s.mu.Unlock()
	if flush {
		s.conn.Flush()
	}
	return true
}

// Pending implements redpacket.Waiter.
func (p *pending) Pending(r redpacket.Result) (told bool) {
	reply, err := wire.RPCReply(p.session.encoding(), p.cmd.Id, wireResult(r))
	return err == nil && p.session.answerEarly(p, reply)
}

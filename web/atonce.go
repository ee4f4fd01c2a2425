package web

import (
	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// atOnce answers a command about which nobody has to be asked, on the reader. To start a goroutine and to grow its stack would
// cost more than the answer, and so would another one that writes it. False: it goes the long way.
func (s *session) atOnce(cmd *protocol.Command) (answered bool) {
	who, alone := s.alone()
	if !alone {
		return false
	}
	known := s.srv.remembered(who, cmd)
	if known == nil {
		return false
	}
	if !s.unsent { // so few go into one frame that their replies count as one
		s.conn.CatchUp()
	}
	if reply := s.run(&pending{session: s, cmd: cmd, known: known}); reply != nil && s.conn.Queue(reply) {
		s.unsent = true
	}
	return true
}

// flush sends what was answered at once.
func (s *session) flush() {
	if s.unsent {
		s.unsent = false
		s.conn.Flush()
	}
}

// alone tells who asks, and whether no other command of his is in flight.
func (s *session) alone() (user string, alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user.ID, s.phase == open && len(s.pending) == 0
}

// remembered reads a command that is answered from memory; nil: it is not. Grabs of a packet that is done are by far the most.
func (s *Server) remembered(user string, cmd *protocol.Command) asked {
	if requestOf(cmd) != requestRPC || cmd.Rpc.Method != grabMethod {
		return nil
	}
	known, err := commands[grabMethod].read(cmd.Rpc.Data)
	if err != nil {
		return nil
	}
	grab := known.(*exchange[wire.GrabRequest, wire.GrabReply])
	if room, over := s.packets.Over(grab.request.Packet); !over || !s.chat.Remembers(room, user) {
		return nil
	}
	return known
}

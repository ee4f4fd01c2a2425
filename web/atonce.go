package web

import (
	"context"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/redpacket"
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

// recalled is a grab that is answered from memory.
type recalled struct {
	request  wire.GrabRequest
	over     redpacket.Over
	standing chat.Standing
	reply    wire.GrabReply
}

// remembered reads a command that is answered from memory; nil: it is not. Grabs of a packet that is done are by far the most.
func (s *Server) remembered(user string, cmd *protocol.Command) *recalled {
	if requestOf(cmd) != requestRPC || cmd.Rpc.Method != grabMethod {
		return nil
	}
	r := new(recalled)
	if err := wire.Decode(cmd.Rpc.Data, &r.request); err != nil {
		return nil
	}
	var ok bool
	if r.over, ok = s.packets.Over(r.request.Packet); !ok {
		return nil
	}
	if r.standing, ok = s.chat.Remembered(r.over.Room(), user); !ok {
		return nil
	}
	return r
}

// answer implements asked.
func (r *recalled) answer(_ context.Context, _ *Server, c Caller) (any, error) {
	result, err := r.over.Grab(c.User.ID, r.standing)
	r.reply = wireResult(result)
	return &r.reply, err
}

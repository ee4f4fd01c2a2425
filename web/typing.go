package web

import (
	"context"

	"hongbao/web/wire"
)

// typing does what a client sends without asking for a reply: it says that he is writing. Whatever is wrong with it stays
// unanswered.
func (s *Server) typing(ctx context.Context, c Caller, data []byte) {
	var sent wire.TypingSend
	var in wire.TypingRoom
	if wire.Decode(data, &sent) != nil || wire.Decode(sent.Typing, &in) != nil {
		return
	}
	s.chat.Typing(ctx, c.User, in.Room)
}

package web

import (
	"context"

	"hongbao/web/wire"
)

func (s *Server) edit(ctx context.Context, c Caller, r *wire.EditRequest) (wire.SeqReply, error) {
	seq, err := s.chat.Edit(ctx, c.User, r.Room, r.Seq, r.Text)
	return wire.SeqReply{Seq: seq}, err
}

func (s *Server) recall(ctx context.Context, c Caller, r *wire.RecallRequest) (wire.SeqReply, error) {
	seq, err := s.chat.Recall(ctx, c.User, r.Room, r.Seq)
	return wire.SeqReply{Seq: seq}, err
}

func (s *Server) react(ctx context.Context, c Caller, r *wire.ReactRequest) (wire.ReactReply, error) {
	return wire.ReactReply{}, s.chat.React(ctx, c.User, r.Room, r.Seq, r.Emoji, r.On)
}

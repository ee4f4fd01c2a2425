package api

import (
	"context"

	"hongbao/web/wire"
)

func (a *Commands) edit(ctx context.Context, c Caller, r *wire.EditRequest) (wire.SeqReply, error) {
	seq, err := a.chat.Edit(ctx, c.User, r.Room, r.Seq, r.Text)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) recall(ctx context.Context, c Caller, r *wire.RecallRequest) (wire.SeqReply, error) {
	seq, err := a.chat.Recall(ctx, c.User, r.Room, r.Seq)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) react(ctx context.Context, c Caller, r *wire.ReactRequest) (wire.ReactReply, error) {
	return wire.ReactReply{}, a.chat.React(ctx, c.User, r.Room, r.Seq, r.Emoji, r.On)
}

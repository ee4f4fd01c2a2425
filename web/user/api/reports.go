package api

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

func (a *Commands) report(ctx context.Context, c Caller, r *wire.ReportRequest) (wire.ReportReply, error) {
	stored, dup, err := a.chat.Report(ctx, c.User, chat.ReportRequest(*r))
	return wire.ReportReply{Report: stored.ID, Dup: dup}, err
}

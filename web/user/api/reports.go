package api

import (
	"context"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) report(ctx context.Context, c Caller, r *wire.ReportRequest) (wire.ReportReply, error) {
	stored, dup, err := a.chat.Report(ctx, c.User, chat.ReportRequest(*r))
	return wire.ReportReply{Report: stored.ID, Dup: dup}, err
}

func (a *Commands) reports(ctx context.Context, c Caller, r *wire.ReportsRequest) (wire.ReportsReply, error) {
	page, more, err := a.chat.OwnReports(ctx, chat.OwnReports{User: c.User.ID, Side: chat.Side(r.Side), Before: r.Next, Limit: r.Limit})
	reply := wire.ReportsReply{Reports: convert.List(page, func(r chat.Report) wire.OwnReport { return convert.OwnReport(r, c.User.ID) })}
	if more {
		reply.Next = page[len(page)-1].ID
	}
	return reply, err
}

func (a *Commands) appeal(ctx context.Context, c Caller, r *wire.AppealRequest) (wire.AppealReply, error) {
	stored, err := a.chat.AppealReport(ctx, c.User.ID, r.Report, r.Text)
	return wire.AppealReply{Report: convert.OwnReport(stored, c.User.ID)}, err
}

package server

import (
	"context"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

// reports answers the operations on reports of users.
type reports struct{ o Config }

func (s reports) routes() []Route {
	return []Route{Handle("list_reports", s.listReports), Handle("get_report", s.getReport), Handle("resolve_report", s.resolveReport)}
}

func (s reports) listReports(ctx context.Context, _ Caller, r *hostapi.ListReportsRequest) (hostapi.ListReportsReply, error) {
	page, more, err := s.o.Chat.Reports(ctx, chat.ReportQuery{State: chat.ReportState(r.State), After: r.After, Limit: r.Limit})
	reply := hostapi.ListReportsReply{Reports: convert.List(page, reportOf)}
	if more {
		reply.Next = page[len(page)-1].ID
	}
	return reply, err
}

func (s reports) getReport(ctx context.Context, _ Caller, r *hostapi.GetReportRequest) (hostapi.ReportReply, error) {
	report, err := s.o.Chat.ReportByID(ctx, r.Report)
	return hostapi.ReportReply{Report: reportOf(report)}, err
}

func (s reports) resolveReport(ctx context.Context, c Caller, r *hostapi.ResolveReportRequest) (hostapi.ReportReply, error) {
	report, err := s.o.Chat.ResolveReport(ctx, chat.Resolution{Report: r.Report, Outcome: r.Outcome, Cause: r.Cause, Note: r.Note, Appeal: r.Appeal, By: c.Actor()})
	return hostapi.ReportReply{Report: reportOf(report)}, err
}

func reportOf(r chat.Report) hostapi.Report {
	out := hostapi.Report{
		ID: r.ID, Kind: string(r.Kind), By: r.By, About: r.About, Room: r.Room, Seq: r.Seq, Packet: r.Packet, Reason: r.Reason, Text: r.Text,
		At: convert.Millis(r.At), State: string(r.State), Outcome: r.Outcome, Cause: r.Cause, Note: r.Note, ResolvedBy: r.ResolvedBy,
		AppealBy: r.Appeal.By, Appeal: r.Appeal.Text,
	}
	if r.State != chat.ReportOpen {
		out.ResolvedAt = convert.Millis(r.ResolvedAt)
	}
	if !r.Appeal.At.IsZero() {
		out.AppealedAt = convert.Millis(r.Appeal.At)
	}
	return out
}

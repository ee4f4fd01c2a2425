package server

import (
	"context"
	"errors"
	"math"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// operation answers the operations on the installation itself.
type operation struct{ o Config }

func (s operation) routes() []Route {
	return []Route{
		Handle("get_overview", s.getOverview), Handle("get_charts", s.getCharts), Handle("get_audit", s.getAudit), Handle("start_audit", s.startAudit), Handle("get_heads", s.getHeads),
	}
}

// outboxOld is the age of a granted share that a person should look at: shares are settled within milliseconds.
const outboxOld = 10 * time.Second

func (s operation) getOverview(ctx context.Context, _ Caller, _ *struct{}) (hostapi.Overview, error) {
	figures, sample := s.o.Packets.Stats(), s.o.Packets.LastSample()
	o := hostapi.Overview{
		At: time.Now().UnixMilli(), Problems: []string{}, Stats: s.o.Web.Stats(),
		GrabP50US: micros(figures.AnswerTime.Quantile(0.5)), GrabP99US: micros(figures.AnswerTime.Quantile(0.99)),
	}
	audit, err := s.o.Packets.LastAudit(ctx)
	if err != nil && !errors.Is(err, chat.ErrNotFound) && !figures.OutOfReach {
		return o, err
	}
	if sample != nil {
		o.Money = &hostapi.OverviewMoney{
			Open: sample.Open, Escrow: int64(sample.Escrow), Overdue: sample.Overdue, Outbox: sample.Outbox, OutboxAgeMS: sample.OutboxAge.Milliseconds(),
			Quarantined: sample.Quarantined,
		}
	}
	holds := map[string]bool{
		"database_down": figures.OutOfReach, "bus_down": o.Stats.BusDown, "draining": o.Stats.Draining,
		"overdue":    sample != nil && sample.Late > outboxOld,
		"outbox_old": sample != nil && sample.OutboxAge > outboxOld,
		"quarantine": sample != nil && sample.Quarantined > 0, "audit_differs": len(audit.Differences) > 0,
	}
	for _, problem := range hostapi.Problems {
		if holds[problem] {
			o.Problems = append(o.Problems, problem)
		}
	}
	return o, nil
}

func (s operation) getCharts(ctx context.Context, _ Caller, _ *struct{}) (hostapi.ChartsReply, error) {
	return s.o.Charts(ctx)
}

func micros(seconds float64) int64 { return int64(math.Ceil(seconds * 1e6)) }

func (s operation) getAudit(ctx context.Context, _ Caller, _ *struct{}) (wire.AuditReply, error) {
	audit, err := s.o.Packets.LastAudit(ctx)
	return convert.Audit(audit), err
}

func (s operation) startAudit(ctx context.Context, _ Caller, r *wire.StartAuditRequest) (wire.StartAuditReply, error) {
	at, err := s.o.Packets.AskAudit(ctx, r.Whole)
	return wire.StartAuditReply{At: convert.Millis(at)}, err
}

func (s operation) getHeads(ctx context.Context, _ Caller, _ *struct{}) (wire.HeadsReply, error) {
	heads, err := s.o.Packets.Heads(ctx)
	return convert.Heads(heads), err
}

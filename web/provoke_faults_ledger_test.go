package web

import (
	"context"
	"time"

	"hongbao/redpacket"
)

// faultyLedger is the real ledger, but all calls fail while a fault is set.
type faultyLedger struct {
	redpacket.Ledger
	*faults
}

func (s faultyLedger) Account(ctx context.Context, user string) (_ redpacket.Account, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Account(ctx, user)
}

func (s faultyLedger) Send(ctx context.Context, o redpacket.UnsealedPacket) (_ redpacket.Sent, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Send(ctx, o)
}

func (s faultyLedger) KeyUsed(ctx context.Context, user, key string) (_ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.KeyUsed(ctx, user, key)
}

func (s faultyLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if err := s.fault(); err != nil {
		return redpacket.AllUnsettled(len(claims), err)
	}
	return s.Ledger.Settle(ctx, claims)
}

func (s faultyLedger) End(ctx context.Context, c redpacket.Close) (_ redpacket.Closed, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.End(ctx, c)
}

func (s faultyLedger) Quarantine(ctx context.Context, claims []redpacket.Claim, why string) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Quarantine(ctx, claims, why)
}

func (s faultyLedger) Image(ctx context.Context, packet string) (_ redpacket.Image, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Image(ctx, packet)
}

func (s faultyLedger) Packet(ctx context.Context, packet string) (_ redpacket.Packet, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Packet(ctx, packet)
}

func (s faultyLedger) Book(ctx context.Context, packet string) (_ redpacket.Book, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Book(ctx, packet)
}

func (s faultyLedger) States(ctx context.Context, user string, packets []string) (_ []redpacket.State, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.States(ctx, user, packets)
}

func (s faultyLedger) Overdue(ctx context.Context, before time.Time, after redpacket.Overdue, limit int) (_ []redpacket.Overdue, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Overdue(ctx, before, after, limit)
}

func (s faultyLedger) Details(ctx context.Context, q redpacket.DetailsQuery) (_ redpacket.DetailsPage, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Details(ctx, q)
}

func (s faultyLedger) DeletedRooms(ctx context.Context, after string, limit int) (_ []string, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.DeletedRooms(ctx, after, limit)
}

func (s faultyLedger) OpenInDeleted(ctx context.Context, room, after string, limit int) (_ []redpacket.Ref, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.OpenInDeleted(ctx, room, after, limit)
}

func (s faultyLedger) OpenFromBefore(ctx context.Context, after string, limit int) (_ []redpacket.Ref, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.OpenFromBefore(ctx, after, limit)
}

func (s faultyLedger) Packets(ctx context.Context, q redpacket.PacketsQuery) (_ redpacket.PacketsPage, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Packets(ctx, q)
}

func (s faultyLedger) Transfers(ctx context.Context, user, next string, limit int) (_ []redpacket.LedgerTransfer, _ string, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Transfers(ctx, user, next, limit)
}

func (s faultyLedger) Adjust(ctx context.Context, a redpacket.Adjustment) (_ redpacket.Account, _ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Adjust(ctx, a)
}

func (s faultyLedger) AuditRecord(ctx context.Context) (_ []byte, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.AuditRecord(ctx)
}

func (s faultyLedger) SwapAuditRecord(ctx context.Context, old, next []byte) (_ bool, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.SwapAuditRecord(ctx, old, next)
}

func (s faultyLedger) Sample(ctx context.Context, now time.Time) (_ redpacket.LedgerSample, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Sample(ctx, now)
}

func (s faultyLedger) Heads(ctx context.Context) (_ []redpacket.Head, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.Heads(ctx)
}

func (s faultyLedger) DayUse(ctx context.Context, user string, day redpacket.Day) (_ redpacket.DayUse, err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.DayUse(ctx, user, day)
}

func (s faultyLedger) SetSelfLimits(ctx context.Context, user string, c redpacket.SelfLimitsChange, now time.Time) (err error) {
	if err = s.fault(); err != nil {
		return
	}
	return s.Ledger.SetSelfLimits(ctx, user, c, now)
}

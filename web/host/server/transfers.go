package server

import (
	"context"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

func (s money) getTransfers(ctx context.Context, _ Caller, r *hostapi.GetTransfersRequest) (hostapi.TransfersReply, error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return hostapi.TransfersReply{}, err
	}
	if r.User != "" {
		return s.transfersOf(ctx, r, limit)
	}
	page, err := s.o.Packets.LedgerAfter(ctx, r.After, limit)
	return hostapi.TransfersReply{Transfers: convert.List(page.Transfers, ledgerTransferOf), Next: page.Next, More: page.More}, err
}

// transfersOf lists the transfers of one user. The list has no shares: the claims have them.
func (s money) transfersOf(ctx context.Context, r *hostapi.GetTransfersRequest, limit int) (hostapi.TransfersReply, error) {
	if err := chat.CheckUser("user", r.User); err != nil {
		return hostapi.TransfersReply{}, err
	}
	transfers, next, err := s.o.Packets.Transfers(ctx, r.User, r.After, limit)
	return hostapi.TransfersReply{Next: next, More: next != "", Transfers: convert.List(transfers, func(t redpacket.LedgerTransfer) hostapi.LedgerTransfer {
		out := ledgerTransferOf(t)
		out.Share = nil
		return out
	})}, err
}

func ledgerTransferOf(t redpacket.LedgerTransfer) hostapi.LedgerTransfer {
	out := hostapi.LedgerTransfer{
		ID: t.ID, At: convert.Millis(t.At), User: t.User, Kind: string(t.Kind), Amount: int64(t.Amount), Packet: t.Packet, Note: t.Note,
		Actor: t.Actor, RequestID: t.RequestID, Reason: t.Reason,
	}
	if t.Kind == redpacket.TransferClaim {
		out.Share = &t.Share
	}
	return out
}

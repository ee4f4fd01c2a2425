package server

import (
	"context"

	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire/hostapi"
)

func (s money) getTransfers(ctx context.Context, _ Caller, r *hostapi.GetTransfersRequest) (hostapi.TransfersReply, error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return hostapi.TransfersReply{}, err
	}
	page, err := s.o.Packets.LedgerAfter(ctx, r.After, limit)
	return hostapi.TransfersReply{Transfers: convert.List(page.Transfers, ledgerTransferOf), Next: page.Next, More: page.More}, err
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

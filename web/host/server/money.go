package server

import (
	"context"

	"hongbao/redpacket"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// money answers the operations on wallets, transfers and packets.
type money struct{ o Config }

func (s money) routes() []Route {
	return []Route{
		Handle("credit", s.credit), Handle("debit", s.debit),
		Handle("get_wallet", s.getWallet), Handle("list_wallets", s.listWallets), Handle("get_wallets", s.getWallets),
		Handle("freeze_wallet", s.freezeWallet(true)), Handle("unfreeze_wallet", s.freezeWallet(false)), Handle("set_limits", s.setLimits),
		Handle("get_transfers", s.getTransfers), Handle("get_refusals", s.getRefusals), Handle("get_packet", s.getPacket), Handle("list_packets", s.listPackets), Handle("get_campaign", s.getCampaign),
		Handle("get_quarantine", s.getQuarantine), Handle("retry_quarantined", s.retryQuarantined),
	}
}

func (s money) credit(ctx context.Context, c Caller, r *hostapi.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, +1)
}

func (s money) debit(ctx context.Context, c Caller, r *hostapi.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, -1)
}

// adjust adds the amount to the user's wallet (sign 1) or takes it out (sign -1). In the ledger a key may be used once for all
// users together. A host may use an idempotency key once for each user. So the key in the ledger is derived from both, the
// idempotency key and the user.
func (s money) adjust(ctx context.Context, c Caller, r *hostapi.AdjustRequest, sign int64) (wire.AdjustReply, error) {
	account, dup, err := s.o.Packets.Adjust(ctx, redpacket.AdjustRequest{
		User: r.User, Amount: redpacket.Money(sign * r.Amount), Key: DerivedKey(c.Idempotency, r.User), Note: r.Note,
		Actor: c.Actor(), RequestID: c.RequestID, Reason: c.Reason,
	})
	return wire.AdjustReply{Balance: int64(account.Balance), AccountVersion: account.Version, Dup: dup}, err
}

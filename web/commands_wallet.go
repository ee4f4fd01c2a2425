package web

import (
	"context"

	"hongbao/redpacket"
	"hongbao/web/wire"
)

func (s *Server) wallet(ctx context.Context, c Caller, r *wire.WalletRequest) (wire.WalletReply, error) {
	account, err := s.packets.Account(ctx, c.User.ID)
	if err != nil {
		return wire.WalletReply{}, err
	}
	transfers, next, err := s.packets.Transfers(ctx, c.User.ID, r.Next, pageSize(r.Limit))
	return wire.WalletReply{
		Balance: int64(account.Balance), NextCommitment: account.NextCommitment,
		Transfers: mapped(transfers, wireTransfer), Next: next,
	}, err
}

func (s *Server) credit(ctx context.Context, _ Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, r, +1)
}

func (s *Server) debit(ctx context.Context, _ Caller, r *wire.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, r, -1)
}

// adjust moves the amount into (+1) or out of (-1) the user's wallet.
func (s *Server) adjust(ctx context.Context, r *wire.AdjustRequest, sign int64) (wire.AdjustReply, error) {
	account, dup, err := s.packets.Adjust(ctx, r.User, redpacket.Money(sign*r.Amount), r.Key, r.Note)
	return wire.AdjustReply{Balance: int64(account.Balance), Dup: dup}, err
}

func (s *Server) audit(ctx context.Context, _ Caller, _ *struct{}) (wire.AuditReply, error) {
	a, err := s.packets.Audit(ctx)
	return AuditReply(a), err
}

// AuditReply is the state of the books as JSON has it.
func AuditReply(a redpacket.Audit) wire.AuditReply {
	return wire.AuditReply{
		OK:     len(a.Differences) == 0,
		Funded: int64(a.Funded), InWallets: int64(a.InWallets), InPackets: int64(a.InPackets),
		Wallets: a.Wallets, Packets: a.Packets, OpenPackets: a.OpenPackets, Claims: a.Claims, Transfers: a.Transfers,
		Rooms: a.Rooms, Entries: a.Entries, Quarantined: a.Quarantined,
		Differences: mapped(a.Differences, func(d redpacket.Difference) wire.Difference { return wire.Difference(d) }),
	}
}

package server

import (
	"context"

	"hongbao/redpacket"
	"hongbao/web/wire"
	"hongbao/web/wire/hostapi"
)

func (s *Server) moneyRoutes() []Route {
	return []Route{Handle("credit", s.credit), Handle("debit", s.debit)}
}

func (s *Server) credit(ctx context.Context, c Caller, r *hostapi.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, +1)
}

func (s *Server) debit(ctx context.Context, c Caller, r *hostapi.AdjustRequest) (wire.AdjustReply, error) {
	return s.adjust(ctx, c, r, -1)
}

// adjust adds the amount to the user's wallet (sign 1) or takes it out (sign -1). The ledger's keys are the same for all users, those of
// hosts are apart by user.
func (s *Server) adjust(ctx context.Context, c Caller, r *hostapi.AdjustRequest, sign int64) (wire.AdjustReply, error) {
	account, dup, err := s.o.Packets.Adjust(ctx, redpacket.AdjustRequest{
		User: r.User, Amount: redpacket.Money(sign * r.Amount), Key: DerivedKey(c.Idempotency, r.User), Note: r.Note,
		Actor: c.Actor(), RequestID: c.RequestID, Reason: c.Reason,
	})
	return wire.AdjustReply{Balance: int64(account.Balance), AccountVersion: account.Version, Dup: dup}, err
}

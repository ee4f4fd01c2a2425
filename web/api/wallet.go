package api

import (
	"context"

	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) wallet(ctx context.Context, c Caller, r *wire.WalletRequest) (wire.WalletReply, error) {
	account, err := a.packets.Account(ctx, c.User.ID)
	if err != nil {
		return wire.WalletReply{}, err
	}
	transfers, next, err := a.packets.Transfers(ctx, c.User.ID, r.Next, pageSize(r.Limit))
	return wire.WalletReply{
		Balance: int64(account.Balance), AccountVersion: account.Version, NextCommitment: account.NextCommitment,
		Transfers: convert.List(transfers, convert.Transfer), Next: next,
	}, err
}

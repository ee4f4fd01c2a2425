package server

import (
	"context"
	"fmt"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

const (
	usualPage = 100
	maxPage   = 1000
)

// pageSize returns how many items a page has.
func pageSize(limit int) (int, error) {
	switch {
	case limit > maxPage:
		return 0, chat.BadField("limit", fmt.Sprintf("must be at most %d", maxPage))
	case limit == 0:
		return usualPage, nil
	}
	return limit, nil
}

func (s money) getWallet(ctx context.Context, _ Caller, r *hostapi.GetWalletRequest) (reply hostapi.GetWalletReply, err error) {
	found, err := s.o.Packets.Wallets(ctx, []string{r.User})
	switch {
	case err != nil:
		return reply, err
	case len(found) == 0:
		return reply, &chat.FieldError{Err: chat.ErrNotFound, Field: "user", Reason: "is no user"}
	}
	used, day, err := s.o.Packets.Today(ctx, r.User)
	sent, received, packets := s.o.Packets.LimitsOf(used)
	return hostapi.GetWalletReply{Wallet: walletOf(found[0]), Today: hostapi.DayUse{
		From: convert.Millis(day.From), To: convert.Millis(day.To), Sent: int64(used.Sent), Received: int64(used.Received), Packets: used.Packets,
		Limits: hostapi.Limits{Sent: convert.Limit(sent), Received: convert.Limit(received), Packets: convert.Limit(packets)},
	}}, err
}

func (s money) listWallets(ctx context.Context, _ Caller, r *hostapi.ListWalletsRequest) (hostapi.WalletsReply, error) {
	limit, err := pageSize(r.Limit)
	if err != nil {
		return hostapi.WalletsReply{}, err
	}
	found, err := s.o.Packets.WalletsAfter(ctx, r.After, limit+1)
	reply := hostapi.WalletsReply{}
	if len(found) > limit {
		found = found[:limit]
		reply.Next = found[limit-1].User
	}
	reply.Wallets = convert.List(found, walletOf)
	return reply, err
}

func (s money) getWallets(ctx context.Context, _ Caller, r *hostapi.GetWalletsRequest) (hostapi.WalletsReply, error) {
	if len(r.Users) > maxPage {
		return hostapi.WalletsReply{}, &chat.FieldError{Err: chat.ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", maxPage), Limit: maxPage}
	}
	for i, user := range r.Users {
		if !chat.ValidUser(user) {
			return hostapi.WalletsReply{}, chat.BadField(fmt.Sprintf("users[%d]", i), "is no id of a user")
		}
	}
	found, err := s.o.Packets.Wallets(ctx, r.Users)
	return hostapi.WalletsReply{Wallets: convert.List(found, walletOf)}, err
}

// freezeWallet returns the handler that freezes wallets (frozen), or unfreezes them.
func (s money) freezeWallet(frozen bool) func(context.Context, Caller, *hostapi.FreezeWalletRequest) (hostapi.WalletReply, error) {
	return func(ctx context.Context, _ Caller, r *hostapi.FreezeWalletRequest) (hostapi.WalletReply, error) {
		w, err := s.o.Packets.FreezeWallet(ctx, r.User, frozen)
		return hostapi.WalletReply{Wallet: walletOf(w)}, err
	}
}

func (s money) setLimits(ctx context.Context, _ Caller, r *hostapi.SetLimitsRequest) (hostapi.WalletReply, error) {
	w, err := s.o.Packets.SetOwnLimits(ctx, r.User, redpacket.OwnLimits{Sent: r.Sent, Received: r.Received, Packets: r.Packets})
	return hostapi.WalletReply{Wallet: walletOf(w)}, err
}

func walletOf(w redpacket.Wallet) hostapi.Wallet {
	out := hostapi.Wallet{User: w.User, Balance: int64(w.Balance), AccountVersion: w.Version}
	if !w.FrozenAt.IsZero() {
		out.FrozenAt = convert.Millis(w.FrozenAt)
	}
	if w.Own != (redpacket.OwnLimits{}) {
		out.Limits = &hostapi.Limits{Sent: w.Own.Sent, Received: w.Own.Received, Packets: w.Own.Packets}
	}
	return out
}

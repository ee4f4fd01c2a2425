package api

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/web/wire"
)

// The budgets of web/docs/protocol/limits.md. They belong to a user or an address, not to a connection, so a new connection does not
// refill them. Each instance counts for itself. Commands with a rate (userRates) take nothing from them, except
// send_packet: 1 for 25 shares. Commands with a contact rate have a cost, too.
var (
	// userBudget is for the commands of one user that have a cost, and for the shares of send_packet.
	userBudget = chat.Rate{PerSecond: 100, Burst: 500}
	// addressBudget is for handshakes, for frames before the connect reply, for refused frames, and for guests' connects
	// and commands. Apart from such handshakes and frames, the host's users take nothing from it, because very many of them may
	// share an address.
	addressBudget = chat.Rate{PerSecond: 1_000, Burst: 10_000}
	// connectRate is for the connects of one user. They have a rate of their own, so that a user whose program reads too
	// much can still connect.
	connectRate = chat.Rate{PerSecond: 5, Burst: 50}
)

const (
	handshakeCost = 10 // of a WebSocket handshake, to the address
	connectCost   = 10 // of a guest's connect command, to the address
	sharesPerCost = 25 // shares of a packet for a cost of one
)

// costs holds what each method takes from the user's budget. Methods that are not in it have a rate instead.
// Methods with a contact rate are in it, too.
var costs = func() map[string]int {
	costs := map[string]int{}
	for _, m := range wire.Methods {
		if m.Cost > 0 {
			costs[m.Name] = m.Cost
		}
	}
	return costs
}()

// spendBudget takes the cost from the budget of the caller and, if the caller is a guest, of its address.
func (r *Rates) spendBudget(ctx context.Context, c Caller, cost int) error {
	if cost == 0 {
		return nil
	}
	if err := r.take(ctx, "budget:"+c.User.ID, costing(userBudget, cost), false); err != nil {
		return err
	}
	if c.Address == "" {
		return nil
	}
	return r.spendAddress(ctx, c.Address, cost)
}

// SpendConnect counts a connect command against the rate of its user and, for a guest, against the budget of the address. It
// returns an error if one of them is used up.
func (r *Rates) SpendConnect(ctx context.Context, c Caller) error {
	if err := r.take(ctx, "connect:"+c.User.ID, connectRate, false); err != nil || c.Address == "" {
		return err
	}
	return r.spendAddress(ctx, c.Address, connectCost)
}

// SpendHandshake takes the cost of a WebSocket handshake from the budget of the address. It returns an error if too little
// is left; then the handshake must be refused.
func (r *Rates) SpendHandshake(ctx context.Context, address string) error {
	return r.spendAddress(ctx, address, handshakeCost)
}

// SpendFrame counts a frame against the budget of an address: a frame before the connect reply, or a refused one. A guest's
// refused call of an admin endpoint counts as one frame, too.
func (r *Rates) SpendFrame(ctx context.Context, address string) error {
	return r.spendAddress(ctx, address, 1)
}

// exhaustedEvery is how often spendAddress may log that a budget is used up.
const exhaustedEvery = time.Minute

func (r *Rates) spendAddress(ctx context.Context, address string, cost int) error {
	err := r.take(ctx, "address:"+address, costing(addressBudget, cost), false)
	if err == nil {
		return nil
	}
	now := int64(r.now().Sub(r.start))
	if last := r.exhausted.Load(); (last == 0 || now-last >= int64(exhaustedEvery)) && r.exhausted.CompareAndSwap(last, max(now, 1)) {
		r.log.Warn("budget of an address is used up; if it is a load balancer, name it in HONGBAO_TRUSTED_PROXIES", "address", address)
	}
	return err
}

func costing(r chat.Rate, cost int) chat.Rate {
	r.Cost = cost
	return r
}

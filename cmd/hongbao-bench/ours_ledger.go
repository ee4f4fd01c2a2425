package main

import (
	"context"
	"errors"
	"fmt"

	"hongbao/chat"
	"hongbao/cmd/hongbao-bench/schemes"
	"hongbao/redpacket"
)

// gatedLedger is our ledger behind the gate that the published schemes also have. With it, a scenario stops or kills
// our service before a write, as it does with a scheme. Only Send, Settle and End pass the gate.
type gatedLedger struct {
	redpacket.Ledger

	gate *schemes.Database
}

func (l gatedLedger) pass(ctx context.Context) error {
	err := l.gate.Pass(ctx)
	if err != nil && !errors.Is(err, chat.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", chat.ErrUnavailable, err)
	}
	return err
}

// Send implements redpacket.Ledger.
func (l gatedLedger) Send(ctx context.Context, o redpacket.UnsealedPacket) (redpacket.Sent, error) {
	if err := l.pass(ctx); err != nil {
		return redpacket.Sent{}, err
	}
	return l.Ledger.Send(ctx, o)
}

// Settle implements redpacket.Ledger.
func (l gatedLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if err := l.pass(ctx); err != nil {
		return redpacket.AllUnsettled(len(claims), err)
	}
	return l.Ledger.Settle(ctx, claims)
}

// End implements redpacket.Ledger.
func (l gatedLedger) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	if err := l.pass(ctx); err != nil {
		return redpacket.Closed{}, err
	}
	return l.Ledger.End(ctx, c)
}

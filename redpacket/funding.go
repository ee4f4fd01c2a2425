package redpacket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hongbao/chat"
)

// FundingState is the state of a funding.
type FundingState string

// The states of a funding.
const (
	FundingAsked    FundingState = "asked"    // the host was asked, or is about to be; it may have taken the money from its ledger
	FundingSent     FundingState = "sent"     // the packet was sent with it
	FundingReversed FundingState = "reversed" // it is void: the host must put back the money that it has taken for it
)

// Funding is money that the host moves out of its own ledger into one packet. The funding is stored before the host is asked:
// from then on the host may have taken the money, even if its answer is lost. One of two transactions ends the funding. One
// credits the money and sends the packet: then the funding is sent. The other one writes the event about the reversal: then the
// funding is reversed. Both states are final. A funding for which the host has surely taken nothing may be deleted instead.
//
// A repeated request to send the same packet finds the funding again unless it is reversed, so the host is asked with the same id.
type Funding struct {
	ID      string // the host takes the money at most once for an id
	User    string // the sender
	Room    string
	Key     string // of the request to send the packet
	Total   Money  // of the packet
	State   FundingState
	AskedAt time.Time
	Asks    int // how often the host was asked
}

// Funded is a funding with the host's answer.
type Funded struct {
	Funding

	Amount  Money  // 1 to the packet's total; the wallet pays the rest. 0: not known, because the host's answer is missing
	HostKey string // the host's own name for the debit; empty: not known
}

// CreditKey returns the idempotency key of the credit of a funding.
func (f Funding) CreditKey() string { return "funding:" + f.ID }

// FundingActor is the actor of the credits of fundings.
const FundingActor = "hook"

// Details returns what the events about a funding tell the host, as JSON.
func (f Funded) Details() (json.RawMessage, error) {
	text, err := json.Marshal(struct {
		Funding string `json:"funding"`
		Room    string `json:"room"`
		Key     string `json:"key"`
		Amount  Money  `json:"amount,omitempty"`
		HostKey string `json:"host_key,omitempty"`
	}{f.ID, f.Room, f.Key, f.Amount, f.HostKey})
	if err != nil {
		return nil, fmt.Errorf("encode the details of funding %s: %w", f.ID, err)
	}
	return text, nil
}

// Void returns the error of a packet that cannot be sent because its funding is reversed. The client may repeat the request,
// which then gets a new funding.
func (f Funding) Void() error {
	return fmt.Errorf("funding %s is reversed: %w", f.ID, chat.ErrUnavailable)
}

// Fundings stores fundings in the database of the wallets.
type Fundings interface {
	// OpenFunding stores a funding for which the host is about to be asked. If the same request (User, Room and Key) has a
	// funding that is not reversed, OpenFunding returns that one instead. If that one is in state asked, OpenFunding adds 1 to
	// its Asks and updates its AskedAt. If its total differs, OpenFunding returns chat.ErrKeyReused.
	OpenFunding(ctx context.Context, f Funding) (Funding, error)
	// DropFunding deletes a funding for which the host has taken nothing. It does nothing if the funding is sent or reversed, or
	// if the host was asked more than once, because the host may have taken the money when it was asked another time.
	DropFunding(ctx context.Context, f Funding) error
	// ReverseFunding makes a funding void and writes the event transfer.reversed. It does nothing if the packet was sent with the
	// funding, or if the funding is void already. It stores the amount and the host's key if they are known. It returns true
	// if this call has made the funding void.
	ReverseFunding(ctx context.Context, f Funded, at time.Time) (bool, error)
	// AskedFundings returns fundings for which the host was asked last before the given time, and that are neither sent nor
	// reversed. The oldest comes first.
	AskedFundings(ctx context.Context, before time.Time, limit int) ([]Funding, error)
}

const (
	// fundingAge is how long a funding may stay in state asked. It is longer than a client waits before it repeats a request, so
	// that the repeated request finds the funding again.
	fundingAge   = 15 * time.Second
	fundingEvery = 5 * time.Second
	fundingPage  = 200
)

// OpenFunding stores the funding of a packet before the host is asked. If it returns a funding in state sent, the packet was
// sent before: the caller must not ask the host, and Send returns the first result.
func (s *Service) OpenFunding(ctx context.Context, from string, r SendRequest) (Funding, error) {
	now := s.o.Now()
	return s.o.Fundings.OpenFunding(context.WithoutCancel(ctx), Funding{
		ID: s.o.NewID(now), User: from, Room: r.Room, Key: r.Key, Total: r.Total, State: FundingAsked, AskedAt: now, Asks: 1,
	})
}

// DropFunding deletes a funding for which the host has surely taken nothing. If the deletion fails, the funding is reversed
// later.
func (s *Service) DropFunding(ctx context.Context, f Funding) {
	if err := s.o.Fundings.DropFunding(context.WithoutCancel(ctx), f); err != nil {
		s.o.Log.Debug("funding not deleted", "funding", f.ID, "err", err)
	}
}

// ReverseFunding makes a funding void, unless the packet was sent with it. If that fails, reverseFundings repeats it.
func (s *Service) ReverseFunding(ctx context.Context, f Funded) {
	done, err := s.o.Fundings.ReverseFunding(context.WithoutCancel(ctx), f, s.o.Now())
	switch {
	case err != nil:
		s.o.Log.Warn("funding not reversed yet", "funding", f.ID, "user", f.User, "err", err)
	case done:
		s.counts.fundingsReversed.Add(1)
		s.o.Log.Info("funding reversed", "funding", f.ID, "user", f.User, "amount", f.Amount, "host_key", f.HostKey)
	}
}

// settleFunding follows a call of Send with a funding. If the packet was refused, or was sent before without the funding, the
// funding is reversed. If the outcome is unknown, the funding stays: a repeated request finds it again, and otherwise
// reverseFundings reverses it. The funding also stays if only the commitment was wrong, because clients repeat such a request
// at once.
func (s *Service) settleFunding(ctx context.Context, f Funded, sent Sent, err error) {
	switch {
	case err == nil && !sent.Dup:
		s.counts.fundingsSent.Add(1)
	case err == nil:
		s.ReverseFunding(ctx, f)
	case errors.Is(err, chat.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case errors.As(err, new(*CommitmentError)):
	default:
		s.ReverseFunding(ctx, f)
	}
}

// reverseFundings reverses fundings that are still in state asked after fundingAge. For example, the process was killed, or the
// host's answer never came.
func (s *Service) reverseFundings(ctx context.Context) error {
	for {
		left, err := s.o.Fundings.AskedFundings(ctx, s.o.Now().Add(-fundingAge), fundingPage)
		if err != nil {
			return err
		}
		for _, f := range left {
			done, err := s.o.Fundings.ReverseFunding(ctx, Funded{Funding: f}, s.o.Now())
			if err != nil {
				return err
			}
			if done {
				s.counts.fundingsReversed.Add(1)
				s.o.Log.Info("funding reversed: no packet was sent with it", "funding", f.ID, "user", f.User, "asked", f.AskedAt)
			}
		}
		if len(left) < fundingPage {
			return nil
		}
	}
}

package redpacket

import (
	"context"
	"fmt"
	"time"

	"hongbao/chat"
)

// Wallets is the part of the Ledger with which a host's back end reads wallets, freezes them and limits their users. The service
// itself uses DayUse.
type Wallets interface {
	// Wallets returns the wallets of the given users, in their order. Unknown users are left out. A user that never had money
	// has an empty wallet.
	Wallets(ctx context.Context, users []string) ([]Wallet, error)
	// WalletsAfter lists wallets by user, starting with the user that follows after. Users that never had money may be missing.
	WalletsAfter(ctx context.Context, after string, limit int) ([]Wallet, error)
	// FreezeWallet freezes or unfreezes the wallet of a user. A frozen wallet receives money and spends none. After the call,
	// no new Send or debit succeeds until the wallet is unfrozen: if nothing else is wrong, it fails with ErrWalletFrozen.
	// Freezing a frozen wallet keeps its FrozenAt. FreezeWallet returns chat.ErrNotFound for an unknown user.
	FreezeWallet(ctx context.Context, user string, frozen bool, at time.Time) (Wallet, error)
	// SetOwnLimits replaces the user's own limits per day. It returns chat.ErrNotFound for an unknown user.
	SetOwnLimits(ctx context.Context, user string, own OwnLimits) (Wallet, error)
	// DayUse returns what the user has sent and received in packets on a day, and the user's limits.
	DayUse(ctx context.Context, user string, day Day) (DayUse, error)
	// SetSelfLimits applies SelfLimits.Change. It returns chat.ErrNotFound for an unknown user.
	SetSelfLimits(ctx context.Context, user string, c SelfLimitsChange, now time.Time) error
}

// Wallet is a wallet as the host sees it.
type Wallet struct {
	User     string
	Balance  Money
	Version  int64     // see Account
	FrozenAt time.Time // zero: the wallet is not frozen
	Own      OwnLimits
}

// NoLimit is the value of a limit that does not limit.
const NoLimit int64 = -1

// OwnLimits are the limits per day of one user. For a field that is nil, the user has the usual limit of the service.
type OwnLimits struct {
	Sent, Received *int64 // amounts
	Packets        *int64
}

// Limit is a limit per user and day. The zero value is off: users have no such limit, whatever their own limits say.
type Limit struct {
	On    bool
	Usual int64 // for users without a limit of their own; NoLimit: such users have none
}

// of returns the limit that applies to a user with this own limit, or NoLimit if none applies.
func (l Limit) of(own *int64) int64 {
	switch {
	case !l.On:
		return NoLimit
	case own != nil:
		return *own
	}
	return l.Usual
}

// DayLimits are the limits per user and day. Money that was refunded still counts as sent. Credits and refunds do not count
// as received.
type DayLimits struct {
	Sent     Limit // sum of the packets that a user sends
	Received Limit // sum of the shares that a user gets
	Packets  Limit // number of packets that a user sends
	// Offset is how long before midnight UTC a day begins: 8h for the days of China.
	Offset time.Duration
}

// For returns the limits that apply to a user at a time. A limit that does not apply is NoLimit.
func (l DayLimits) For(used DayUse, now time.Time) (sent, received, packets int64) {
	self := used.Self.At(now)
	return least(l.Sent.of(used.Own.Sent), self.Sent.Most), least(l.Received.of(used.Own.Received), self.Received.Most), l.Packets.of(used.Own.Packets)
}

// Day is one day of the limits per day. It includes From and excludes To.
type Day struct{ From, To time.Time }

// Day returns the day of a time.
func (l DayLimits) Day(t time.Time) Day {
	from := t.Add(l.Offset).UTC().Truncate(24 * time.Hour).Add(-l.Offset)
	return Day{from, from.Add(24 * time.Hour)}
}

// DayUse is what a user has sent and received in packets on a day.
type DayUse struct {
	Sent, Received Money
	Packets        int64
	Own            OwnLimits
	Self           SelfLimits
}

// LimitsSends reports whether the ledger must call CheckDay, of a sender that has set these limits.
func (u UnsealedPacket) LimitsSends(self SelfLimits) bool {
	return u.Limits.Sent.On || u.Limits.Packets.On || self.Sent.Most != nil
}

// CheckDay returns chat.ErrLimitExceeded if the packet goes over a limit of its sender. used is what the sender has sent on the
// packet's day so far. No other packet of the sender may be committed between the reading of used and the commit of this one.
func (u UnsealedPacket) CheckDay(used DayUse) error {
	sent, _, packets := u.Limits.For(used, u.Packet.CreatedAt)
	if packets != NoLimit && used.Packets+1 > packets {
		return overDay("day_packets", packets)
	}
	if sent != NoLimit && int64(used.Sent+u.Packet.Total) > sent {
		return overDay("day_sent", sent)
	}
	return nil
}

// Day returns the day on which the packet counts.
func (u UnsealedPacket) Day() Day { return u.Limits.Day(u.Packet.CreatedAt) }

// overDay returns the error of a user that goes over a limit per day.
func overDay(field string, limit int64) error {
	return &chat.FieldError{Err: chat.ErrLimitExceeded, Field: field, Reason: fmt.Sprintf("must be at most %d a day", limit), Limit: int(limit)}
}

// LimitsOf returns the limits that apply to a user now: see DayLimits.For.
func (s *Service) LimitsOf(used DayUse) (sent, received, packets int64) {
	return s.o.DayLimits.For(used, s.o.Now())
}

// Wallets returns the wallets of the given users. Unknown users are left out.
func (s *Service) Wallets(ctx context.Context, users []string) ([]Wallet, error) {
	return s.ledger.Wallets(ctx, users)
}

// WalletsAfter lists wallets by user.
func (s *Service) WalletsAfter(ctx context.Context, after string, limit int) ([]Wallet, error) {
	return s.ledger.WalletsAfter(ctx, after, limit)
}

// FreezeWallet freezes or unfreezes the wallet of a user.
func (s *Service) FreezeWallet(ctx context.Context, user string, frozen bool) (Wallet, error) {
	return s.ledger.FreezeWallet(ctx, user, frozen, s.o.Now())
}

// SetOwnLimits replaces the user's own limits per day.
func (s *Service) SetOwnLimits(ctx context.Context, user string, own OwnLimits) (Wallet, error) {
	for field, limit := range map[string]*int64{"sent": own.Sent, "received": own.Received, "packets": own.Packets} {
		if limit != nil && (*limit < NoLimit || *limit > int64(MaxMoney)) {
			return Wallet{}, chat.BadField(field, fmt.Sprintf("must be from -1 to %d", MaxMoney))
		}
	}
	return s.ledger.SetOwnLimits(ctx, user, own)
}

// Today returns what the user has sent and received today, and the day.
func (s *Service) Today(ctx context.Context, user string) (DayUse, Day, error) {
	day := s.o.DayLimits.Day(s.o.Now())
	used, err := s.ledger.DayUse(ctx, user, day)
	used.Self = used.Self.At(s.o.Now())
	return used, day, err
}

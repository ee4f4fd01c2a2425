package redpacket

import (
	"context"
	"strconv"
	"unicode/utf8"

	"hongbao/chat"
)

// Account returns the user's account.
func (s *Service) Account(ctx context.Context, user string) (Account, error) {
	return s.ledger.Account(ctx, user)
}

// Transfers lists the user's transfers, newest first.
func (s *Service) Transfers(ctx context.Context, user, next string, limit int) ([]Transfer, string, error) {
	return s.ledger.Transfers(ctx, user, next, limit)
}

const noteChars = 200

// Adjust adds amount to the user's balance from outside, or takes it out if amount is negative. A call with a key that
// was used before changes nothing.
func (s *Service) Adjust(ctx context.Context, user string, amount Money, key, note string) (Account, bool, error) {
	switch {
	case !chat.ValidUser(user):
		return Account{}, false, chat.BadField("user", "must be 1 to 64 of A-Za-z0-9_.:@-")
	case amount == 0 || amount > MaxMoney || amount < -MaxMoney:
		return Account{}, false, chat.BadField("amount", "must be from 1 to "+strconv.FormatInt(int64(MaxMoney), 10))
	case utf8.RuneCountInString(note) > noteChars:
		return Account{}, false, &chat.FieldError{Err: chat.ErrTooLong, Field: "note", Reason: "must have at most " + strconv.Itoa(noteChars) + " characters"}
	}
	if err := chat.CheckKey(key); err != nil {
		return Account{}, false, err
	}
	now := s.o.Now()
	acc, dup, err := s.ledger.Adjust(context.WithoutCancel(ctx), Adjustment{
		ID: s.o.NewID(now), User: user, Amount: amount, Key: key, Note: note, At: now,
		Hash: chat.RequestHash("adjust", user, strconv.FormatInt(int64(amount), 10), note),
	})
	if err != nil || dup {
		return acc, dup, err
	}
	kind := TransferCredit
	if amount < 0 {
		kind = TransferDebit
	}
	s.wallets.publish(user, WalletChanged{Account: acc, Change: amount, Kind: kind})
	return acc, false, nil
}

// Audit checks all books and returns every difference.
func (s *Service) Audit(ctx context.Context) (Audit, error) {
	return s.ledger.Audit(ctx, &AuditQuery{Now: s.o.Now()})
}

package redpacket

import (
	"context"
	"strconv"
	"unicode/utf8"

	"hongbao/chat"
)

// Account gives the user's balance and the commitment of his next packet.
func (s *Service) Account(ctx context.Context, user string) (Account, error) {
	return s.ledger.Account(ctx, user)
}

// Transfers lists the user's movements, newest first.
func (s *Service) Transfers(ctx context.Context, user, next string, limit int) ([]Transfer, string, error) {
	return s.ledger.Transfers(ctx, user, next, limit)
}

const (
	maxMoney  = 1<<53 - 1 // what a JSON number holds exactly
	noteChars = 200
)

// Adjust credits the user from outside, or debits him when the amount is negative. A repeated key changes nothing.
func (s *Service) Adjust(ctx context.Context, user string, amount Money, key, note string) (Account, bool, error) {
	switch {
	case !chat.ValidUser(user):
		return Account{}, false, chat.BadField("user", "must be 1 to 64 of A-Za-z0-9_.:@-")
	case amount == 0 || amount > maxMoney || amount < -maxMoney:
		return Account{}, false, chat.BadField("amount", "must be from 1 to "+strconv.Itoa(maxMoney))
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
	s.wallets.tell(user, WalletChanged{Account: acc, Change: amount, Kind: kind}, "")
	return acc, false, nil
}

// Audit reads the books.
func (s *Service) Audit(ctx context.Context) (Audit, error) { return s.ledger.Audit(ctx, nil) }

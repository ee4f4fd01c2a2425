package redpacket

import (
	"context"
	"strconv"
	"strings"
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

// AdjustRequest is a request to credit a user from outside, or to debit the user if Amount is negative.
type AdjustRequest struct {
	User   string
	Amount Money
	Key    string
	Note   string // the user sees it

	Actor     string // who ordered it
	RequestID string // names the order in the actor's own system
	Reason    string // for auditors; the user does not see it
}

const (
	noteChars      = 200
	requestIDChars = 64
)

// check returns why the request is not valid, or nil.
func (r AdjustRequest) check() error {
	switch {
	case !chat.ValidUser(r.User):
		return chat.BadField("user", "must be 1 to 64 of A-Za-z0-9_.:@-")
	case r.Amount == 0 || r.Amount > MaxMoney || r.Amount < -MaxMoney:
		return chat.BadField("amount", "must be from 1 to "+strconv.FormatInt(int64(MaxMoney), 10))
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"note", r.Note, noteChars}, {"reason", r.Reason, noteChars}, {"request_id", r.RequestID, requestIDChars}} {
		if utf8.RuneCountInString(text.value) > text.most {
			return &chat.FieldError{Err: chat.ErrTooLong, Field: text.field, Reason: "must have at most " + strconv.Itoa(text.most) + " characters"}
		}
		if strings.ContainsRune(text.value, 0) {
			return chat.BadField(text.field, "must not contain U+0000")
		}
	}
	return chat.CheckKey(r.Key)
}

// Adjust adds the amount to the user's balance from outside, or takes it out if it is negative. A call with a key that
// was used before changes nothing.
func (s *Service) Adjust(ctx context.Context, r AdjustRequest) (Account, bool, error) {
	if err := r.check(); err != nil {
		return Account{}, false, err
	}
	now := s.o.Now()
	acc, dup, err := s.ledger.Adjust(context.WithoutCancel(ctx), Adjustment{
		ID: s.o.NewID(now), User: r.User, Amount: r.Amount, Key: r.Key, Note: r.Note, At: now,
		Hash:  chat.RequestHash("adjust", r.User, strconv.FormatInt(int64(r.Amount), 10), r.Note),
		Actor: r.Actor, RequestID: r.RequestID, Reason: r.Reason,
	})
	if err != nil || dup {
		return acc, dup, err
	}
	kind := TransferCredit
	if r.Amount < 0 {
		kind = TransferDebit
	}
	s.o.Log.Info("wallet adjusted", "user", r.User, "amount", r.Amount, "key", r.Key, "actor", r.Actor, "request", r.RequestID, "reason", r.Reason)
	s.wallets.publish(r.User, WalletChanged{Account: acc, Change: r.Amount, Kind: kind})
	return acc, false, nil
}

// Audit checks all books and returns every difference.
func (s *Service) Audit(ctx context.Context) (Audit, error) {
	return s.ledger.Audit(ctx, &AuditQuery{Now: s.o.Now()})
}

package redpacket

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hongbao/chat"
)

// Account returns the user's account.
func (s *Service) Account(ctx context.Context, user string) (Account, error) {
	return s.ledger.Account(ctx, user)
}

// Transfers lists the user's transfers, newest first.
func (s *Service) Transfers(ctx context.Context, user, next string, limit int) ([]LedgerTransfer, string, error) {
	return s.ledger.Transfers(ctx, user, next, limit)
}

// AdjustRequest is a request to credit a user from outside, or to debit the user if Amount is negative.
type AdjustRequest struct {
	User   string
	Amount Money
	Key    string
	Note   string // the user sees it

	Actor     string // the administrator or program that ordered it
	RequestID string // names the order in the actor's own system
	Reason    string // for auditors; the user does not see it
}

const (
	noteChars      = 200
	requestIDChars = 64
)

// check returns an error that says why the request is not valid, or nil.
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

// Adjust credits the user with the amount, or debits the user if the amount is negative. If the same request was made
// before, Adjust changes nothing and returns the present account and true. A used key with another request is
// chat.ErrKeyReused.
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

// headsEvery is the time between two reads of the heads of the hash chains.
const headsEvery = time.Minute

// headWatch keeps the heads of the hash chains that were read last. logHeads copies them to the log, and metrics show them.
// So copies exist outside the database.
type headWatch struct {
	mu    sync.Mutex
	heads []Head // guarded by mu; as read last
}

// Heads returns the newest link of each hash chain.
func (s *Service) Heads(ctx context.Context) ([]Head, error) { return s.ledger.Heads(ctx) }

// KnownHeads returns the heads as they were read last, for metrics. It does not call the engine.
func (s *Service) KnownHeads() []Head {
	s.heads.mu.Lock()
	defer s.heads.mu.Unlock()
	return slices.Clone(s.heads.heads)
}

// logHeads logs the heads that have changed since the last call.
func (s *Service) logHeads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, detachedTimeout)
	defer cancel()
	heads, err := s.ledger.Heads(ctx)
	if err != nil {
		return err
	}
	s.heads.mu.Lock()
	known := s.heads.heads
	s.heads.heads = heads
	s.heads.mu.Unlock()
	if changed := changedHeads(known, heads); changed != "" {
		s.o.Log.Info("heads of hash chains", "heads", changed)
	}
	return nil
}

// changedHeads lists the heads that are not among the known ones, each as chain/link/hash, separated by spaces.
func changedHeads(known, heads []Head) string {
	old := make(map[Head]bool, len(known))
	for _, h := range known {
		old[h] = true
	}
	var changed []string
	for _, h := range heads {
		if !old[h] {
			changed = append(changed, h.String())
		}
	}
	return strings.Join(changed, " ")
}

// String returns the head as it appears in the log.
func (h Head) String() string {
	return fmt.Sprintf("%d/%d/%s", h.Chain, h.Link, hex.EncodeToString(h.Hash[:]))
}

// MarshalText returns String.
func (h Head) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses what MarshalText returns.
func (h *Head) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHead(string(text))
	return err
}

// ParseHead parses what String returns.
func ParseHead(text string) (h Head, err error) {
	var hash []byte
	if n, err := fmt.Sscanf(text, "%d/%d/%x", &h.Chain, &h.Link, &hash); err != nil || n != 3 || len(hash) != len(h.Hash) {
		return Head{}, fmt.Errorf("head %q: want chain/link/hash, the hash as %d hex digits", text, 2*len(h.Hash))
	}
	copy(h.Hash[:], hash)
	return h, nil
}

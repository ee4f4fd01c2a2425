package redpacket

import (
	"cmp"
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
)

// wallets tells users what happened to their money. Of two changes of one user the later one may get here
// first, each with the account as its commit left it; the last word must be true all the same. So the account
// told last is remembered: a change that does not follow from it is told with the account as it is now.
type wallets struct {
	// static after newWallets
	ledger Ledger
	pub    chat.Publisher
	seed   maphash.Seed

	told [1024]told // by hash of the user: what two users share a place for is forgotten, which only a crossing would notice
}

// told is the account that a user heard of last. Its lock is held while he is told, so that nobody overtakes.
type told struct {
	mu      sync.Mutex
	user    string
	account Account
}

func newWallets(ledger Ledger, pub chat.Publisher) *wallets {
	return &wallets{ledger: ledger, pub: pub, seed: maphash.MakeSeed()}
}

// tell sends the user a change of his money that has been committed. A packet that he sent used up a commitment.
func (w *wallets) tell(user string, e WalletChanged, used string) {
	before := Account{Balance: e.Account.Balance - e.Change, NextCommitment: cmp.Or(used, e.Account.NextCommitment)}
	last := &w.told[maphash.String(w.seed, user)%uint64(len(w.told))]
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.user == user && last.account != before {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // neighbours wait meanwhile
		defer cancel()
		if now, err := w.ledger.Account(ctx, user); err == nil { // else the next change sets it right
			e.Account = now
		}
	}
	last.user, last.account = strings.Clone(user), e.Account
	w.pub.ToUser(user, e)
}

package redpacket

import (
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
)

// wallets publishes changes of balances to their users. Two changes of one user may arrive here in the wrong order.
// Clients that read the version ignore the older account. For other clients the last push of an instance must be
// right. So a change that is older than the last push is published with the account of that last push.
type wallets struct {
	pub  chat.Publisher
	seed maphash.Seed

	// The index is a hash of the user. Of two users with the same index only the later push is kept. That matters only
	// if two changes of the other user arrive in the wrong order at that moment.
	lastPushes [1024]lastPush
}

// lastPush is the account that was published last. Its lock is held while an account is published, which does not
// block.
type lastPush struct {
	mu      sync.Mutex
	user    string
	account Account
	at      time.Time
}

// reorderWindow is how long after a push an older change of the same user may still arrive. A change with a lower
// version that comes later means that SQL has lost the changes that were published before. It is published as it is.
const reorderWindow = 10 * time.Second

func newWallets(pub chat.Publisher) *wallets { return &wallets{pub: pub, seed: maphash.MakeSeed()} }

// publish publishes a committed change to the user.
func (w *wallets) publish(user string, e WalletChanged) {
	last := &w.lastPushes[maphash.String(w.seed, user)%uint64(len(w.lastPushes))]
	last.mu.Lock()
	defer last.mu.Unlock()
	if now := time.Now(); last.user == user && last.account.Version > e.Account.Version && now.Sub(last.at) < reorderWindow {
		e.Account = last.account
	} else {
		last.user, last.account, last.at = strings.Clone(user), e.Account, now
	}
	w.pub.ToUser(user, e)
}

// clear forgets the last pushes: the next account of each user is published as it is, even if its version is lower.
func (w *wallets) clear() {
	for i := range w.lastPushes {
		last := &w.lastPushes[i]
		last.mu.Lock()
		last.user, last.account, last.at = "", Account{}, time.Time{}
		last.mu.Unlock()
	}
}

package redpacket

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
)

// recovery settles claims that stay in the outbox, because the instance of the grab has died or could not settle or ack
// them. It publishes changed wallets and progress, but no result of these grabs, and grants nothing. A claim leaves the
// outbox only when it is paid or refused for good, or when it is put into quarantine. A claim that cannot be settled now
// stays in the outbox and is paused. Other claims do not wait for it, except those of the same user or packet.
type recovery struct {
	flow  *flow
	aside retries[Claim] // claims that could not be settled, and their pauses, by claim without At
	stuck stuckRows      // what could not be settled in the present pass
}

const (
	recoverAge  = 5 * time.Second // age from which recovery settles a claim
	recoverPage = 4_000           // about the most claims that are read from the outbox at a time

	asideCapacity = 50_000
	asideLeast    = time.Second
	asideMost     = time.Minute
)

func newRecovery(f *flow) *recovery {
	return &recovery{flow: f, aside: retries[Claim]{least: asideLeast, most: asideMost, capacity: asideCapacity}}
}

// run goes through the outbox once and settles its claims that are old enough and not paused. If the ledger is out of reach,
// run stops with an error, and pauses no claim because of that. It also returns an error if there are unsettled claims in
// aside at the end.
func (r *recovery) run(ctx context.Context) error {
	r.stuck = stuckRows{}
	for from := new(OutboxCursor); !from.Done(); {
		claims, err := r.flow.pool.Unsettled(ctx, recoverAge, from, recoverPage)
		if err != nil {
			return err
		}
		crashpoint.Here("recover.after-list")
		if err := r.settlePage(ctx, r.due(claims)); err != nil {
			return err
		}
	}
	r.aside.expire(r.flow.now())
	if n := r.aside.count(); n > 0 {
		return fmt.Errorf("%d claims are set aside, the last for: %w", n, cmp.Or(r.stuck.cause, chat.ErrUnavailable))
	}
	return nil
}

// due returns the claims that are to be settled now. It leaves out paused claims. It also leaves out claims whose user or
// packet is in stuck, because a locked row delays its whole batch by seconds.
func (r *recovery) due(claims []Claim) []Claim {
	now := r.flow.now()
	return slices.DeleteFunc(claims, func(c Claim) bool { return r.stuck.has(c) || r.aside.paused(asideKey(c), now) })
}

// settlePage settles the claims in batches, at the same time if the flow can: a batch that waits for a locked row
// delays no other.
func (r *recovery) settlePage(ctx context.Context, claims []Claim) error {
	var (
		mu     sync.Mutex
		failed error
		tasks  []func()
	)
	for batch := range slices.Chunk(claims, settleBatch) {
		tasks = append(tasks, func() {
			err := cmp.Or(ctx.Err(), r.settle(ctx, batch))
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	r.flow.run(tasks)
	return failed
}

// settle settles a batch of claims and pauses those that could not be settled. If the ledger is out of reach, it
// returns an error and pauses none.
func (r *recovery) settle(ctx context.Context, batch []Claim) error {
	if err := r.flow.ledger.OutOfReach(); err != nil {
		return err
	}
	tried := make([]Claim, len(batch)) // only their keys, taken now because ackSettled overwrites the batch
	for i, c := range batch {
		tried[i] = asideKey(c)
	}
	settled := r.flow.ledger.Settle(ctx, batch)
	crashpoint.Here("recover.after-settle")
	left, err := r.flow.ackSettled(ctx, batch, settled)
	crashpoint.Here("recover.after-ack")
	if down := r.flow.ledger.OutOfReach(); err != nil && down != nil {
		return down
	}
	now := r.flow.now()
	unsettled := map[Claim]bool{}
	for _, c := range left {
		unsettled[asideKey(c)] = true
	}
	goesOn := map[string]bool{} // packets of which this batch has settled a claim
	for _, c := range tried {
		if unsettled[c] {
			r.aside.fail(c, now)
		} else {
			r.aside.forget(c)
			goesOn[c.ID] = true
		}
	}
	r.stuck.add(left, goesOn, err)
	return nil
}

// stuckRows holds the users and packets of which claims could not be settled in the present pass. It is safe for
// concurrent use.
type stuckRows struct {
	mu      sync.Mutex
	users   map[string]bool // guarded by mu
	packets map[string]bool // guarded by mu
	cause   error           // guarded by mu; reason of the last failure
}

func (s *stuckRows) has(c Claim) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[c.User] || s.packets[c.ID]
}

// add records the users of claims that could not be settled. It records their packets, too, except packets in goesOn: the row
// of such a packet is not locked, because another claim of the packet was settled. A recorded packet stays
// recorded until the pass ends, because batches end in any order.
func (s *stuckRows) add(claims []Claim, goesOn map[string]bool, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		s.users, s.packets = map[string]bool{}, map[string]bool{}
	}
	for _, c := range claims {
		s.users[c.User] = true
		s.packets[c.ID] = s.packets[c.ID] || !goesOn[c.ID]
		s.cause = cause
	}
}

// asideKey returns the claim in the form in which it is a key of recovery.aside.
func asideKey(c Claim) Claim {
	c.At = time.Time{}
	return c
}

// retries records failures by key, and when each key may be tried again. The pauses of a key double from least up to
// most. The number of keys is bounded by capacity: a failed key beyond it is not recorded, and so has no pause.
type retries[K comparable] struct {
	// static
	least, most time.Duration
	capacity    int

	mu     sync.Mutex
	failed map[K]retry // guarded by mu
}

// retry is the record of one failed key.
type retry struct {
	at    time.Time     // end of the pause
	pause time.Duration // length of the pause
}

// paused reports whether k has failed and must not be tried again yet.
func (r *retries[K]) paused(k K, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, found := r.failed[k]
	return found && now.Before(f.at)
}

// fail records that k has failed now, and begins its next pause.
func (r *retries[K]) fail(k K, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, found := r.failed[k]
	if !found && len(r.failed) >= r.capacity {
		return
	}
	if r.failed == nil {
		r.failed = map[K]retry{}
	}
	f.pause = min(max(2*f.pause, r.least), r.most)
	f.at = now.Add(f.pause)
	r.failed[k] = f
}

// forget removes the record of k, because k has succeeded or does not exist any more.
func (r *retries[K]) forget(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, k)
}

// expire removes keys whose pause ended more than r.most ago. No caller has tried these keys again, so they probably do not
// exist any more.
func (r *retries[K]) expire(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, f := range r.failed {
		if now.After(f.at.Add(r.most)) {
			delete(r.failed, k)
		}
	}
}

// count returns the number of recorded keys.
func (r *retries[K]) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failed)
}

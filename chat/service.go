package chat

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Options configures a Service. The zero value works.
type Options struct {
	Now    func() time.Time
	NewID  func(time.Time) string
	Limits Limits // zero fields: DefaultLimits
	Log    *slog.Logger

	Presence Presence // nil: all users count as offline
}

// Service implements all that users do with rooms. Everything that it publishes was committed before.
type Service struct {
	// static after New
	store    Store
	pub      Publisher
	now      func() time.Time
	newID    func(time.Time) string
	limits   Limits
	presence Presence // nil: all users count as offline

	epoch        atomic.Pointer[string]
	epochs       atomic.Int64 // counts the changes of epoch
	users        *cache[account]
	standings    *cache[Standing]
	deleted      *deletedSet
	memberCounts memberCounts
	typing       typing
	onlineCounts onlineCounts
}

// New returns a service over a store. It publishes to pub what the store has committed.
func New(store Store, pub Publisher, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = NewID
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Service{
		store: store, pub: pub, now: o.Now, newID: o.NewID, limits: o.Limits.withDefaults(), presence: o.Presence,
		users: newCache[account](1 << 16), standings: newCache[Standing](1 << 17), deleted: newDeletedSet(50_000),
		memberCounts: memberCounts{store: store, pub: pub, log: o.Log, rooms: map[string]bool{}},
		typing:       typing{users: map[memberKey]time.Time{}, rooms: map[string]*roomRate{}},
		onlineCounts: onlineCounts{rooms: map[string]*onlineCount{}},
	}
}

// Stop ends the background work, the counting of members. Call it before the store is closed. All methods still work
// afterwards.
func (s *Service) Stop() { s.memberCounts.stop() }

// Limits returns the limits that the service applies.
func (s *Service) Limits() Limits { return s.limits }

// Renew drops everything that the service remembers from the store, and makes it go on in an epoch. Call it when the
// database has lost commits, or may have lost some.
func (s *Service) Renew(epoch string) {
	if before := s.epoch.Swap(&epoch); before != nil && *before != epoch {
		s.epochs.Add(1)
	}
	s.deleted.clear()
	s.standings.clear()
	s.users.clear()
}

// Epochs returns how often the epoch has changed in this process.
func (s *Service) Epochs() int64 { return s.epochs.Load() }

// Epoch returns the database's epoch, which names the numbering of entries. Seqs of another epoch mean nothing in it.
func (s *Service) Epoch(ctx context.Context) (string, error) {
	if known := s.epoch.Load(); known != nil {
		return *known, nil
	}
	epoch, err := s.store.Epoch(ctx)
	if err != nil {
		return "", err
	}
	s.epoch.Store(&epoch)
	return epoch, nil
}

// unlessKeyUsed returns the fault that was found in a request, or nil if the request's key was used before. The store
// looks up the key before it checks anything else: the result of the first use is the answer, even to a faulty
// request.
func (s *Service) unlessKeyUsed(ctx context.Context, user, key string, fault error) error {
	if fault == nil || CheckKey(key) != nil {
		return fault
	}
	used, err := s.store.KeyUsed(ctx, user, key)
	switch {
	case err != nil:
		return err
	case used:
		return nil
	}
	return fault
}

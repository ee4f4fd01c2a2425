package chat

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Options of a Service; the zero value works.
type Options struct {
	Now    func() time.Time
	NewID  func(time.Time) string
	Limits Limits // zero fields: DefaultLimits
	Log    *slog.Logger

	Presence Presence // nil: nobody is online
}

// Service is everything that people do with rooms. It publishes only what has been committed.
type Service struct {
	// static after New
	store    Store
	pub      Publisher
	now      func() time.Time
	newID    func(time.Time) string
	limits   Limits
	presence Presence // nil: nobody is online

	epoch     atomic.Pointer[string]
	users     *cache[account]
	standings *cache[Standing]
	deleted   *deleted
	counting  counting
	typing    typing
	crowds    crowds
}

// New makes a service over a store that tells pub what it has committed.
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
		users: newCache[account](1 << 16), standings: newCache[Standing](1 << 17), deleted: newDeleted(50_000),
		counting: counting{store: store, pub: pub, log: o.Log, rooms: map[string]bool{}},
		typing:   typing{seats: map[seat]time.Time{}, rooms: map[string]*typists{}},
		crowds:   crowds{rooms: map[string]*crowd{}},
	}
}

// Stop ends what goes on by itself, the counting of members, before the store is closed. All else still works.
func (s *Service) Stop() { s.counting.stop() }

// Limits in force.
func (s *Service) Limits() Limits { return s.limits }

// Epoch names the numbering of all rooms.
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

// unlessUsed gives the fault that was found in a request, or nil when its key was used before: a key is
// looked up before anything else is checked, and the store will do so.
func (s *Service) unlessUsed(ctx context.Context, user, key string, fault error) error {
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

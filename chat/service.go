package chat

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
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
	store  Store
	pub    Publisher
	now    func() time.Time
	newID  func(time.Time) string
	limits Limits

	epoch     atomic.Pointer[string]
	users     *cache[User] // as the store has them
	standings *cache[Standing]
	counting  counting
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
		store: store, pub: pub, now: o.Now, newID: o.NewID, limits: o.Limits.withDefaults(),
		users: newCache[User](1 << 16), standings: newCache[Standing](1 << 17),
		counting: counting{store: store, pub: pub, log: o.Log, rooms: map[string]bool{}},
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

// SignIn notes the user as his token shows him. One who is as he was last time costs nothing.
func (s *Service) SignIn(ctx context.Context, u User) error {
	if err := checkID("user", u.ID); err != nil {
		return err
	}
	if known, _, ok := s.users.get(seat{user: u.ID}); ok && known == u {
		return nil
	}
	version := s.users.drop(seat{user: u.ID})
	if _, err := s.store.PutUser(ctx, u); err != nil {
		return err
	}
	u.ID = strings.Clone(u.ID) // what is kept must not hold a whole request in memory
	u.Name, u.Avatar = strings.Clone(u.Name), strings.Clone(u.Avatar)
	s.users.put(seat{user: u.ID}, u, version)
	return nil
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

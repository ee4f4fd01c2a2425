package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"hongbao/chat/rules"
)

// Options configures a Service. The zero value works.
type Options struct {
	Now    func() time.Time
	NewID  func(time.Time) string
	Limits Limits // zero fields: DefaultLimits
	Log    *slog.Logger

	Presence Presence // nil: all users count as offline
	Indexer  *Indexer // nil: there is no search
	Limiter  Limiter  // of all instances; nil: rules about how often a user writes are not applied

	Retention Retention

	Rules func() *rules.Set // returns the rules of the installation; nil: there are none
}

// Service carries out the commands about users, rooms and entries, except those about packets. It publishes a stored change only
// after its commit.
type Service struct {
	// static after New
	store    Store
	pub      Publisher
	now      func() time.Time
	newID    func(time.Time) string
	limits   Limits
	presence Presence // nil: all users count as offline
	order    order

	epoch        atomic.Pointer[string]
	epochs       atomic.Int64 // counts the changes of epoch
	users        *cache[account]
	standings    *cache[heldStanding]
	userChanges  userChanges
	deleted      *deletedSet
	memberCounts memberCounts
	typing       typing
	onlineCounts onlineCounts
	kinds        roomKinds
	repeats      repeats       // of notices about users
	roomRepeats  repeats       // of notices about rooms
	indexer      *Indexer      // static; nil: there is no search
	erasing      chan struct{} // static; holds a value after Erase
	retention    retention
	log          *slog.Logger // static
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
	s := &Service{
		store: store, pub: pub, now: o.Now, newID: o.NewID, limits: o.Limits.withDefaults(), presence: o.Presence,
		users: newCache[account](1 << 16), standings: newCache[heldStanding](1 << 17), deleted: newDeletedSet(50_000),
		memberCounts: memberCounts{store: store, pub: pub, log: o.Log, rooms: map[string]bool{}},
		typing:       typing{users: map[memberKey]time.Time{}, rooms: map[string]*roomRate{}},
		onlineCounts: onlineCounts{rooms: map[string]*onlineCount{}},
	}
	s.userChanges.seed = maphash.MakeSeed()
	s.indexer, s.erasing, s.log = o.Indexer, make(chan struct{}, 1), o.Log
	s.order.installation, s.order.limiter, s.order.log = o.Rules, o.Limiter, o.Log
	s.retention.Retention = o.Retention
	s.repeats = repeats{tell: func(k memberKey) { s.tellChanged(k.room, k.user) }, left: map[memberKey]int{}}
	s.roomRepeats = repeats{tell: func(k memberKey) { s.pub.ToRoom(k.room, OutcomeUnknown{}) }, left: map[memberKey]int{}}
	return s
}

// Stop ends the background work: numbers of members are no longer published, and notices no longer repeated. Call it before the store
// is closed. All other work of the methods continues.
func (s *Service) Stop() {
	s.memberCounts.stop()
	s.repeats.stop()
	s.roomRepeats.stop()
}

// Limits returns the limits that the service applies.
func (s *Service) Limits() Limits { return s.limits }

// Renew drops the standings, users and deleted rooms from the caches, and sets the epoch that Epoch returns. Call it when the
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

// account is what the store knows of a user.
type account struct {
	User // zero: it is not known which name and avatar the store has

	notBefore int64     // tokens issued at or before this Unix second are refused; 0: none are
	until     time.Time // when the store is asked again
}

// SuspendedSecond stands for the second up to which the tokens of a suspended user are refused: no token is issued later.
const SuspendedSecond = math.MaxInt64

// A cached account is used no longer than accountFor, and that of a suspended user no longer than suspendedFor, in case the notice
// of a revocation, a suspension or a reinstatement is lost.
// Package session also asks the store for revocations of users that have a socket: every 10 seconds, or every second while the
// bus is lost. Commands over HTTP have only the cache.
const (
	accountFor   = 10 * time.Second
	suspendedFor = 5 * time.Second
)

// refusal returns ErrSuspended or ErrRevoked if a token issued at this time is refused.
func (a account) refusal(issued time.Time) error {
	if a.refuses(issued) && a.notBefore != SuspendedSecond {
		return ErrRevoked
	}
	return a.suspension()
}

// suspension returns ErrSuspended if the user is suspended.
func (a account) suspension() error {
	if a.notBefore == SuspendedSecond {
		return ErrSuspended
	}
	return nil
}

// refuses reports whether a token issued at this time was revoked. The zero time stands for a token that does not say
// when it was issued; such a token is older than any revocation.
func (a account) refuses(issued time.Time) bool {
	return a.notBefore > 0 && issued.Unix() <= a.notBefore
}

// SignIn stores the user's name and avatar as they are in the user's token. If nothing has changed, it writes nothing.
func (s *Service) SignIn(ctx context.Context, u User) error {
	_, err := s.account(ctx, Profile{User: u}, s.now())
	return err
}

// Admit stores what a token says about its user, and returns the user as others see them. The token was issued at the
// given time; the zero time means that the token does not say. Admit returns ErrRevoked if the token was revoked, and
// ErrSuspended if the user is suspended.
func (s *Service) Admit(ctx context.Context, p Profile, issued time.Time) (User, error) {
	if known, _, ok := s.users.get(memberKey{user: p.ID}); ok && s.now().Before(known.until) {
		if err := known.refusal(issued); err != nil {
			return User{}, err // the name and avatar in a refused token are ignored
		}
	}
	a, err := s.account(ctx, p, issued)
	if err == nil {
		err = a.refusal(issued)
	}
	if err != nil {
		return User{}, err
	}
	return a.User, nil
}

// CheckSuspended returns ErrSuspended if the user is suspended.
func (s *Service) CheckSuspended(ctx context.Context, user string) error {
	known, version, ok := s.users.get(memberKey{user: user})
	if ok && s.now().Before(known.until) {
		return known.suspension()
	}
	revoked, err := s.store.Revoked(ctx, []string{user})
	if err != nil {
		return err
	}
	a := account{notBefore: revoked[user], until: s.now().Add(suspendedFor)} // the name and avatar are not known
	s.users.put(memberKey{user: strings.Clone(user)}, a, version)
	return a.suspension()
}

// Revoke revokes all tokens of the user that were issued up to now.
func (s *Service) Revoke(ctx context.Context, user string) error {
	if !ValidUser(user) {
		return BadField("user", "must be 1 to 64 of A-Z a-z 0-9 _ . : @ -")
	}
	err := s.store.Revoke(ctx, user, s.now().Unix())
	s.Forget("", user) // also after an error: the outcome may be unknown
	if err != nil {
		return err
	}
	s.pub.StandingChanged("", user)
	return nil
}

// Revoked returns the Unix second up to which the tokens of these users are refused, as the store has it now. Users whose
// tokens were never revoked are left out. Of a suspended user the second is SuspendedSecond.
func (s *Service) Revoked(ctx context.Context, users []string) (map[string]int64, error) {
	return s.store.Revoked(ctx, users)
}

// account stores what a token says about its user, unless the token was revoked or the user is suspended. It returns what the
// store then knows of the user.
func (s *Service) account(ctx context.Context, p Profile, issued time.Time) (account, error) {
	if err := checkID("user", p.ID); err != nil {
		return account{}, err
	}
	if known, _, ok := s.users.get(memberKey{user: p.ID}); ok && known.has(p) && s.now().Before(known.until) {
		return known, nil
	}
	version := s.users.drop(memberKey{user: p.ID})
	stored, notBefore, err := s.store.PutUser(ctx, p, max(issued.Unix(), 0))
	if err != nil {
		return account{}, err
	}
	id := strings.Clone(p.ID) // a copy: a cached part of a string would keep the whole request in memory
	a := account{notBefore: notBefore, until: s.now().Add(accountFor)}
	if notBefore == SuspendedSecond {
		a.until = s.now().Add(suspendedFor)
	}
	if !a.refuses(issued) { // after a refusal it is not known which name and avatar the store has
		a.User = User{ID: id, Name: strings.Clone(stored.Name), Avatar: strings.Clone(stored.Avatar)}
	}
	s.users.put(memberKey{user: id}, a, version)
	return a, nil
}

// has reports whether storing the profile would change nothing.
func (a account) has(p Profile) bool {
	return a.ID == p.ID && (p.KeepName || a.Name == p.Name) && (p.KeepAvatar || a.Avatar == p.Avatar)
}

const personChars = 64

// CheckPerson returns an error unless the text may name a person: at most 64 characters without controls. "" names none.
func CheckPerson(person string) error {
	if utf8.RuneCountInString(person) > personChars || !utf8.ValidString(person) || strings.ContainsFunc(person, unicode.IsControl) {
		return BadField("person", "must have at most 64 characters, and no controls")
	}
	return nil
}

const keyChars = 64

// CheckKey returns an error unless the client's key has a valid form: 1 to 64 characters from '!' to '~'.
func CheckKey(key string) error {
	if key == "" || len(key) > keyChars {
		return BadField("key", "must have 1 to 64 characters")
	}
	for i := range len(key) {
		if key[i] < '!' || key[i] > '~' {
			return BadField("key", "must have only characters from ! to ~")
		}
	}
	return nil
}

// RequestHash returns the hash of a request's content, to tell whether a repeated key comes with the same content. The caller
// passes the decoded fields, in most commands after defaults are applied, in an order that never changes. The length of each
// field is hashed before the field, so that no two different requests hash the same bytes.
func RequestHash(method string, fields ...string) []byte {
	text := binary.AppendUvarint(nil, uint64(len(method)))
	text = append(text, method...)
	for _, f := range fields {
		text = binary.AppendUvarint(text, uint64(len(f)))
		text = append(text, f...)
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

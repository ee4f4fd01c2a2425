package redpacket

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm" // the Unicode tables are not in the standard library

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// Outcome says how a grab ended. Every outcome is an answer to the user, not an error.
type Outcome string

// The outcomes.
const (
	OutcomeWon     Outcome = "won"     // this request got a share, and the claim is committed
	OutcomeAlready Outcome = "already" // the user has won before: always the same share
	OutcomeEmpty   Outcome = "empty"   // no share is left
	OutcomeExpired Outcome = "expired" // the deadline has passed, or the packet has ended with shares left
	OutcomeEntered Outcome = "entered" // the user takes part in the draw, or in the wave
	OutcomeMissed  Outcome = "missed"  // no wave of the rain can be entered now
	// OutcomeElsewhere means that another account of the user's person is the one that gets a share, or takes part.
	OutcomeElsewhere Outcome = "elsewhere"
)

// Result is the answer to a grab.
type Result struct {
	Packet  string
	Outcome Outcome
	Amount  Money // set for won and already
	Rank    int   // set for won and already; from 1
	At      time.Time
	Account *Account // for won: the user's account after the payment; nil if another call has made the payment
	Claimed int
	Count   int
	Waiting int // of empty: shares that are held for users that are away; they are free to all later

	Participants int            // of a draw or wave that has not ended
	Wave         int            // of a rain: which can be entered now; 0: none
	Receipt      *proof.Receipt // set for entered

	Other string // set for elsewhere: the user that is the other account
}

// GrabRequest is one user's grab of a packet.
type GrabRequest struct {
	User       string
	Person     string // of the user, as the host knows it; "": a person of their own
	Packet     string
	Passphrase string
	// Admit may refuse the grab of a packet that is not known to have ended. waited means that Admit has waited for somebody: then
	// the user's standing in the room is read again. nil admits every grab.
	Admit func(ctx context.Context, room string) (waited bool, err error)
}

// Grab takes a share of the packet for the user, or returns the outcome that says why there is none. It returns "won"
// and "already" only for committed claims. Once the Pool is called, the work continues when ctx ends: the service still tries
// to settle a share that the Pool has granted.
func (s *Service) Grab(ctx context.Context, r GrabRequest) (Result, error) {
	result, err := s.grab(ctx, r)
	s.count(result, err)
	return result, err
}

func (s *Service) grab(ctx context.Context, r GrabRequest) (Result, error) {
	k, err := s.lookup(ctx, r.Packet)
	if err != nil {
		return Result{}, err
	}
	standing, err := s.rooms.Standing(ctx, k.packet.Room, r.User)
	if err != nil {
		return Result{}, err
	}
	if final := k.final.Load(); final != nil {
		return final.answer(&k.packet, r.User, standing)
	}
	if !standing.Ever {
		return Result{}, chat.ErrNotFound
	}
	waited := false
	if r.Admit != nil {
		if waited, err = r.Admit(ctx, k.packet.Room); err != nil {
			return Result{}, err
		}
	}
	if k.packet.IsDraw() {
		return s.enter(ctx, r, k, standing, waited)
	}
	began := time.Now()
	result, err := s.grabOpen(ctx, r, k, standing, waited)
	if result.Outcome == OutcomeWon {
		s.answerTime.Observe(int64(time.Since(began)))
	}
	return result, err
}

func (s *Service) count(r Result, err error) {
	switch {
	case err != nil:
		s.counts.failed.Add(1)
	case r.Outcome == OutcomeWon:
		s.counts.won.Add(1)
	case r.Outcome == OutcomeAlready:
		s.counts.already.Add(1)
	case r.Outcome == OutcomeEmpty:
		s.counts.empty.Add(1)
	case r.Outcome == OutcomeExpired:
		s.counts.expired.Add(1)
	case r.Outcome == OutcomeEntered:
		s.counts.entered.Add(1)
	case r.Outcome == OutcomeMissed:
		s.counts.missed.Add(1)
	case r.Outcome == OutcomeElsewhere:
		s.counts.elsewhere.Add(1)
	}
}

// grabOpen grabs a packet that is not known to have ended.
func (s *Service) grabOpen(ctx context.Context, r GrabRequest, k *cachedPacket, standing chat.Standing, waited bool) (Result, error) {
	if err := s.clocks.err(); err != nil {
		return Result{}, err
	}
	if k.stall.refuses(s.o.Now()) {
		return Result{}, fmt.Errorf("grab %s: its claims cannot be settled: %w", k.packet.ID, chat.ErrUnavailable)
	}
	done, deny, err := s.receive(ctx, r.User, standing)
	if err != nil {
		return Result{}, err
	}
	defer done()
	if standing, err = s.confirmStanding(ctx, k, r.User, standing, waited); err != nil {
		return Result{}, err
	}
	a := Attempt{Ref: k.packet.Ref, User: r.User}
	if deny != nil {
		a.May = Denied
	}
	if !standing.In {
		a.May, deny = NotMember, outside(standing)
	} else if why := s.deny(ctx, &k.packet, r, standing); why != nil {
		a.May, deny = Denied, why
	}
	v, err := s.grabAs(ctx, k, r, a, deny)
	switch {
	case v.last:
		s.closeSoon(k.packet.Ref)
	case v.ended:
		s.learnEnd(k)
	}
	if errors.Is(err, ErrNotYet) {
		err = k.packet.notYet()
	}
	if err != nil {
		return Result{}, err
	}
	return v.result(&k.packet), nil
}

// receive waits until no other grab of the user runs on this instance, and checks whether the user may receive more today. If
// neither the service nor the user has limited received amounts, it does neither. deny is the reason if the user may not receive more; err means that
// receive could not check it. If err is nil, the caller must call done after the grab has ended. The share that crosses the
// limit is paid whole, because its amount is not known before the grant. So is a share that another instance grants at the
// same time.
func (s *Service) receive(ctx context.Context, user string, standing chat.Standing) (done func(), deny, err error) {
	if !s.o.DayLimits.Received.On && !standing.SelfLimited {
		return func() {}, nil, nil
	}
	done, err = s.receivers.Lock(ctx, user)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: another grab of the user takes too long: %w", chat.ErrUnavailable, err)
	}
	used, _, err := s.Today(ctx, user)
	if err != nil {
		done()
		return nil, nil, err
	}
	if _, most, _ := s.o.DayLimits.For(used, s.o.Now()); most != NoLimit && int64(used.Received) >= most {
		deny = overDay("day_received", most)
	}
	return done, deny, nil
}

// result converts the outcome of a grab into the Result for the caller.
func (v *grabbed) result(p *Packet) Result {
	r := Result{Packet: p.ID, Outcome: v.outcome, Claimed: v.taken, Count: p.Count, Waiting: v.waiting, Other: v.other}
	if v.outcome == OutcomeWon || v.outcome == OutcomeAlready {
		r.Amount, r.Rank, r.At = v.paid.Amount, v.paid.Share+1, v.paid.At
	}
	if v.outcome == OutcomeWon && v.paid.Verdict == PaidNow {
		account := v.paid.Account // a copy, so that the Result does not keep all of v alive
		r.Account = &account
	}
	return r
}

// confirmStanding looks up the standing again if time may have passed since it was read: in Admit, or in receive. If the packet is
// for earlier members and the cached standing lets the user grab it, confirmStanding also reads the standing from the store: the
// cache may not know yet that the user has left and joined again through another instance. A cached standing that refuses the user
// is not read again, because JoinedSeq only grows.
func (s *Service) confirmStanding(ctx context.Context, k *cachedPacket, user string, standing chat.Standing, waited bool) (_ chat.Standing, err error) {
	p := &k.packet
	if waited || s.o.DayLimits.Received.On || standing.SelfLimited {
		if standing, err = s.rooms.Standing(ctx, p.Room, user); err != nil {
			return standing, err
		}
	}
	if p.EarlierMembers && standing.JoinedBefore(p.Seq) {
		return s.rooms.StoredStanding(ctx, p.Room, user)
	}
	return standing, nil
}

// deny returns the reason why a member may not grab the packet, or nil. The Pool applies the reason only while the packet is
// open with shares left, its deadline has not come, and the user has no share.
func (s *Service) deny(ctx context.Context, p *Packet, r GrabRequest, standing chat.Standing) error {
	switch {
	case len(p.To) > 0 && !slices.Contains(p.To, r.User):
		return ErrNotRecipient
	case p.EarlierMembers && !standing.JoinedBefore(p.Seq):
		return ErrJoinedLater
	case p.Passphrase != "" && s.o.Now().Before(p.OpensAt): // it costs no try, and tells nothing
		return p.notYet()
	}
	return s.passphrases.check(ctx, p, r.User, r.Passphrase)
}

// outside returns the error for a user that was a member of the room and is no more.
func outside(s chat.Standing) error {
	if s.RoomDeleted {
		return chat.ErrNotFound
	}
	return chat.ErrNotMember
}

// learnEnd reads, in the background, the final state of a packet that has ended, mostly by another instance, and keeps it in
// memory. Later grabs of the packet are then answered from memory. If SQL has the packet still open, or cannot be read, a
// later grab calls learnEnd again.
func (s *Service) learnEnd(k *cachedPacket) {
	if !k.learning.CompareAndSwap(false, true) {
		return
	}
	s.background.start(func() {
		defer k.learning.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
		defer cancel()
		if book, err := s.ledger.Book(ctx, k.packet.ID); err == nil && book.Status != Open {
			s.memory.finish(book)
			s.progress.end(k.packet.ID)
		}
	})
}

// answer returns the result of a grab of a finished packet, from memory. It makes its checks in the same order as the
// Pool.
func (e *finalState) answer(p *Packet, user string, standing chat.Standing) (Result, error) {
	if !standing.Ever {
		return Result{}, chat.ErrNotFound
	}
	r := Result{Packet: p.ID, Outcome: e.outcome, Claimed: e.claimed, Count: p.Count}
	if won, ok := e.winners[user]; ok {
		r.Outcome, r.Amount, r.Rank, r.At = OutcomeAlready, won.amount, won.share+1, won.at
		return r, nil
	}
	if !standing.In {
		return Result{}, outside(standing)
	}
	return r, nil
}

// FinishedGrab is a grab that can be answered from memory. Answer it at once and do not keep it.
type FinishedGrab struct {
	service  *Service
	known    *cachedPacket
	final    *finalState
	user     string
	standing chat.Standing
}

// FromMemory returns the grab if the end of the packet and, as cached knows, the user's standing in its room are in memory. Most
// grabs are such.
func (s *Service) FromMemory(user, packet string, cached func(room, user string) (chat.Standing, bool)) (g FinishedGrab, ok bool) {
	k := s.memory.get(packet)
	if k == nil {
		return g, false
	}
	if g.final = k.final.Load(); g.final == nil {
		return g, false
	}
	g.service, g.known, g.user = s, k, user
	g.standing, ok = cached(k.packet.Room, user)
	return g, ok
}

// Answer returns what Grab returns, and does not block.
func (g *FinishedGrab) Answer() (Result, error) {
	r, err := g.final.answer(&g.known.packet, g.user, g.standing)
	g.service.count(r, err)
	return r, err
}

// idBytes bounds the length of ids that are looked up or cached. The id of every packet is shorter.
const idBytes = 64

// unknownFor bounds how long an id is answered with "not found" without a lookup, to twice its value. New packets get other ids. But a packet may
// be visible only later: on Citus after the commit on its worker, or when a failover to a server without it is undone.
const unknownFor = 5 * time.Second

// lookup returns the packet from memory, or reads it from SQL. Of a finished packet it reads the whole book, so that
// later grabs are answered from memory.
func (s *Service) lookup(ctx context.Context, packet string) (*cachedPacket, error) {
	if k := s.memory.get(packet); k != nil {
		return k, nil
	}
	if len(packet) > idBytes || s.unknown.has(packet) {
		return nil, chat.ErrNotFound
	}
	image, err := s.flow.image(ctx, packet)
	if errors.Is(err, chat.ErrNotFound) {
		s.unknown.add(packet)
	}
	if err != nil {
		return nil, err
	}
	if image.Status != Open {
		book, err := s.ledger.Book(ctx, packet)
		if err != nil {
			return nil, err
		}
		return s.memory.finish(book), nil
	}
	p, err := s.ledger.Packet(ctx, packet)
	if err != nil {
		return nil, err
	}
	return s.memory.put(p), nil
}

// normal returns the form in which a passphrase is stored and compared: Unicode NFKC, without spaces at either end. chars is how many
// characters it may have. A text that is too long by far stays as it is: it has too many characters in any form.
func normal(passphrase string, chars int) string {
	if len(passphrase) > chat.RawBytes(chars) {
		return passphrase
	}
	return strings.TrimSpace(norm.NFKC.String(passphrase))
}

// same compares two texts by their hashes, in constant time. So the time does not show how much of the texts is equal.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// passphraseGuard limits how often a user, and all users together, may guess the passphrase of a packet.
type passphraseGuard struct {
	limiter  chat.Limiter // nil: no passphrase is accepted
	chars    int          // that a passphrase may have
	unlocked recentSet    // packet and user, for users that have given the right passphrase: their later tries cost no token
}

// errNoGuessLimiter refuses a passphrase because there is no limiter for guesses. A passphrase that can be guessed
// without limit protects nothing.
var errNoGuessLimiter = fmt.Errorf("%w: tries at passphrases are not counted", chat.ErrUnavailable)

// A user's first guess at a packet needs only a token of firstGuess. Each user gets one such token a day for each packet.
// Other users cannot use it up, so a user that knows the passphrase is not locked out. Each further guess needs two tokens:
// one of the user at the packet (guessRate), and one that all users of the packet share (packetGuessRate). So an attacker
// with many accounts gets no more of these further guesses.
var (
	firstGuess      = chat.Rate{PerSecond: 0, Burst: 1}
	guessRate       = chat.Rate{PerSecond: 1.0 / 12, Burst: 4}
	packetGuessRate = chat.Rate{PerSecond: 1.0 / 30, Burst: 20}
)

// checkNew refuses a new packet's passphrase if there is no limiter for guesses.
func (g *passphraseGuard) checkNew(passphrase string) error {
	if passphrase != "" && g.limiter == nil {
		return errNoGuessLimiter
	}
	return nil
}

// check returns an error unless the passphrase is right, or the packet has none. A try costs tokens before the comparison,
// even if the passphrase is right. Otherwise a user without tokens could still guess. A user that has recently given the
// right passphrase (unlocked) needs no token.
func (g *passphraseGuard) check(ctx context.Context, p *Packet, user, passphrase string) error {
	switch {
	case p.Passphrase == "":
		return nil
	case g.limiter == nil:
		return errNoGuessLimiter
	}
	guesser := p.ID + ":" + user
	known := g.unlocked.has(guesser)
	if !known {
		if err := g.takeGuess(ctx, p.ID, guesser); err != nil {
			return err
		}
	}
	if !same(normal(passphrase, g.chars), p.Passphrase) {
		return ErrWrongPassphrase
	}
	if !known {
		g.unlocked.add(guesser)
	}
	return nil
}

// takeGuess returns an error unless the guesser, a packet and a user, may try one passphrase.
func (g *passphraseGuard) takeGuess(ctx context.Context, packet, guesser string) error {
	wait, err := g.limiter.Take(ctx, "passphrase-first:"+guesser, firstGuess)
	if wait > 0 {
		wait, err = g.limiter.Take(ctx, "passphrase:"+guesser, guessRate)
		if err == nil && wait == 0 { // a user without tokens must not spend those of the packet
			wait, err = g.limiter.Take(ctx, "passphrase-packet:"+packet, packetGuessRate)
		}
	}
	switch {
	case err != nil:
		return err
	case wait > 0:
		return &chat.RateError{After: wait}
	}
	return nil
}

// stall detects that the claims of one packet cannot be settled, for example while the packet's row is locked. Then
// grabs of this packet are refused before the Pool grants them, because their claims would fill the outbox that other
// packets share. From time to time one grab is let through as a test. The zero value is ready for use.
type stall struct {
	unsettled atomic.Int32 // claims that could not be settled since the last one that was paid
	tried     atomic.Int64 // when the last grab was let through, in Unix milliseconds
}

const (
	stallAfter = 64 // in claims; a few failures do not count, because they may all come from one user whose wallet is locked
	stallTry   = 250 * time.Millisecond
)

// failed records a claim that could not be settled.
func (s *stall) failed() { s.unsettled.Add(1) }

// succeeded records that a claim was paid.
func (s *stall) succeeded() {
	if s.unsettled.Load() != 0 {
		s.unsettled.Store(0)
	}
}

// refuses reports whether a grab must be refused. Every stallTry it lets one grab through.
func (s *stall) refuses(now time.Time) bool {
	if s.unsettled.Load() < stallAfter {
		return false
	}
	last := s.tried.Load()
	return now.UnixMilli()-last < stallTry.Milliseconds() || !s.tried.CompareAndSwap(last, now.UnixMilli())
}

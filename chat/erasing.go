package chat

import (
	"context"
	"time"

	"hongbao/redpacket/crashpoint"
)

// Erasure is the erasure of a user.
type Erasure struct {
	User      string
	Texts     bool // also the user's texts, edits, reactions and files; otherwise only names, and what is not in rooms
	AskedAt   time.Time
	DoneAt    time.Time // zero: it is under way
	Waits     Waits
	Entries   int64 // entries changed so far
	RoomsLeft int   // rooms that are not done yet, of those that the user has ever been in
}

// Waits says for what an erasure waits.
type Waits string

// For what an erasure may wait.
const (
	WaitsForNothing  Waits = ""
	WaitsForHold     Waits = "hold"     // a legal hold of the user, or of the room that is next, must end
	WaitsForPackets  Waits = "packets"  // open packets of the user have a passphrase, which grabs need
	WaitsForFiles    Waits = "files"    // the sweep has not removed the user's dropped files yet
	WaitsForCommands Waits = "commands" // commands of the user may still run that began before the erasure
)

// NewErasure is a request to erase a user.
type NewErasure struct {
	User  string
	Texts bool
	At    time.Time
}

// ErasureStep asks for the next step of an erasure.
type ErasureStep struct {
	User  string
	At    time.Time
	NewID func(time.Time) string
}

// Erased is the result of a step.
type Erased struct {
	Erasure

	Found   bool    // there is an erasure under way, and no other instance takes a step of it now
	Room    string  // in which the step was; "": in none
	Deleted bool    // the room was deleted before
	Left    *Left   // the user has left the room
	Entries []Entry // that the step has appended, in their order
	Changed bool    // the step has changed entries of the user
	Packets bool    // the step has changed packets of the user
}

// ErasureStore erases users.
type ErasureStore interface {
	// BeginErasure makes all tokens of the user refused for ever, and removes the name, the avatar, the pictures and whatever else is stored of
	// the user outside of rooms. The rest is up to EraseStep. If the user is being erased already or is erased, it only adds the texts if e asks
	// for them. ErrNotFound: the user is unknown. FieldError{ErrConflict, "user" or "room"}: a legal hold of the user, or of a room that the user
	// has been in, forbids it.
	BeginErasure(ctx context.Context, e NewErasure) (Erasure, error)
	// Erasure returns the erasure of a user; ErrNotFound if there is none.
	Erasure(ctx context.Context, user string) (Erasure, error)
	// DueErasures returns at most limit users of which a step is due at the given time, the longest due first.
	DueErasures(ctx context.Context, now time.Time, limit int) (users []string, err error)
	// EraseStep takes the next step of an erasure: a bounded number of entries of one room. If it has to wait, DueErasures returns the user no
	// more for a minute.
	EraseStep(ctx context.Context, s ErasureStep) (Erased, error)
	// PutOffErasure makes DueErasures return the user no more before the given time.
	PutOffErasure(ctx context.Context, user string, until time.Time) error
	// CountErasures returns how many erasures are under way, at most the given number, and how many of those wait for a hold.
	CountErasures(ctx context.Context, most int) (running, held int, err error)
}

// UserErased tells all instances that names and texts of a user are gone from the store: of packets, and of entries of a room. What instances keep
// of them is outdated.
type UserErased struct{ User, Room string } // Room "": of packets alone

// EventName implements Event.
func (UserErased) EventName() string { return "user_erased" }

// Erase erases a user for ever. It returns when the user can sign in no more and has no name; RunErasures does the rest. The caller must close
// the user's sockets afterwards. A repeated Erase changes nothing, but may ask for the texts in addition.
func (s *Service) Erase(ctx context.Context, user string, texts bool) (Erasure, error) {
	if err := CheckUser("user", user); err != nil {
		return Erasure{}, err
	}
	if user == System.ID {
		return Erasure{}, BadField("user", "is the system")
	}
	e, err := s.store.BeginErasure(ctx, NewErasure{User: user, Texts: texts, At: s.now()})
	s.forgetUser(user, err)
	select {
	case s.erasing <- struct{}{}:
	default:
	}
	return e, err
}

// Erasure returns the erasure of a user; ErrNotFound if there is none.
func (s *Service) Erasure(ctx context.Context, user string) (Erasure, error) {
	if err := CheckUser("user", user); err != nil {
		return Erasure{}, err
	}
	return s.store.Erasure(ctx, user)
}

// CountErasures is ErasureStore.CountErasures.
func (s *Service) CountErasures(ctx context.Context, most int) (running, held int, err error) {
	return s.store.CountErasures(ctx, most)
}

const (
	// erasuresEvery is how often an instance looks for erasures that another one has begun, or that wait.
	erasuresEvery = 5 * time.Second
	// erasuresAtOnce is how many erasures take their steps in turn.
	erasuresAtOnce = 20
	// eraseShare is the part of the time, 1/eraseShare, in which steps run: sends come first.
	eraseShare = 5
	// eraseRetry is how long an erasure is left alone after a failure, so that the others get on.
	eraseRetry = time.Minute
)

// RunErasures takes the steps of all erasures until ctx ends. All instances may do so. forget is called when packets of a user have changed: it must
// drop them from the memory of this instance.
func (s *Service) RunErasures(ctx context.Context, forget func(user string)) {
	every := time.NewTicker(erasuresEvery)
	defer every.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			began := time.Now()
			more = s.EraseDue(ctx, forget)
			if more && !wait(ctx, (eraseShare-1)*time.Since(began)) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		case <-s.erasing:
		}
	}
}

// EraseDue takes one step of each erasure that is due. It returns false if none is.
func (s *Service) EraseDue(ctx context.Context, forget func(user string)) (more bool) {
	users, err := s.store.DueErasures(ctx, s.now(), erasuresAtOnce)
	if err != nil {
		s.log.Warn("erasures not listed", "err", err)
		return false
	}
	for _, user := range users {
		done, err := s.eraseStep(ctx, user, forget)
		switch {
		case err != nil:
			s.log.Warn("step of an erasure failed", "user", user, "err", err, "again_in", eraseRetry)
			if err := s.store.PutOffErasure(ctx, user, s.now().Add(eraseRetry)); err != nil {
				s.log.Warn("erasure not put off", "user", user, "err", err)
				return false
			}
		case done.Found:
			more = true
		}
	}
	return more
}

// eraseStep takes one step and publishes what it has changed. The members of a room get recalls for texts, as if an admin had recalled them.
func (s *Service) eraseStep(ctx context.Context, user string, forget func(user string)) (Erased, error) {
	step := ErasureStep{User: user, At: s.now(), NewID: s.newID}
	crashpoint.Here("erase.before-step")
	done, err := s.store.EraseStep(ctx, step)
	crashpoint.Here("erase.after-step")
	if done.Room != "" {
		s.NoteOutcome(done.Room, err)
	}
	if err != nil {
		return done, err
	}
	if done.Packets {
		forget(user)
	}
	if done.Packets || done.Changed {
		s.pub.ToUser(user, UserErased{User: user, Room: done.Room})
	}
	if done.Left != nil {
		s.Forget(done.Room, user)
		s.announceStandings(done.Room, nil, user)
		s.publishLeft(done.Room, user, *done.Left)
	}
	if !done.Deleted {
		for _, e := range done.Entries {
			s.pub.Entry(e)
		}
	}
	if !done.DoneAt.IsZero() {
		s.forgetUser(user, nil)
		s.log.Info("user erased", "user", user, "entries", done.Erasure.Entries, "took", done.DoneAt.Sub(done.AskedAt).String())
	}
	return done, nil
}

// ErrErased returns the error of a request that would change an erased user.
func ErrErased(field string) error {
	return &FieldError{Err: ErrConflict, Field: field, Reason: "was erased, for ever: use another id"}
}

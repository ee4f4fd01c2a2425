package redpacket

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Pool is the arbiter at the door: it decides at memory speed who may have which share. It may forget or
// misremember (a flushed or failed-over Redis); the Ledger's unique keys make that harmless and Load
// heals it. Each method is one script: it happens whole or not at all, and may be repeated.
//
// The time that counts is the Pool's own clock.
type Pool interface {
	// Grab decides for each attempt, in order. For each user: the stored share if there is one, before any
	// other check; else the first reason to refuse; else one outbox entry is written for all winners of a packet in
	// the call, and then their shares are taken. An error means the outcome is unknown: grab again.
	Grab(ctx context.Context, attempts []Attempt) ([]Answer, error)
	// Load joins an image read from the Ledger with what the Pool holds; it never overwrites. It commutes
	// and repeats. Users = the image's, then each grant held whose user and share are both free; closed
	// is sticky; the due date only ever gets earlier. A packet that SQL has closed
	// leaves the due index, and its image goes after an hour.
	Load(ctx context.Context, i Image) error
	// Close marks the packet closed, makes it due again in CloseLease, and returns every grant ever
	// given. It refuses while the packet is open, has free shares and its deadline has not come: then whoever
	// believed it due was told so by what the Pool has since forgotten; it is due at its deadline again. With
	// cancel it refuses when anyone has a share, or the packet is closed or due.
	Close(ctx context.Context, p Ref, cancel bool) (Closing, error)
	// Ack forgets the claims in the outbox; an entry goes when all its claims are gone.
	Ack(ctx context.Context, claims []Claim) error
	// Due lists packets whose due date has come, earliest first. If there are more than limit, it lists some of each
	// partition: see Fairly.
	Due(ctx context.Context, limit int) ([]Ref, error)
	// Unsettled lists claims that have waited in the outbox for at least age, oldest first, and fairly too.
	Unsettled(ctx context.Context, age time.Duration, limit int) ([]Claim, error)
}

// Fairly merges what the partitions list, each in the order of compare. If that is more than limit, it takes the first of
// each partition before the second of any: where nothing can be done for one (its node refuses to write), what it lists
// again and again keeps nothing of the others from being seen.
func Fairly[T any](lists [Partitions][]T, limit int, compare func(a, b T) int) []T {
	type placed struct {
		it    T
		place int
	}
	var all []placed
	for _, list := range lists {
		for place, it := range list[:min(limit, len(list))] {
			all = append(all, placed{it, place})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Or(cmp.Compare(a.place, b.place), compare(a.it, b.it)) })
	merged := make([]T, min(limit, len(all)))
	for i := range merged {
		merged[i] = all[i].it
	}
	slices.SortStableFunc(merged, compare)
	return merged
}

// CloseLease is how long a closer has before another one takes over.
const CloseLease = 2 * time.Second

// May is what the caller has judged before: the Pool knows no members, recipients or passphrases.
type May uint8

// The three judgements.
const (
	MayGrab   May = iota
	NotMember     // refused unless he has a share already
	Denied        // a member, but not a recipient or without the passphrase: told only while shares are left
)

// Attempt is one user's grab.
type Attempt struct {
	Ref
	User string
	May  May
}

// Decision is the Pool's answer to an attempt.
type Decision uint8

// The decisions, in the order in which they are checked.
const (
	Missing  Decision = iota // no image, or not of this node's generation: Load and ask again
	Yours                    // the share given to this user before
	Outsider                 // NotMember
	IsClosed                 // closed, for Answer.Reason
	IsLate                   // past the deadline
	IsEmpty                  // no free share
	IsDenied                 // Denied
	Busy                     // the outbox is full: the Ledger does not keep up
	Granted                  // a share, by this attempt
)

// Answer to one attempt.
type Answer struct {
	Decision Decision
	Share    int    // Yours, Granted
	Entry    string // Granted: the outbox entry
	Last     bool   // Granted: it was the last free share; whoever holds it closes the packet after settling
	Reason   Status // IsClosed
	Taken    int    // shares taken now
}

// Image is what a Pool must know of a packet, as the Ledger has it.
type Image struct {
	Ref
	Count    int
	Deadline time.Time
	Status   Status
	Grants   []Grant // SQL's claims
}

// Closing is the outcome of the close script.
type Closing struct {
	Missing bool
	Refused bool   // a cancel that came too late, or a close that came too early (then Reason is Open)
	Reason  Status // the first reason stays
	Grants  []Grant
}

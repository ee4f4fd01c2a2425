package redpacket

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Pool decides at memory speed which user gets which share. It may lose data, or return to an older state, like a Redis
// that was flushed or failed over. The Ledger's unique keys make that harmless, and Load repairs it. Every method may
// be repeated. Load and Close take effect completely or not at all. A Grab of several attempts, and an Ack of several claims,
// may take effect for some of them.
//
// Deadlines are judged by the Pool's own clock.
type Pool interface {
	// Grab decides each attempt, those on one packet in their order. The answer is the first Decision that applies: Missing
	// if the Pool has no image of the packet, Yours if the user already has a share, then a reason to refuse. If none
	// applies, the user is granted a free share: the one that is held for the user, or else the lowest that is not held. The call writes the grants of a packet into an outbox entry before it takes
	// their shares. An error means that the outcome is unknown: grab again.
	Grab(ctx context.Context, attempts []Attempt) ([]Answer, error)
	// Load merges an image read from the Ledger with the packet's data in the Pool. The merged image has the grants of
	// the Ledger, and those grants of the Pool whose user and share are both free in the Ledger. Loads may be repeated and
	// come in any order. A closed packet stays closed, and a due date only gets earlier. A packet that SQL has closed
	// leaves the due index, and its image is dropped after an hour.
	Load(ctx context.Context, i Image) error
	// Close marks the packet closed, and returns all its grants that the Pool has, settled or not. It makes the packet due
	// again after CloseLease, unless the packet is retired. If the Pool has no image of the packet, the result is Missing.
	//
	// CloseDue is refused while the packet is open, has free shares, and its deadline has not come. Then the caller relied
	// on data that the Pool has lost since, and Close makes the packet due at its deadline. CloseCancel is refused if a user
	// has a share, if the deadline has come, or if the packet is closed for another reason. But if the packet is cancelled
	// already, CloseCancel succeeds. CloseEarly is never refused.
	Close(ctx context.Context, p Ref, why CloseReason) (Closing, error)
	// Ack removes claims from the outbox: they are paid, refused for good, or in quarantine. An outbox entry is removed with
	// its last claim.
	Ack(ctx context.Context, claims []Claim) error
	// Due lists packets whose due date has come, earliest first. If there are more than limit, each partition gets its
	// part of the list: see Fairly.
	Due(ctx context.Context, limit int) ([]Ref, error)
	// Clocks compares each clock by which the Pool decides with the caller's, which now returns: see CompareClock. If
	// some clocks cannot be read, it returns the others and an error. An engine in this process has no clock of its
	// own.
	Clocks(ctx context.Context, now func() time.Time) ([]ClockDifference, error)
	// Unsettled lists a page of the claims that have been in the outbox for at least age, each page oldest first. It moves the
	// cursor behind them. A page has at most about limit claims. Each partition gets its portion of the page (see
	// OutboxCursor.Portion), and at least one entry. A partition that does not answer is Done for this pass. If no
	// partition answers, Unsettled returns an error.
	Unsettled(ctx context.Context, age time.Duration, from *OutboxCursor, limit int) ([]Claim, error)
	// Recount counts the claims in the outbox of each of these partitions again. Grab answers Busy when the count of the
	// packet's partition has reached its limit. Grab and Ack keep the counts up to date. A count can be wrong only if keys of
	// the Pool were changed by hand or evicted.
	Recount(ctx context.Context, partitions ...int) error
	// Outbox returns how many claims are in the outbox, and when the oldest of them was granted. The zero time means that
	// there is none.
	Outbox(ctx context.Context) (claims int, oldest time.Time, err error)
}

// OutboxCursor is the position of a pass over the outbox, with one position for each partition. So claims that cannot be
// settled hide neither claims of other partitions nor later claims of their own partition. The zero value is the beginning.
type OutboxCursor [Partitions]OutboxMark

// OutboxMark is the position of a pass in one partition.
type OutboxMark struct {
	After string // position of the last entry that was listed, in the Pool's own format; empty before the first one
	Done  bool   // no entry of the partition is left to list, or the partition did not answer
}

// Done reports whether the pass has come to its end in all partitions.
func (c *OutboxCursor) Done() bool { return c.left() == 0 }

// Portion returns how many of limit claims each partition may list: equal parts for all partitions that are not Done,
// and at least one.
func (c *OutboxCursor) Portion(limit int) int { return max(1, limit/max(1, c.left())) }

// left returns the number of partitions that are not Done.
func (c *OutboxCursor) left() (n int) {
	for i := range c {
		if !c[i].Done {
			n++
		}
	}
	return n
}

// Fairly merges the lists of all partitions, each sorted by compare. If they hold more than limit elements, it takes
// the first of each list before the second of any. The result is sorted, too. So a partition that lists the same packets
// again and again, because its node refuses writes, does not crowd out the packets of other partitions.
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

// CloseReason says why a packet is to be closed.
type CloseReason uint8

// The reasons to close. Their numbers are arguments of the close script. They must not change: instances of other
// versions use them too.
const (
	CloseDue    CloseReason = iota // its shares are gone or its deadline has come
	CloseCancel                    // its sender cancels it before any user has a share
	CloseEarly                     // it must end before it is due: its room is deleted, or it is from before the epoch
)

// CloseLease is the time after which an instance repeats a close that has not ended.
const CloseLease = 2 * time.Second

// May says whether the caller of Grab allows the attempt. The Pool knows no members, recipients or passphrases.
type May uint8

// The values of May.
const (
	MayGrab   May = iota
	NotMember     // refused unless the user already has a share
	// Denied is for a member that may not get a share, for example without the passphrase. It refuses only a user without a
	// share, and only while the packet is open, its deadline has not come and shares are left.
	Denied
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
	Missing  Decision = iota // no image, or one from before a failover: Load the packet and ask again
	Yours                    // the user already has a share
	Outsider                 // refused because the attempt says NotMember
	IsClosed                 // the packet is closed; Answer.Reason says why
	IsLate                   // the deadline has passed
	IsEmpty                  // no free share
	IsDenied                 // refused because the attempt says Denied
	Busy                     // the outbox of the partition is full, usually because the Ledger is too slow
	Granted                  // this attempt got a share
)

// Two more decisions. (9 has a meaning of its own in replies of the grab script.)
const (
	NotYet  Decision = iota + 10 // the packet has not opened; checked after IsClosed
	AllHeld                      // all free shares are held for other users; checked after IsEmpty
)

// Answer is the Pool's answer to one attempt.
type Answer struct {
	Decision Decision
	Share    int    // set for Yours and Granted
	Entry    string // set for Granted: the outbox entry
	Last     bool   // set for Granted: it was the last free share; the caller closes the packet after settling
	Reason   Status // set for IsClosed
	Taken    int    // shares of the packet that are taken now; 0 for Missing
	Waiting  int    // set for AllHeld: shares that are held
}

// Image is the part of a packet that a Pool must know, as the Ledger has it.
type Image struct {
	Ref
	Count    int
	OpensAt  time.Time // the Pool refuses all grabs before it; zero: none
	Deadline time.Time
	Hold     Hold
	Status   Status
	Grants   []Grant // the packet's claims in SQL
}

// Closing is the result of Pool.Close.
type Closing struct {
	Missing bool   // the Pool has no image of the packet: Load the packet and close it again
	Refused bool   // CloseCancel came too late, or CloseDue came too early
	Reason  Status // why the packet is closed; a later close does not change it. If Refused: its status, which may be Open
	Grants  []Grant
}

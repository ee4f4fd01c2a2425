package redpacket

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"hongbao/chat"
)

// Ledger holds the money. Unless its comment says otherwise, a method is one transaction or one consistent read, and
// blocks until the result is durable; many callers may share one commit. Whatever the Pool has granted, a Ledger pays each
// share at most once, each user of a packet at most once, and each refund once. A driver's failure is returned wrapped in
// chat.ErrUnavailable and means that the outcome is unknown. Every method may be repeated.
type Ledger interface {
	Wallets
	Exports
	Stories
	Quarantine

	// Account reads a user's account. On the first call it draws the user's first seed.
	Account(ctx context.Context, user string) (Account, error)
	// Send books a packet. It looks up the request's key first: a used key returns the first result with Sent.Dup set, or
	// chat.ErrKeyReused. Then it checks chat.Standing.MaySend, the number of the sender's open packets (TooManyOpen), what
	// the sender has sent on that day (CheckDay), and the commitment (CommitmentError). Then it debits the sender
	// (ErrWalletFrozen, ErrInsufficientBalance), and inserts the packet, its shares, the transfer, and the room's entry with
	// the next seq.
	//
	// If the packet is funded, Send sets the funding to sent and credits its amount before the debit, in the same
	// transaction. It returns Funding.Void if the funding is reversed. It returns chat.ErrConflict if another funding of the
	// user has the same HostKey.
	Send(ctx context.Context, p UnsealedPacket) (Sent, error)
	// OutOfReach returns an error that wraps chat.ErrUnavailable while the engine is known to be out of reach.
	// Otherwise it returns nil. It does not call the engine and never blocks.
	OutOfReach() error
	// KeyUsed reports whether a committed command of the user has this idempotency key.
	KeyUsed(ctx context.Context, user, key string) (bool, error)
	// Settle pays the claims, in one transaction or several, and returns one settlement for each claim, in the same order.
	// A claim that the engine refuses does not keep the other claims from being paid. The amount paid is that of the
	// packet's share, never a value from the caller. The packet's row is locked against a close while its claims are paid. If the packet pays
	// one share a person, only users to whom a person is bound are paid.
	Settle(ctx context.Context, claims []Claim) []Settlement
	// End ends an open packet. It inserts those of the given grants whose user and share are both without a claim, and whose user is not
	// Unbound. It refunds the rest, reveals the seed, and appends packet_done. If the packet is not open, End changes nothing and
	// returns Closed.Done false. It returns chat.ErrNotFound for an unknown packet.
	End(ctx context.Context, c Close) (Closed, error)
	// Enter lets users enter a draw, in one transaction, unless its window has ended by the engine's clock. It returns chat.ErrNotFound for an unknown packet, and for one that is no draw.
	Enter(ctx context.Context, packet string, users []Entrant) (Entering, error)
	// Draw ends the entering of an open draw: it stores the number of participants and their root, and nobody can enter any more. Later calls
	// return the same. If the window has not ended, the total is not cut anew. It is refused like Pool.Close: CloseDue while the window has not ended by the engine's clock, and CloseCancel if it
	// has, or if anybody has entered; but if entering has ended without participants, CloseCancel succeeds. It returns chat.ErrNotFound for
	// an unknown packet, and for one that is no draw.
	Draw(ctx context.Context, d DrawRequest) (Draw, error)
	// BindPersons binds the person of each user in a packet that pays one share a person, unless the person is bound already. Of several
	// users with one person, it binds the first one. It returns the user to which each person is bound.
	BindPersons(ctx context.Context, packet string, users []Entrant, at time.Time) (bound map[string]string, err error)
	// Of a rain, Enter lets users enter the wave that is open by the engine's clock, and finds out which of them have entered that one. Draw draws the
	// waves whose end has come by that clock, and with CloseEarly also the one that is open. Draw.Refused is true until the rain has ended: after
	// the last wave, or by CloseEarly or CloseCancel.
	//
	// Participants lists the participants of a draw, or of a wave, by user, starting with the one that follows the user after. They must not
	// be shown before entering has ended.
	Participants(ctx context.Context, packet string, wave int, after string, limit int) ([]Participant, error)
	// Waves lists the waves of a rain that have been drawn, in their order.
	Waves(ctx context.Context, packet string) ([]Wave, error)
	// OpenRains lists the open rains that begin within RainSoon by their begin, then by id. It starts with the one that follows after; the zero
	// value of after starts at the first one. A rain whose seed cannot be decrypted has no instants. The cost does not grow with later rains.
	OpenRains(ctx context.Context, after RainPlan, limit int) ([]RainPlan, error)
	// Clocks compares the engine's clock with the caller's, which now returns: see CompareClock. An engine in this
	// process has no clock of its own and returns none.
	Clocks(ctx context.Context, now func() time.Time) ([]ClockDifference, error)
	// Image reads the part of a packet that the Pool must know. It reads the status before the claims, or both in one
	// snapshot. So the image of a closed packet has all its claims. It returns chat.ErrNotFound for an unknown packet.
	Image(ctx context.Context, packet string) (Image, error)
	// Packet reads the part of a packet that never changes. It returns chat.ErrNotFound for an unknown packet.
	Packet(ctx context.Context, packet string) (Packet, error)
	// Book reads a packet with all claims in one consistent read. The cost grows with the number of claims: Details
	// reads one page of them. Book returns chat.ErrNotFound for an unknown packet.
	Book(ctx context.Context, packet string) (Book, error)
	// Details reads the state of a packet and one page of its claims in one consistent read. It returns
	// chat.ErrNotFound for an unknown packet.
	Details(ctx context.Context, q DetailsQuery) (DetailsPage, error)
	// States returns the packets' states as the user may see them, in the order of the arguments. Unknown packets are
	// left out.
	States(ctx context.Context, user string, packets []string) ([]State, error)
	// Overdue lists open packets whose deadline is before the given time, ordered by deadline, then by id. The list
	// begins with the packet that follows after; the zero value of after starts at the first packet.
	Overdue(ctx context.Context, before time.Time, after Overdue, limit int) ([]Overdue, error)

	// DeletedRooms examines at most limit deleted rooms in the order of their ids, starting with the room that follows
	// after. It returns those that have open packets. It also takes the next step of their members' removal, and marks rooms that
	// have neither open packets nor members, so that later calls skip them: nothing is sent into a deleted room, and nobody enters it.
	// (A room that is locked is left to a later call.) next is the value of after for the following
	// call; empty means that there are no more rooms. rooms and next are valid even if the rest has failed.
	DeletedRooms(ctx context.Context, after string, limit int) (rooms []string, next string, err error)
	// OpenInDeleted lists open packets of a deleted room by id, starting with the packet that follows after. It lists
	// none if the room is not deleted.
	OpenInDeleted(ctx context.Context, room, after string, limit int) ([]Ref, error)

	// OpenFromBefore lists, by id, the open packets that were sent before the epoch of the database began, starting with the
	// packet that follows after. These packets are ended early: their seeds may have been revealed by commits that the
	// database has lost.
	OpenFromBefore(ctx context.Context, after string, limit int) ([]Ref, error)

	// Packets lists packets, newest first. Those that a user sent or received have totals over the whole period.
	Packets(ctx context.Context, q PacketsQuery) (PacketsPage, error)
	// Transfers lists a user's transfers, newest first; Share is always 0. next is the cursor of the page; "" is the first page. more is the
	// cursor of the following page; "" if there is none.
	Transfers(ctx context.Context, user, next string, limit int) (transfers []LedgerTransfer, more string, err error)
	// Adjust moves money from the outside to a user, or to the outside if the amount is negative. Its keys never collide with
	// the keys of users' commands. A credit creates an unknown user. It returns ErrInsufficientBalance, ErrWalletFrozen or
	// chat.ErrKeyReused, or chat.ErrLimitExceeded if a credit would take the money in circulation over MaxMoney.
	Adjust(ctx context.Context, a Adjustment) (acc Account, dup bool, err error)
	// Audit checks the books in one consistent snapshot and returns the differences. If there are very many, it returns the
	// first ones, and a last one that says that there are more. Everything that was committed before Audit began is in the
	// snapshot. A nil query is the same as the zero one.
	Audit(ctx context.Context, q *AuditQuery) (Audit, error)
	// AuditRecord returns what SwapAuditRecord has stored last, or nil if nothing is stored yet.
	AuditRecord(ctx context.Context) ([]byte, error)
	// SwapAuditRecord stores next and returns true if the stored record equals old. Otherwise it changes nothing and returns
	// false. A nil old means that nothing is stored yet.
	SwapAuditRecord(ctx context.Context, old, next []byte) (bool, error)
	// Sample counts what waits in the books. It reads at most SamplePackets packets, SampleClaims claims, and SamplePackets
	// rows of the quarantine.
	Sample(ctx context.Context, now time.Time) (LedgerSample, error)
	// Heads returns the newest link of each hash chain, ordered by chain. Copies outside the database are anchors: with them,
	// a later audit can prove that rows of that time have not changed.
	Heads(ctx context.Context) ([]Head, error)
}

// Head is the newest link of a hash chain. Its hash stands for all rows of the chain.
type Head struct {
	Chain int64
	Link  int64
	Hash  [32]byte
}

// Account is a user's balance and the commitment of the next packet that the user sends. All fields come from one
// consistent read.
type Account struct {
	Balance        Money
	NextCommitment string
	// Version grows with each change of Balance or NextCommitment. Of two accounts of one user, the one with the
	// higher version is newer. Version is 0 while the user has no wallet.
	Version int64
}

// UnsealedPacket is a packet about to be sent. Seal completes it after the ledger has read the sender's seed.
type UnsealedPacket struct {
	Packet   Packet // without Commitment
	Hash     []byte // of the request's content
	Expect   string // the commitment that the sender expects; empty: any
	NextSeed Seed   // becomes the seed of the sender's next packet
	EntryID  string
	MaxOpen  int // limit: packets that the sender may have open; 0: any number
	Limits   DayLimits

	Funded *Funded // money of the host; nil: the sender's wallet pays the whole total
}

// FundingCredit returns the credit of the packet's funding.
func (u UnsealedPacket) FundingCredit() Adjustment {
	f, at := u.Funded, u.Packet.CreatedAt.Add(-time.Millisecond) // so that the credit is older than the transfer to the packet
	return Adjustment{
		ID: chat.NewID(at), User: f.User, Amount: f.Amount, Key: f.CreditKey(), At: at,
		Hash:  chat.RequestHash("funding", f.User, f.ID, strconv.FormatInt(int64(f.Amount), 10)),
		Actor: FundingActor, RequestID: f.ID,
	}
}

// TooManyOpen returns the error of a sender that has MaxOpen packets open.
func (u UnsealedPacket) TooManyOpen() error {
	return &chat.FieldError{
		Err: chat.ErrLimitExceeded, Field: "open_packets", Reason: fmt.Sprintf("must be at most %d", u.MaxOpen), Limit: u.MaxOpen,
	}
}

// Sent is the result of a Send.
type Sent struct {
	Packet  Packet
	Entry   chat.Entry
	Account Account // the sender's present account, also if Dup is set
	Dup     bool
	Opens   []time.Time // of a rain that this call has sent: see RainPlan
}

// Verdict is the result of settling one claim.
type Verdict uint8

// The verdicts of Settle.
const (
	PaidNow   Verdict = iota + 1 // paid by this call
	Duplicate                    // the user already has a claim in this packet: see Settlement.Share
	Conflict                     // another user has a claim to this share
	TooLate                      // the packet is not open: see Settlement.Status
	Unbound                      // the packet pays one share a person, and no person is bound to the user
	Unpayable                    // can never be paid, because the packet or share is unknown, or the engine refuses the row
)

// Unsettled is the verdict on a claim that could not be settled this time, or whose outcome is unknown. Settlement.Err is
// the reason. The caller may always settle the claim again.
const Unsettled Verdict = 0

// Settlement is the result of settling one claim.
type Settlement struct {
	Verdict Verdict
	Share   int
	Amount  Money
	At      time.Time
	Account Account // PaidNow: the user's account after this payment
	Status  Status  // TooLate: the status with which the packet ended
	Why     string  // Unpayable and Unbound: the reason
	Err     error   // Unsettled: wraps chat.ErrUnavailable
}

// NotBound returns the settlement of a claim of a user to whom no person is bound.
func NotBound() Settlement {
	return Settlement{Verdict: Unbound, Why: "no person is bound to the user: the database has lost that"}
}

// AllUnsettled returns n settlements that are Unsettled because of err.
func AllUnsettled(n int, err error) []Settlement {
	settled := make([]Settlement, n)
	for i := range settled {
		settled[i].Err = err
	}
	return settled
}

// Close is a request to end a packet.
type Close struct {
	Ref
	Reason  Status // why it ends; Ledger.End counts the claims itself to decide whether it is Drained
	Grants  []Grant
	At      time.Time
	EntryID string
}

// Closed is the result of an End.
type Closed struct {
	Done  bool // true if this call has ended the packet; false if it was not open
	Book  Book // the packet's present book
	Entry chat.Entry
	// Inserted are the claims that this call has added. Accounts maps each user that this call has paid to the user's new
	// account. It includes the sender if there was a refund.
	Inserted []Paid
	Accounts map[string]Account
}

// Overdue is an open packet with its deadline, which may have passed.
type Overdue struct {
	Ref
	ExpiresAt time.Time
}

// DetailsQuery asks for a packet as one user may see it, with a page of its claims.
type DetailsQuery struct {
	User      string
	Packet    string
	AfterRank int // the page has the claims after this rank; not negative
	Limit     int
}

// DetailsPage is one page of a packet's claims, by rank.
type DetailsPage struct {
	Packet Packet
	State  State
	Claims []Paid
	More   bool    // there are claims after this page
	Seed   Seed    // set once the packet is closed
	Shares []Money // set once the packet is closed
}

// Direction says which packets are listed: those that a user has sent or received, those of a room, or those that wait for a user.
type Direction string

// The directions. A packet waits for a user while it is open in one of the user's rooms, if another user has sent it and the user has no share.
const (
	DirSent     Direction = "sent"
	DirReceived Direction = "received"
	DirRoom     Direction = "room"
	DirOpen     Direction = "open"    // the open packets of a room
	DirWaiting  Direction = "waiting" // those that wait: of each room its newest ones, of all rooms together at most Limit, on one page
)

// OfRoom reports whether packets of one room are listed.
func (d Direction) OfRoom() bool { return d == DirRoom || d == DirOpen }

// PacketsQuery selects the packets that a user sent or received at From or later and before To, those that were sent into a room then, or those
// that wait for a user, whatever the time.
type PacketsQuery struct {
	Of        string // the user; the room if Direction is DirRoom or DirOpen
	As        string // with a room: the user whose States they are; "": nobody
	Direction Direction
	From, To  time.Time // zero: unbounded
	Next      string
	Limit     int

	Days  bool          // of received packets: Totals has the Best day
	Ahead time.Duration // with Days: how far the user's clock is ahead of UTC
}

// User returns the user whose States are listed; "": nobody.
func (q PacketsQuery) User() string {
	if q.Direction.OfRoom() {
		return q.As
	}
	return q.Of
}

// PacketsPage is one page of packets. Totals cover the whole period of the query, not only the page. Only sent and received packets have them.
type PacketsPage struct {
	Packets []PacketState
	Totals  Totals
	Next    string
}

// PacketState is a packet with its state.
type PacketState struct {
	Packet Packet
	State  State
}

// Totals of a period: the number of packets, the amount that the user sent or received, and how often the user was the
// luckiest.
type Totals struct {
	Count    int
	Amount   Money
	Luckiest int
	Best     *BestDay // if it was asked for
}

// BestDay is the day on which the user has received most, by the clock of the user.
type BestDay struct {
	At     time.Time // its beginning
	Amount Money
}

// TransferKind says why money moved.
type TransferKind string

// The kinds of transfers.
const (
	TransferCredit TransferKind = "credit" // money came from outside
	TransferDebit  TransferKind = "debit"  // money went to the outside
	TransferSend   TransferKind = "send"
	TransferClaim  TransferKind = "claim"
	TransferRefund TransferKind = "refund"
)

// Transfer is one transfer as one of its users sees it: the amount is positive if that user received it.
type Transfer struct {
	ID     string
	At     time.Time
	Amount Money
	Kind   TransferKind
	Packet string
	Note   string
}

// Adjustment is a transfer between a user and the outside.
type Adjustment struct {
	ID     string
	User   string
	Amount Money // positive: to the user; negative: from the user
	Key    string
	Hash   []byte
	Note   string
	At     time.Time

	Actor     string // the administrator or program that ordered it
	RequestID string
	Reason    string
}

// Audit is the result of checking the books. Funded is all credits minus all debits. If the books are right, Funded =
// InWallets + InPackets, and Differences is empty.
type Audit struct {
	Funded      Money
	InWallets   Money
	InPackets   Money
	Wallets     int
	Packets     int
	OpenPackets int
	Claims      int
	Transfers   int
	Rooms       int
	Entries     int64
	Quarantined int
	Differences []Difference
	Notes       []Difference // what an operator should look at, although the books are right: the quarantine
	Heads       []Head       // the newest links that were verified, ordered by chain
}

// AuditQuery says what an audit does besides checking the books, and where it begins. The zero value checks all rows, and
// adds nothing.
type AuditQuery struct {
	Show func(AuditLine) // called with each packet that the audit looks at, in the order of ids
	// Heads are heads that were copied earlier. A head that is no longer in its chain is a difference.
	Heads []Head
	// Since are the heads of an earlier audit that found no difference. With them the audit compares and verifies only newer
	// rows, and still compares the sums of all rows. Empty: the audit looks at all rows.
	Since []Head
	// Now is the present time. A packet that is still open MaxOverdue after its deadline is a difference. The zero value:
	// the audit does not look for such packets.
	Now time.Time
}

// MaxOverdue is how long after its deadline a packet may be open before an audit reports it.
const MaxOverdue = 10 * time.Minute

// AuditLine describes one packet, for one line of the audit's output.
type AuditLine struct {
	Packet   string
	Status   Status
	Total    Money
	Count    int
	Claims   int
	Claimed  Money
	Refunded Money
}

// Difference is one error in the books, with the ids by which an operator finds it. In Audit.Notes a Difference is not an
// error, but a fact that an operator should know.
type Difference struct {
	Kind string // of the object: wallet, packet, claim, transfer, funding, room, ref, entry, link, chain; books: a sum or count of them all
	ID   string
	What string
}

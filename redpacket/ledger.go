package redpacket

import (
	"context"
	"time"

	"hongbao/chat"
)

// Ledger is the truth about money. Each method is one transaction (or one consistent read) and blocks
// until it is durable; many callers may share one commit. Whatever the Pool says, a Ledger never pays a
// share twice, a user twice or a refund twice. A driver's failure comes back wrapped in
// chat.ErrUnavailable and means outcome unknown: every method may be repeated.
type Ledger interface {
	// Account gives a user's balance and the commitment of his next packet; it draws his first seed.
	Account(ctx context.Context, user string) (Account, error)
	// Send books a packet: key looked up first (dup, or chat.ErrKeyReused), chat.Standing.MaySend,
	// commitment, guarded debit, then packet, shares, transfer, and the room's entry with the next seq.
	Send(ctx context.Context, o Order) (Sent, error)
	// KeyUsed tells whether the user has used this key in any command.
	KeyUsed(ctx context.Context, user, key string) (bool, error)
	// Settle pays claims, each for itself: one that can never be paid hurts no other. The amount is the packet's own
	// share, never the caller's word. The packet row is held open against a close meanwhile.
	Settle(ctx context.Context, claims []Claim) ([]Settlement, error)
	// End ends an open packet: inserts the grants whose user and share are both free, refunds what is
	// left, reveals the seed, and appends packet_done. Not open: changes nothing and says so.
	End(ctx context.Context, c Close) (Closed, error)
	// Quarantine puts claims aside that can never be settled, for a person to look at.
	Quarantine(ctx context.Context, claims []Claim, why string) error

	// Image reads what the Pool must know: status first, then claims. chat.ErrNotFound.
	Image(ctx context.Context, packet string) (Image, error)
	// Packet reads what never changes. chat.ErrNotFound.
	Packet(ctx context.Context, packet string) (Packet, error)
	// Book reads everything at once, consistently. chat.ErrNotFound.
	Book(ctx context.Context, packet string) (Book, error)
	// States of packets as the user may see them, in the order asked; unknown packets are left out.
	States(ctx context.Context, user string, packets []string) ([]State, error)
	// Overdue lists open packets whose deadline is before the given time, earliest first.
	Overdue(ctx context.Context, before time.Time, limit int) ([]Overdue, error)

	// Packets lists what a user sent or received, newest first, with totals over the whole period.
	Packets(ctx context.Context, q PacketsQuery) (PacketsPage, error)
	// Transfers lists a user's movements, newest first.
	Transfers(ctx context.Context, user, next string, limit int) (transfers []Transfer, more string, err error)
	// Adjust credits (or, negative, debits) a user from outside; admin keys are a key space of their own.
	// It creates an unseen user. ErrInsufficientBalance, chat.ErrKeyReused.
	Adjust(ctx context.Context, a Adjustment) (acc Account, dup bool, err error)
	// Audit reads all books in one consistent snapshot and reports every difference; show, if not nil, is given
	// each packet, by id, as it passes. What has been written when Audit begins is in the snapshot.
	Audit(ctx context.Context, show func(AuditLine)) (Audit, error)
}

// Account is a user's money and the commitment his next packet will carry.
type Account struct {
	Balance        Money
	NextCommitment string
}

// Order is a packet to be sent. Seal completes it once the ledger has read the sender's seed.
type Order struct {
	Packet   Packet // all but Commitment
	Hash     []byte // of the request's content
	Expect   string // the commitment the sender counts on; empty: any
	NextSeed Seed   // drawn beforehand: becomes the sender's next
	EntryID  string
}

// Sent is the outcome of a Send.
type Sent struct {
	Packet  Packet
	Entry   chat.Entry
	Account Account // of now, also for dup
	Dup     bool
}

// Verdict on one claim.
type Verdict uint8

// The verdicts of Settle.
const (
	PaidNow   Verdict = iota + 1 // settled by this call
	Duplicate                    // this user has a claim in the packet: Settlement tells which
	Conflict                     // the share is another user's
	TooLate                      // the packet is not open: Settlement.Status tells why
	Unpayable                    // it never can be, for Settlement.Why: no such packet or share, or the engine refuses the row
)

// Settlement of one claim.
type Settlement struct {
	Verdict Verdict
	Share   int
	Amount  Money
	At      time.Time
	Account Account // PaidNow: after it
	Status  Status  // TooLate
	Why     string  // Unpayable
}

// Close is a packet to be ended.
type Close struct {
	Ref
	Reason  Status // SQL decides drained by its own count of claims
	Grants  []Grant
	At      time.Time
	EntryID string
}

// Closed is the outcome of an End.
type Closed struct {
	Done  bool // by this call
	Book  Book // as it is now
	Entry chat.Entry
	// Inserted are the claims this call had to add; Accounts hold the balance after it of everyone it paid,
	// the sender too when there was a refund.
	Inserted []Paid
	Accounts map[string]Account
}

// Overdue is an open packet that ends, or should have ended.
type Overdue struct {
	Ref
	ExpiresAt time.Time
}

// Direction of a user's packets.
type Direction string

// Sent or received.
const (
	DirSent     Direction = "sent"
	DirReceived Direction = "received"
)

// PacketsQuery asks for a user's packets in [From, To).
type PacketsQuery struct {
	User      string
	Direction Direction
	From, To  time.Time // zero: unbounded
	Next      string
	Limit     int
}

// PacketsPage is one page of them; Totals are over the whole period.
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

// Totals of a period: how many packets, how much (sent, or received), how often the user was luckiest.
type Totals struct {
	Count    int
	Amount   Money
	Luckiest int
}

// TransferKind says why money moved.
type TransferKind string

// The kinds of movement.
const (
	TransferCredit TransferKind = "credit" // from outside
	TransferDebit  TransferKind = "debit"  // to outside
	TransferSend   TransferKind = "send"
	TransferClaim  TransferKind = "claim"
	TransferRefund TransferKind = "refund"
)

// Transfer is one movement as its user sees it: the amount is signed.
type Transfer struct {
	ID     string
	At     time.Time
	Amount Money
	Kind   TransferKind
	Packet string
	Note   string
}

// Adjustment moves money between a user and the outside.
type Adjustment struct {
	ID     string
	User   string
	Amount Money // negative: debit
	Key    string
	Hash   []byte
	Note   string
	At     time.Time
}

// Audit is the state of the books. Funded = InWallets + InPackets, and Differences is empty, when all is well.
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
}

// AuditLine is one packet in the books.
type AuditLine struct {
	Packet   string
	Status   Status
	Total    Money
	Count    int
	Claims   int
	Claimed  Money
	Refunded Money
}

// Difference is one thing that is wrong, named so that a person finds it.
type Difference struct {
	Kind string // wallet, packet, claim, transfer, room, books
	ID   string
	What string
}

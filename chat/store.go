package chat

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps users, rooms, members and entries. Each method is one transaction (or one consistent read)
// and blocks until it is durable; many callers may share one commit. A driver's failure comes back
// wrapped in ErrUnavailable; everything else is one of this package's sentinels.
type Store interface {
	// Epoch names this database's numbering; it changes only when seqs are lost or renumbered.
	Epoch(ctx context.Context) (string, error)
	// PutUser notes the user's name and avatar as his newest token gives them, and tells up to which second, in Unix time,
	// his tokens are refused; 0: none is. Of one that was issued by then, or does not say when (0), nothing is noted.
	PutUser(ctx context.Context, u User, issued int64) (notBefore int64, err error)
	// Revoke refuses the user's tokens up to the given second, and never fewer than before. It makes an unseen user.
	Revoke(ctx context.Context, user string, second int64) error
	// KeyUsed tells whether the user has used this key in any command.
	KeyUsed(ctx context.Context, user, key string) (bool, error)

	// CreateRoom makes the room with its owner and first members, who must be known users (else
	// ErrNotFound). The key is looked up before anything else: dup, or ErrKeyReused. A dup gives the room
	// as it is now, without a role for an owner who has left it.
	CreateRoom(ctx context.Context, r NewRoom) (m Membership, dup bool, err error)
	// Join puts the user into a public room, or leaves all as it is when he is in already.
	// What was said before counts as read. Who comes into an empty room is its owner.
	// ErrNotFound (unknown, or private and never a member), ErrForbidden (private), ErrBanned, ErrLimitExceeded.
	Join(ctx context.Context, j Joining) (m Membership, changed bool, err error)
	// Leave takes the user out and keeps his row, so that the room stays known to him. An owner's
	// leaving makes the longest-standing admin, else member, the owner. Entries it made are returned
	// for publication (public rooms: none but a role change). Leaving twice changes nothing.
	Leave(ctx context.Context, l Leaving) (left Left, err error)
	// Direct gives the one room of two people and puts in who of them is not. FieldError{ErrNotFound, "user"}: the other was
	// never seen; FieldError{ErrLimitExceeded, "user"}: one of them is in too many rooms.
	Direct(ctx context.Context, p Pairing) (Paired, error)
	// Change makes something about a room or its people otherwise, as Change.Rule decides of what is held meanwhile. An
	// unknown room is ErrNotFound.
	Change(ctx context.Context, c Change) (Changed, error)
	// FindRooms lists public rooms whose name holds query, newest first, after the cursor of the last page.
	FindRooms(ctx context.Context, query, next string, limit int) (rooms []Room, more string, err error)
	// Room as it is now; ErrNotFound.
	Room(ctx context.Context, room string) (Room, error)
	// Roster lists who is in a room, at most limit of them, in no order.
	Roster(ctx context.Context, room string, limit int) (users []string, err error)
	// Members lists the room's members, owner and admins first, after the cursor of the last page.
	Members(ctx context.Context, room, next string, limit int) (members []Member, more string, err error)
	// Standing of a user to a room; an unknown room, and to a stranger a private one, gives the zero Standing.
	Standing(ctx context.Context, room, user string) (Standing, error)
	// Memberships lists every room the user is in.
	Memberships(ctx context.Context, user string) ([]Membership, error)
	// Membership is one room as the user sees it; ErrNotMember when he is not in it.
	Membership(ctx context.Context, room, user string) (Membership, error)

	// Append adds an entry at the end of its room: key looked up first (dup answers the first entry's
	// seq, id and time), then Standing.MaySend, then the next seq. Sending moves one's own read_seq.
	Append(ctx context.Context, d Draft) (e Entry, dup bool, err error)
	// Amend edits, recalls or reacts to an entry, as Amendment.Apply decides of what is held meanwhile.
	Amend(ctx context.Context, a Amendment) (Amended, error)
	// History reads a page, always ascending. Texts come folded (Entry.Folded).
	History(ctx context.Context, room string, p Page) (entries []Entry, more bool, err error)
	// Spans reads several rooms' ranges in one round trip, each ascending: for resume and gap repair.
	Spans(ctx context.Context, spans []Span) (map[string][]Entry, error)
	// LastSeqs of the rooms asked; unknown rooms are left out.
	LastSeqs(ctx context.Context, rooms []string) (map[string]int64, error)
	// Read moves read_seq forward, never back and never past the last entry.
	Read(ctx context.Context, room, user string, seq int64) (Reading, error)
}

// NewRoom is a room to be made.
type NewRoom struct {
	ID       string
	Name     string
	Kind     RoomKind
	Owner    User
	Members  []string // besides the owner
	Key      string
	Hash     []byte // of the request's content
	At       time.Time
	MaxRooms int // memberships a user may have
}

// Joining is a user on his way into a room.
type Joining struct {
	Room, User string
	At         time.Time
	MaxRooms   int
	MaxMembers int
}

// Leaving is a user on his way out. EntryIDs are used, in order, for the entries it makes.
type Leaving struct {
	Room     string
	User     User
	At       time.Time
	EntryIDs [2]string
}

// Left is what a Leave did.
type Left struct {
	Changed bool
	Room    Room
	Heir    string // the new owner, when it took one
	Entries []Entry
}

// Draft is an entry without its seq.
type Draft struct {
	ID   string
	Room string
	From User
	Kind EntryKind
	Key  string
	Hash []byte
	Body json.RawMessage
	At   time.Time

	ReplyTo int64 // 0: to nothing; else an entry of the room, or it is FieldError{ErrBadRequest, "reply_to"}
}

// Page asks for a part of a room's history: the newest when both cursors are nil.
type Page struct {
	Before, After *int64
	Limit         int
	MaxBytes      int // of all bodies together, 0: any; at least one entry comes
}

// Span is the range (After, Through] of a room.
type Span struct {
	Room           string
	After, Through int64
}

// Reading is the outcome of a Read.
type Reading struct {
	Seq     int64
	Unread  int64
	Moved   bool
	Members int // of the room
}

package chat

import (
	"context"
	"encoding/json"
	"time"
)

// Store holds users, rooms, members and entries. Each method is one transaction (or one consistent read) and blocks
// until it is durable; many callers may share one commit. A driver's failure is returned wrapped in ErrUnavailable.
// All other errors are sentinels of this package.
type Store interface {
	// Epoch returns the name of the numbering of this database's entries. It changes only when seqs are lost or
	// renumbered.
	Epoch(ctx context.Context) (string, error)
	// PutUser stores the user's name and avatar from a token that was issued at the Unix second issued; 0: the token
	// does not say. It returns the Unix second up to which the user's tokens are refused; 0: none are. A refused token
	// changes nothing.
	PutUser(ctx context.Context, u User, issued int64) (notBefore int64, err error)
	// Revoke makes the user's tokens refused that were issued up to the given Unix second. That second never moves
	// back. Revoke creates an unknown user.
	Revoke(ctx context.Context, user string, second int64) error
	// KeyUsed reports whether the user has used this key in any command.
	KeyUsed(ctx context.Context, user, key string) (bool, error)

	// CreateRoom creates the room with its owner and first members, which must be known users (else ErrNotFound). It
	// looks up the key first: a used key returns the room with dup set, or ErrKeyReused. The room is then returned as
	// it is now, without a role for an owner that has left it.
	CreateRoom(ctx context.Context, r NewRoom) (m Membership, dup bool, err error)
	// Join adds the user to a public room, and changes nothing if the user is in it already. Entries sent before the
	// Join count as read. A user that joins an empty room becomes its owner. Errors: ErrNotFound (unknown, or private
	// and the user never was a member), ErrForbidden (private), ErrBanned, ErrLimitExceeded.
	Join(ctx context.Context, j Joining) (m Membership, changed bool, err error)
	// Leave removes the user and keeps the row of the membership, so that the room stays known to the user. If the
	// owner leaves, the longest-standing admin becomes the owner or, without admins, the longest-standing member. It
	// returns the new entries for publication; in a public room only a role change makes one. Leaving twice changes
	// nothing.
	Leave(ctx context.Context, l Leaving) (left Left, err error)
	// Direct returns the one direct room of two users and adds those that are not members. It returns
	// FieldError{ErrNotFound, "user"} if the other user is unknown, and FieldError{ErrLimitExceeded, "user"} if one of
	// the two is in too many rooms.
	Direct(ctx context.Context, p Pairing) (Paired, error)
	// Change changes a room or its members as Change.Rule decides. The state that Rule judges is locked until the
	// commit. An unknown room is ErrNotFound.
	Change(ctx context.Context, c Change) (Changed, error)
	// FindRooms lists public rooms whose name contains query, newest first. next is the cursor of a page, and more
	// that of the following page.
	FindRooms(ctx context.Context, query, next string, limit int) (rooms []Room, more string, err error)
	// Room returns the room as it is now; ErrNotFound.
	Room(ctx context.Context, room string) (Room, error)
	// Roster lists the members of a room, at most limit of them, in any order.
	Roster(ctx context.Context, room string, limit int) (users []string, err error)
	// Members lists the room's members, owner and admins first. next is the cursor of a page, and more that of the
	// following page.
	Members(ctx context.Context, room, next string, limit int) (members []Member, more string, err error)
	// Standing returns the standing of a user in a room. It is zero for an unknown room, and for a private room of
	// which the user never was a member.
	Standing(ctx context.Context, room, user string) (Standing, error)
	// Memberships lists every room the user is in.
	Memberships(ctx context.Context, user string) ([]Membership, error)
	// Membership returns one room as the user sees it; ErrNotMember if the user is not in it.
	Membership(ctx context.Context, room, user string) (Membership, error)

	// Append adds an entry at the end of its room. It looks up the key first: a used key returns the seq, id and time
	// of its first entry, with dup set. Then it checks Standing.MaySend and takes the next seq. It also moves the
	// sender's read_seq to the new entry.
	Append(ctx context.Context, d Draft) (e Entry, dup bool, err error)
	// Amend edits, recalls or reacts to an entry as Amendment.Apply decides. The state that Apply judges is locked
	// until the commit.
	Amend(ctx context.Context, a Amendment) (Amended, error)
	// History reads a page of entries, in ascending order. Texts are returned with their amendments applied
	// (Entry.Folded).
	History(ctx context.Context, room string, p Page) (entries []Entry, more bool, err error)
	// Spans reads ranges of several rooms in one round trip, each in ascending order. It serves resume and gap repair.
	Spans(ctx context.Context, spans []Span) (map[string][]Entry, error)
	// LastSeqs returns the last seq of each room; unknown rooms are left out.
	LastSeqs(ctx context.Context, rooms []string) (map[string]int64, error)
	// Read moves read_seq forward, never back and never past the last entry.
	Read(ctx context.Context, room, user string, seq int64) (Reading, error)
}

// NewRoom is a room to be created.
type NewRoom struct {
	ID       string
	Name     string
	Kind     RoomKind
	Owner    User
	Members  []string // besides the owner
	Key      string
	Hash     []byte // hash of the request's content
	At       time.Time
	MaxRooms int // limit: rooms that a user may be in
}

// Joining is a request to join a room.
type Joining struct {
	Room, User string
	At         time.Time
	MaxRooms   int
	MaxMembers int
}

// Leaving is a request to leave a room. The new entries get the EntryIDs, in their order.
type Leaving struct {
	Room     string
	User     User
	At       time.Time
	EntryIDs [2]string
}

// Left is the result of Store.Leave.
type Left struct {
	Changed  bool
	Room     Room
	NewOwner string // empty unless the room has got a new owner
	Entries  []Entry
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

	ReplyTo int64 // 0: no reply; else it must be an entry of the room, or the error is FieldError{ErrBadRequest, "reply_to"}
}

// Page selects a part of a room's history. Without a cursor it is the newest part.
type Page struct {
	Before, After *int64
	Limit         int
	MaxBytes      int // bound of all bodies together; 0: none; at least one entry is returned
}

// Span selects the entries of a room whose seq is above After and at most Through.
type Span struct {
	Room           string
	After, Through int64
}

// Reading is the result of Store.Read.
type Reading struct {
	Seq     int64
	Unread  int64
	Moved   bool
	Members int // of the room
}

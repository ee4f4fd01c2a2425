package chat

import (
	"context"
	"encoding/json"
	"time"
)

// Store holds users, rooms, members and entries. A method that changes something does so in one transaction, and blocks until it
// is durable; many callers may share one commit.
// Each error wraps a RequestError of this package. If the store fails, that is ErrUnavailable.
//
// A membership is either chosen by the user or not. It is chosen if the user has created, opened or joined the room, or has
// sent a text or a packet into it. A user that was only added by others has not chosen the room. The limits on rooms count
// chosen rooms and others separately (UserStanding.Rooms).
type Store interface {
	UserStore
	ContactStore
	RoomStore
	MemberStore
	LinkStore
	EntryStore
	ReportStore
	RuleStore
	SubscriptionStore
	ErasureStore
	LegalHoldStore
	RetentionStore

	// Epoch returns the name of the numbering of this database's entries. The name changes only when seqs are lost or
	// renumbered.
	Epoch(ctx context.Context) (string, error)
}

// UserStore keeps what is known of users, from their tokens and from the host.
type UserStore interface {
	// PutUser stores what a token says about its user. issued is the Unix second at which the token was issued; 0: the
	// token does not say. PutUser returns the user as stored. Tokens issued up to the Unix second notBefore are refused; 0:
	// none are; SuspendedSecond: all are. A refused token changes nothing.
	PutUser(ctx context.Context, p Profile, issued int64) (stored User, notBefore int64, err error)
	// Revoke makes the user's tokens refused that were issued up to the given Unix second. That second never moves
	// back. Revoke also removes the user's device code and push subscriptions. It creates the user if it is unknown.
	Revoke(ctx context.Context, user string, second int64) error
	// Revoked returns the Unix second up to which the tokens of these users are refused. Users whose tokens were never
	// revoked are left out. Of a suspended user the second is SuspendedSecond.
	Revoked(ctx context.Context, users []string) (map[string]int64, error)
	// Suspend marks the user as suspended since the given time, and removes the user's device code and push subscriptions.
	// It creates the user if it is unknown. If the user is suspended already, the earlier time stays.
	Suspend(ctx context.Context, user string, at time.Time) (UserRecord, error)
	// Reinstate ends the suspension of a user. ErrNotFound: the user is unknown.
	Reinstate(ctx context.Context, user string) (UserRecord, error)
	// PutDeviceCode stores the hash of the user's device code, in place of an earlier one. issued is the Unix second at which
	// the caller's token was issued. ErrNotFound: the user is unknown or suspended, or the token was revoked.
	PutDeviceCode(ctx context.Context, user string, issued int64, hash []byte, until time.Time) error
	// TakeDeviceCode removes the user's device code and returns the user, if the code has this hash and ends after now.
	// Otherwise it changes nothing and returns ErrNotFound. Of several calls with one code, at most one succeeds.
	TakeDeviceCode(ctx context.Context, user string, hash []byte, now time.Time) (User, error)
	// PutPicture stores a picture of the user, and deletes all but the user's newest PicturesKept pictures. issued is the Unix
	// second at which the caller's token was issued. ErrNotFound: the user is unknown or suspended, or the token was revoked.
	PutPicture(ctx context.Context, user string, issued int64, p Picture, at time.Time) error
	// Picture returns the data of a picture that some user has; ErrNotFound if none has it.
	Picture(ctx context.Context, hash []byte) ([]byte, error)
	// DeletePictures deletes the user's pictures that were stored until the given time, if there are any.
	DeletePictures(ctx context.Context, user string, until time.Time) error
	// UserRecord returns the user as the host sees it. ErrNotFound: the user is unknown.
	UserRecord(ctx context.Context, user string) (UserRecord, error)
	// UserRecordsOf returns the records of the known users among users (ids) and refs (ids of the host), each once and in any
	// order.
	UserRecordsOf(ctx context.Context, users, refs []string) ([]UserRecord, error)
	// UserRecords lists a page of the users that the query selects, ordered by id or, if RefPrefix is set, by ref. q.Next and
	// more are cursors, as in FindRooms.
	UserRecords(ctx context.Context, q UserQuery) (users []UserRecord, more string, err error)
	// PutUserRecord creates a user or changes what the host says about one. FieldError{ErrConflict, "ref"}: another user has
	// the ref.
	PutUserRecord(ctx context.Context, p UserPut) (UserRecord, error)
	// EnsureUsers creates those of the users that are unknown, without a name.
	EnsureUsers(ctx context.Context, users []string) error
}

// ContactStore keeps which users may contact which others, and which names a user may learn.
type ContactStore interface {
	// Block makes b.User block b.Blocked, which may be an unknown user. It returns the direct room of the two if b.User is in
	// that room, otherwise "". A block that exists already is kept. Error: ErrLimitExceeded.
	Block(ctx context.Context, b Blocking) (room string, err error)
	// Unblock ends a block, if there is one.
	Unblock(ctx context.Context, user, blocked string) error
	// Blockers returns those of the users that have blocked the user, in any order.
	Blockers(ctx context.Context, user string, of []string) ([]string, error)
	// Contacts returns the user's contact setting and the users that the user has blocked.
	Contacts(ctx context.Context, user string) (Contacts, error)
	// SetContact stores the user's contact setting. It creates the user if it is unknown.
	SetContact(ctx context.Context, user string, c Contact) error
	// Known returns those of the users whose name the viewer may learn, ordered by id: the viewer, and users that are in a
	// room together with the viewer. A direct room counts only if the user other than the viewer has chosen it.
	Known(ctx context.Context, viewer string, users []string) ([]User, error)
	// Strangers returns the members of a direct room, other than the viewer, that have not chosen it and are in no other
	// room with the viewer. It returns none for other rooms.
	Strangers(ctx context.Context, room, viewer string) ([]string, error)
	// UnchosenDirect returns the direct rooms that the user is in and has not chosen.
	UnchosenDirect(ctx context.Context, user string) ([]string, error)
}

// RoomStore keeps rooms, and changes them together with their members.
type RoomStore interface {
	// CreateRoom creates the room with its owner and first members. It looks up the key first. For a used key it returns dup and
	// the room as it is now, or ErrKeyReused if the request was another one. The result has no role if the owner is no longer
	// a member. If a room that is not deleted has the Ref already, CreateRoom returns that room with dup.
	//
	// Errors: ErrContactRefused if a block or a member's contact setting forbids the owner to add the member, or if a member is an
	// unknown user; for a room of the host that is ErrNotFound. ErrLimitExceeded if the owner or a member is in too many rooms.
	// FieldError{ErrLimitExceeded, "kind"} if the room is public and the owner owns too many public rooms.
	//
	// If NewRoom.Host is set, the key is one of System's, blocks and contact settings do not count, and the owner's membership
	// is not chosen.
	CreateRoom(ctx context.Context, r NewRoom) (m Membership, dup bool, err error)
	// Direct returns the one direct room of two users. It creates the room if there is none. It adds p.User if that user
	// has left, but not the other user, and counts p.User's membership as chosen. It
	// may return a FieldError with the field "user". ErrContactRefused: p.User would be
	// added, but the other user is unknown, or a block or that user's contact setting forbids it. ErrLimitExceeded: a user to add is in too many rooms.
	Direct(ctx context.Context, p Pairing) (Paired, error)
	// Change changes a room or its members as Change.Rule decides. It makes a change only if Rule allows it on state that is
	// locked until the commit; it may refuse one without a lock. An unknown room is ErrNotFound.
	Change(ctx context.Context, c Change) (Changed, error)
	// Join adds the user to a public room, and changes nothing if the user is in it already. Entries sent before the
	// Join count as read. A user that joins an empty room becomes its owner. A user is added only if Joining.Refusal allows it
	// on state that is locked until the commit; Join may refuse without a lock. The error of Refusal is ErrForbidden for a
	// private or direct room that the user has been in. Other errors of Join: ErrNotFound for an unknown room,
	// ErrLimitExceeded for a user in too many rooms.
	Join(ctx context.Context, j Joining) (m Membership, changed bool, err error)
	// Leave removes the user and keeps the row of the membership, so that Standing.Ever stays true. If the
	// owner leaves, the admin that joined first becomes the owner or, without admins, the member that joined first. Leave
	// returns the new entries for publication; in a public room only the new owner makes one. A repeated Leave changes
	// nothing.
	Leave(ctx context.Context, l Leaving) (left Left, err error)
	// FindRooms lists public rooms that have members and whose name matches the query (words.Match), newest first. next is the cursor of
	// the page; "" is the first page. more is the cursor of the following page; "" if there is none. A page may have fewer rooms
	// than the limit, although another one follows.
	FindRooms(ctx context.Context, query, next string, limit int) (rooms []Room, more string, err error)
	// Room returns the room as it is now. A deleted room is returned, too, with Room.Deleted set. ErrNotFound means that
	// there never was such a room.
	Room(ctx context.Context, room string) (Room, error)
	// RoomRecord returns the room as the host sees it. ErrNotFound: there is no such room, or it is deleted.
	RoomRecord(ctx context.Context, room string) (RoomRecord, error)
	// RoomRecords lists the rooms that are not deleted, also direct rooms, ordered by id and so oldest first. If q.Ref is set,
	// RoomRecords returns only the room that has the Ref, if there is one. q.Next and more are cursors, as in FindRooms.
	RoomRecords(ctx context.Context, q RoomQuery) (rooms []RoomRecord, more string, err error)
}

// MemberStore keeps what users have to do with rooms.
type MemberStore interface {
	// Standing returns the standing of a user in a room, which may have a ban that has ended (Standing.At). If the user never
	// was a member and never was banned, only Visible can be set: if the room is public and not deleted.
	Standing(ctx context.Context, room, user string) (Standing, error)
	// Memberships lists every room the user is in.
	Memberships(ctx context.Context, user string) ([]Membership, error)
	// MembershipsPage lists at most limit rooms that the user is in, the newest first, which are those with the greatest ids. next and
	// more are the last id of the page before; "" is the first page, and after the last one. A page may have fewer rooms than the limit, although
	// another one follows.
	MembershipsPage(ctx context.Context, user, next string, limit int) (page []Membership, more string, err error)
	// Membership returns one room as the user sees it; ErrNotMember if the user is not in it.
	Membership(ctx context.Context, room, user string) (Membership, error)
	// Members lists the room's members, owner and admins first. next and more are cursors, as in FindRooms.
	Members(ctx context.Context, room, next string, limit int) (members []Member, more string, err error)
	// Roster lists the members of a room, at most limit of them, in any order.
	Roster(ctx context.Context, room string, limit int) (users []string, err error)
	// ActiveSince lists the members of a room that have joined it at this time or later, or whose read position is an entry of that time: at
	// most limit of them, those that have read furthest first.
	ActiveSince(ctx context.Context, room string, since time.Time, limit int) (users []string, err error)
	// Bans lists the users that are banned from the room at the time now, ordered by id. next and more are cursors, as in
	// FindRooms.
	Bans(ctx context.Context, room, next string, limit int, now time.Time) (bans []Banned, more string, err error)
	// SetPrefs changes the Prefs of a member, and returns all of them after the change.
	SetPrefs(ctx context.Context, c PrefsChange) (Prefs, error)
}

// LinkStore keeps invite links, and users that ask to enter a room.
type LinkStore interface {
	// CreateLink stores a link. It first looks up l.Request, unless that is nil. If the room has a link with the same Request,
	// CreateLink returns that link, or the error of NewLink.Repeats, and changes nothing. Otherwise NewLink.Refusal decides, on
	// state that is locked until the commit. Links of the room that have expired or are used up do not count, and are deleted.
	// An unknown room is ErrNotFound.
	CreateLink(ctx context.Context, l NewLink) (stored NewLink, err error)
	// Link returns the link of the room with this id; ErrNotFound if there is none.
	Link(ctx context.Context, room, id string) (LinkState, error)
	// Links lists the links of the room that have not expired at the time now, newest first. If creator is not empty, it lists
	// only those of that user.
	Links(ctx context.Context, room, creator string, now time.Time) ([]Link, error)
	// DeleteLink deletes the link of the room with this id, if there is one. If creator is not empty, it deletes only a link of
	// that user.
	DeleteLink(ctx context.Context, room, id, creator string) error
	// JoinRequests lists at most limit users that ask to enter the room, oldest request first. It leaves out members, banned
	// users, and users that have become members since their request, even if they have left again.
	JoinRequests(ctx context.Context, room string, limit int) ([]JoinRequest, error)
}

// EntryStore keeps the entries of rooms, and how far members have read them.
type EntryStore interface {
	// EntriesOf reads what the user has sent, in its present state, also into rooms that the user has left or that are deleted: by room and seq. A page
	// may have fewer entries than limit, or none, although there are others: next and more are cursors, as in FindRooms.
	EntriesOf(ctx context.Context, user, next string, limit int) (entries []Entry, more string, err error)
	// KeyUsed reports whether the user has used this key to send a text or a packet, or to create a room. The keys of reports
	// and invite links are separate.
	KeyUsed(ctx context.Context, user, key string) (bool, error)
	// Append adds a text entry at the end of its room. It looks up the key first. For a used key it returns the seq, id and time
	// of the first entry, with dup set, or ErrKeyReused if the request was another one. Otherwise Draft.Refusal decides, and
	// the entry takes the next seq. A direct room that the other user has left refuses entries: ErrContactRefused. A frozen
	// room refuses entries that are not from System: FrozenRefusal. A file belongs to one entry only. Append also moves the sender's read_seq to the new entry,
	// and counts the sender's membership as chosen.
	Append(ctx context.Context, d Draft) (e Entry, dup bool, err error)
	// Files returns those of the files that the user has uploaded whole to the room and that belong to no entry, in the order of ids.
	Files(ctx context.Context, room, user string, ids []string) ([]File, error)
	// Amend edits, recalls or reacts to an entry as Amendment.Apply decides. The state that Apply judges is locked
	// until the commit.
	Amend(ctx context.Context, a Amendment) (Amended, error)
	// History reads a page of entries, in ascending order. Texts and packets are returned with their amendments applied
	// (Entry.Folded).
	History(ctx context.Context, room string, p Page) (entries []Entry, more bool, err error)
	// Mentions lists texts of other users that mention the user, newest first and with their amendments applied. It leaves
	// out recalled texts, and rooms that the user is not in. A page may have fewer entries than limit, or none, although
	// another page follows. maxBytes has the meaning of Page.MaxBytes; next and more are cursors, as in FindRooms.
	Mentions(ctx context.Context, user, next string, limit, maxBytes int) (entries []Entry, more string, err error)
	// Search finds entries, the newest first.
	Search(ctx context.Context, s Search) (Found, error)
	// IndexEntries adds the next entries of the rooms to the index in which Search looks, at most limit in all. It returns the rooms that may have
	// others.
	IndexEntries(ctx context.Context, rooms []string, limit int) (left []string, err error)
	// Spans reads ranges of entries of several rooms, each in ascending order. Of the amendments only recalls are applied. Spans
	// serves resume and gap repair.
	Spans(ctx context.Context, spans []Span) (map[string][]Entry, error)
	// LastSeqs returns the last seq of each room; unknown rooms are left out.
	LastSeqs(ctx context.Context, rooms []string) (map[string]int64, error)
	// Read moves read_seq forward, never back and never past the last entry.
	Read(ctx context.Context, room, user string, seq int64, now time.Time) (Reading, error)
	// UnreadBy returns at most u.Limit of the users that u selects. They are in the room, have not read the entry and have not
	// made the room silent. They are ordered by id.
	UnreadBy(ctx context.Context, u Unread) ([]string, error)
}

// ReportStore keeps what users report.
type ReportStore interface {
	// ReportByKey returns the report that n.By has made with this key, if there is one; ErrKeyReused if its hash differs.
	ReportByKey(ctx context.Context, n NewReport) (stored Report, found bool, err error)
	// AddReport stores a report. If the user has made a report with this key, AddReport returns that report with dup set, or
	// ErrKeyReused if the request was another one. If the user has an open report about the same entry, or about the same user
	// in the same room, AddReport returns that one with dup set.
	AddReport(ctx context.Context, n NewReport) (stored Report, dup bool, err error)
	// ReportByID returns a report; ErrNotFound if there is none.
	ReportByID(ctx context.Context, id string) (Report, error)
	// OwnReports lists those of one side of a user, in the opposite order of their ids.
	OwnReports(ctx context.Context, q OwnReports) ([]Report, error)
	// AppealReport stores the result of Report.Appealed. Errors: ErrNotFound, ErrConflict.
	AppealReport(ctx context.Context, id string, a Appeal) (Report, error)
	// Reports lists reports in the order of their ids, so the oldest first.
	Reports(ctx context.Context, q ReportQuery) ([]Report, error)
	// ResolveReport resolves an open report. A report that has this outcome and note already is returned unchanged. Errors:
	// ErrNotFound, and FieldError{ErrConflict, "outcome"} for a report that was resolved with another outcome or note.
	ResolveReport(ctx context.Context, r Resolution) (Report, error)
}

// SubscriptionStore keeps subscriptions to notifications (Web Push).
type SubscriptionStore interface {
	// PutSubscription stores a push subscription, in place of the user's subscription with the same endpoint. If the user then
	// has more than most, it removes the oldest ones. It creates the user if it is unknown. ErrUnavailable: tokens issued at
	// sub.At are refused. A command that began before a revocation must not undo it.
	PutSubscription(ctx context.Context, sub Subscription, most int) error
	// DeleteSubscription removes the user's subscription with this endpoint, if there is one. If sub has keys, it removes only
	// a subscription with the same keys. So a subscription whose keys were renewed meanwhile is kept.
	DeleteSubscription(ctx context.Context, sub Subscription) error
	// SubscriptionsOf lists the push subscriptions of the user.
	SubscriptionsOf(ctx context.Context, user string) ([]Subscription, error)
	// Subscriptions lists at most a.Limit push subscriptions of an audience, in the order of user and ID.
	Subscriptions(ctx context.Context, a Audience) ([]Subscription, error)
}

// NewRoom is a room to be created.
type NewRoom struct {
	ID        string
	Name      string
	Kind      RoomKind
	Owner     User
	Members   []string // besides the owner
	Invite    Inviters // "": nothing is set
	NoGuests  bool
	NoPackets bool
	Key       string
	Hash      []byte // hash of the request's content
	At        time.Time
	MaxRooms  int // limit: rooms that a user may be in: chosen ones for the owner, not chosen ones for the members

	MaxPublic int // limit: public rooms that the owner may own, of those that the owner has chosen; 0: no limit

	Host         bool   // the host creates the room, see CreateRoom
	Ref          string // the host's own id; "": none
	Announcement string
}

// KeyUser returns the user that the Key belongs to.
func (r NewRoom) KeyUser() string {
	if r.Host {
		return System.ID
	}
	return r.Owner.ID
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

	Mentions   []string // users that the text mentions; members of the room find it by Store.Mentions
	MentionAll bool     // the text mentions all members: those that are in the room already find it by Store.Mentions
	Files      []string // files that the entry takes: those that Store.Files returns, or the error is FilesGone
}

// Page selects a part of a room's history. Without a cursor it is the newest part.
type Page struct {
	Before, After *int64
	Files         FileKind // only texts with files of this kind that can be read; "": all entries
	Limit         int
	MaxBytes      int // limit of all bodies together; 0: no limit; the first entry is returned even if it is larger
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

package chat

// Publisher sends committed changes, typing and presence to the sockets of every instance. Its calls return no error. A call
// may wait briefly for the store. While the store is slow, all calls of one command together wait little more than a second.
// A lost entry is repaired from the store by its seq; events may be merged or lost.
type Publisher interface {
	// Entry sends an entry to the sockets of all members of its room. They receive entries in the order of seq, even if the
	// calls come in another order.
	Entry(e Entry)
	// ToRoom sends an event to all sockets in a room, ToUser to all sockets of a user.
	ToRoom(room string, e Event)
	ToUser(user string, e Event)
	// StandingChanged tells the other instances to drop the cached standing of the user in the room. With an empty user it
	// says that the room was deleted. With an empty room it concerns the user's account.
	StandingChanged(room, user string)
}

// Discard is a Publisher of a process without sockets: it drops everything.
type Discard struct{}

// Entry implements Publisher, as the other methods do.
func (Discard) Entry(Entry) {}

// ToRoom implements Publisher.
func (Discard) ToRoom(string, Event) {}

// ToUser implements Publisher.
func (Discard) ToUser(string, Event) {}

// StandingChanged implements Publisher.
func (Discard) StandingChanged(string, string) {}

// Event is something that is published but has no seq and is not stored. The receiver switches on its type.
type Event interface{ EventName() string }

// Entered tells a user's sockets that the user is in a room now. It is published before the entries that record the joining, if
// there are any.
type Entered struct{ Membership Membership }

// Exited tells a user's sockets that the user is no longer in a room.
type Exited struct {
	Room   string
	Reason string // left, kicked, banned, deleted
	// Through is the seq of the last entry that the user may see, which records the exit; 0: no entry records it.
	Through int64
}

// MembersCounted is a room's number of members, published about once a second at most by each instance.
type MembersCounted struct {
	Room  string
	Count int
}

// ReadMoved says up to which entry a user has read.
type ReadMoved struct {
	Room string
	User string
	Seq  int64
}

// OutcomeUnknown says that entries of a room may be committed, now or within half a minute, which nobody publishes: every instance must
// compare what it has delivered with the store.
type OutcomeUnknown struct{}

// Typed says that a member of the room is typing.
type Typed struct{ Room, User string }

// PresenceChanged says, in a small room, that a member has come online or gone offline.
type PresenceChanged struct {
	Room, User string
	Online     bool
}

// ContactsChanged tells a user's sockets one change of what the user has decided about contact with others.
type ContactsChanged struct {
	Contact Contact // the new setting; "": it has not changed
	User    string  // was blocked or unblocked; "": no user was
	Blocked bool
}

// JoinRequested tells the owner and the admins of a room how many users ask to enter it.
type JoinRequested struct {
	Room  string
	Count int
}

// JoinRefused tells a user that the owner, an admin or System has dropped the user's request to enter a room.
type JoinRefused struct{ Room string }

// EventName implements Event.
func (JoinRefused) EventName() string { return "join_refused" }

// EventName implements Event.
func (JoinRequested) EventName() string { return "join_requests" }

// EventName implements Event.
func (ContactsChanged) EventName() string { return "contacts" }

// EventName implements Event.
func (OutcomeUnknown) EventName() string { return "outcome_unknown" }

// EventName implements Event.
func (Typed) EventName() string { return "typing" }

// EventName implements Event.
func (PresenceChanged) EventName() string { return "presence" }

// EventName implements Event.
func (Entered) EventName() string { return "entered" }

// EventName implements Event.
func (Exited) EventName() string { return "left" }

// EventName implements Event.
func (MembersCounted) EventName() string { return "members" }

// EventName implements Event.
func (ReadMoved) EventName() string { return "read" }

package chat

// Publisher tells the sockets of every instance what has been committed. It never blocks and never
// fails: what it drops of the sequenced entries, gap repair heals; events may be merged or lost.
type Publisher interface {
	// Entry goes to everyone in its room, in seq order whatever order the calls come in.
	Entry(e Entry)
	// ToRoom and ToUser send an event to all sockets in a room, or of one user.
	ToRoom(room string, e Event)
	ToUser(user string, e Event)
	// Moved tells the other instances that the user stands otherwise to the room than they may remember. Without a user: that
	// everybody does; without a room: that it is the user himself who is otherwise.
	Moved(room, user string)
}

// Event is something that is true now and needs no place in a sequence. The receiver switches on its type.
type Event interface{ EventName() string }

// Entered tells a user's sockets that he is in a room now. It comes before the room's first entry for him.
type Entered struct{ Membership Membership }

// Gone tells a user's sockets that he is out of a room.
type Gone struct {
	Room   string
	Reason string // left, kicked, banned, deleted
	// Through is the last entry that is still for him, the one that says so; 0: there is none.
	Through int64
}

// MembersCounted tells a room how many it is, at most once a second.
type MembersCounted struct {
	Room  string
	Count int
}

// ReadMoved tells how far a user has read.
type ReadMoved struct {
	Room string
	User string
	Seq  int64
}

// Typed tells a room that one of its members is writing.
type Typed struct{ Room, User string }

// PresenceMoved tells a small room that the first socket of one of its members has come, or the last has gone.
type PresenceMoved struct {
	Room, User string
	Online     bool
}

// EventName implements Event.
func (Typed) EventName() string { return "typing" }

// EventName implements Event.
func (PresenceMoved) EventName() string { return "presence" }

// EventName implements Event.
func (Entered) EventName() string { return "entered" }

// EventName implements Event.
func (Gone) EventName() string { return "left" }

// EventName implements Event.
func (MembersCounted) EventName() string { return "members" }

// EventName implements Event.
func (ReadMoved) EventName() string { return "read" }

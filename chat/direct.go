package chat

import "time"

// Pairing is a request for the direct room of two users.
type Pairing struct {
	ID       string // id for the room, if it does not exist yet
	User     User
	Other    string
	At       time.Time
	EntryIDs [2]string
	MaxRooms int
}

// Pair returns one name for the two users. It is the same whichever of them sends the request.
func (p Pairing) Pair() string {
	return min(p.User.ID, p.Other) + " " + max(p.User.ID, p.Other)
}

// Paired is the result of Store.Direct: the room as the requesting user sees it.
type Paired struct {
	Membership Membership
	Entered    []string // new members; both users if the room is new
	Entries    []Entry  // entries that record the users that came back
}

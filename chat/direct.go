package chat

import "time"

// Pairing is two people who want a room of their own.
type Pairing struct {
	ID       string // of the room, if there is none yet
	Asker    User
	Other    string
	At       time.Time
	EntryIDs [2]string
	MaxRooms int
}

// Pair names the two, whoever asks.
func (p Pairing) Pair() string {
	return min(p.Asker.ID, p.Other) + " " + max(p.Asker.ID, p.Other)
}

// Paired is the room, as the asker sees it, and what a Direct did.
type Paired struct {
	Membership Membership
	Entered    []string // who was put in: both, when the room is new
	Entries    []Entry  // for those who come back
}

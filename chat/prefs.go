package chat

import (
	"context"
	"time"
)

// Prefs is what a user has decided about a room for all own devices. Other users do not notice it.
type Prefs struct {
	Silent   bool // new entries make no sound, banner or notification, and do not count in the unread total of all rooms
	Pinned   bool // at the top of the user's list
	Archived bool // not in the user's list; ends with the room's next text or packet, unless Silent is set
}

// PrefsChange is a request to change a member's Prefs. A nil field leaves the stored value.
type PrefsChange struct {
	Room, User               string
	Silent, Pinned, Archived *bool
	At                       time.Time // set by SetPrefs
}

// PrefsChanged tells a user's sockets the present Prefs of a room.
type PrefsChanged struct {
	Room  string
	Prefs Prefs
}

// EventName implements Event.
func (PrefsChanged) EventName() string { return "room_prefs" }

// SetPrefs changes what a member has decided about a room, and returns all of it.
func (s *Service) SetPrefs(ctx context.Context, c PrefsChange) (Prefs, error) {
	if err := checkID("room", c.Room); err != nil {
		return Prefs{}, err
	}
	c.At = s.now()
	p, err := s.store.SetPrefs(ctx, c)
	if err != nil {
		return Prefs{}, err
	}
	s.pub.ToUser(c.User, PrefsChanged{Room: c.Room, Prefs: p})
	return p, nil
}

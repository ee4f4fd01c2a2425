package chat

import (
	"context"
	"time"
)

// Prefs is what a user has decided about a room for all own devices. Other users do not notice it.
type Prefs struct {
	Silent      bool      // new entries make no sound, banner or notification, and do not count in the unread total of all rooms
	SilentUntil time.Time // Silent ends then by itself; zero: it does not
	Pinned      bool      // at the top of the user's list
	Archived    bool      // not in the user's list; ends with the room's next text or packet, unless the room is silent without an end
}

// PrefsChange is a request to change a member's Prefs. A nil field leaves the stored value.
type PrefsChange struct {
	Room, User               string
	Silent, Pinned, Archived *bool
	SilentFor                time.Duration // with Silent set to true: how long; 0: without an end
	At                       time.Time     // set by SetPrefs
}

// longestSilence bounds a silence that ends by itself.
const longestSilence = 365 * 24 * time.Hour

func (c PrefsChange) checkSilence() error {
	const field = "silent_s"
	switch {
	case c.SilentFor == 0:
		return nil
	case c.SilentFor < 0:
		return BadField(field, "must not be negative")
	case c.SilentFor > longestSilence:
		return &FieldError{Err: ErrLimitExceeded, Field: field, Reason: "must be at most a year: leave it out for a silence without an end", Limit: int(longestSilence / time.Second)}
	case c.Silent == nil || !*c.Silent:
		return BadField(field, "needs silent: true")
	}
	return nil
}

// SilentUntil returns when the silence that the change sets ends; zero: it does not end, or the change sets none.
func (c PrefsChange) SilentUntil() time.Time {
	if c.SilentFor == 0 {
		return time.Time{}
	}
	return c.At.Add(c.SilentFor).Truncate(time.Millisecond).UTC() // as stored
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
	if err := c.checkSilence(); err != nil {
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

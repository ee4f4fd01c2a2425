package chat

import "fmt"

// Rule decides what the change does, or returns an error. It first checks whether By may request the change, then the
// users that the change is about.
func (c Change) Rule(s RuleInput) (Ruling, error) {
	if err := c.refusal(s); err != nil {
		return Ruling{}, err
	}
	switch c.Kind {
	case Invite:
		return c.invite(s)
	case Kick, Ban:
		return c.kickOrBan(s.Users[0])
	case Unban:
		return c.unban(s.Users[0])
	case SetRole:
		return c.setRole(s)
	case Mute:
		return c.mute(s.Users[0])
	case UpdateRoom:
		return c.updateRoom(s.Room)
	case DeleteRoom:
		s.Room.Deleted = true
		return Ruling{Room: &s.Room}, nil
	}
	return Ruling{}, fmt.Errorf("no such change: %q", c.Kind)
}

// refusal returns an error unless By may request such a change.
func (c Change) refusal(s RuleInput) error {
	if s.Room.Deleted {
		return ErrNotFound
	}
	if err := s.By.MayRead(); err != nil {
		return err
	}
	if s.Room.Kind == Direct || s.By.Role.rank() < c.needs() {
		return ErrForbidden
	}
	switch c.Kind {
	case Kick, Ban, Unban, Mute:
		if s.Users[0].Standing.Role.rank() >= s.By.Role.rank() { // a rank is not above itself, so users cannot do this to themselves
			return ErrForbidden
		}
	}
	return nil
}

// needs returns the lowest rank that may request such a change.
func (c Change) needs() int {
	switch c.Kind {
	case Invite:
		return Plain.rank()
	case SetRole, DeleteRoom:
		return Owner.rank()
	}
	return Admin.rank()
}

// rank orders the roles: a user can act only on users of a lower rank. A user that is not a member has rank 0.
func (r Role) rank() int {
	switch r {
	case Owner:
		return 3
	case Admin:
		return 2
	case Plain:
		return 1
	}
	return 0
}

// updateRoom changes the fields of the room that differ from their new values. If none differs, it changes nothing.
func (c Change) updateRoom(r Room) (Ruling, error) {
	var to RoomChange
	if name := c.To.Name; name != nil && *name != r.Name {
		to.Name, r.Name = name, *name
	}
	if a := c.To.Announcement; a != nil && *a != r.Announcement {
		to.Announcement, r.Announcement = a, *a
	}
	if to == (RoomChange{}) {
		return Ruling{}, nil
	}
	body, err := Body(to)
	return Ruling{Room: &r, Entries: []RuledEntry{{Kind: KindRoom, Body: body}}}, err
}

package chat

import "fmt"

// Rule decides what becomes of the change: first who may ask for it, then what is wrong with whom it is about.
func (c Change) Rule(s Scene) (Ruling, error) {
	if err := c.refusal(s); err != nil {
		return Ruling{}, err
	}
	switch c.Kind {
	case Invite:
		return c.invite(s)
	case Kick, Ban:
		return c.putOut(s.Users[0])
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

// refusal is nil when By may ask for such a change.
func (c Change) refusal(s Scene) error {
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
		if s.Users[0].Standing.Role.rank() >= s.By.Role.rank() { // nobody is above himself
			return ErrForbidden
		}
	}
	return nil
}

// needs is the least rank that may ask for such a change.
func (c Change) needs() int {
	switch c.Kind {
	case Invite:
		return Plain.rank()
	case SetRole, DeleteRoom:
		return Owner.rank()
	}
	return Admin.rank()
}

// rank orders the roles: who governs must be above whom he governs. One who is out has none.
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

// updateRoom keeps of what is wanted what differs.
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
	return Ruling{Room: &r, Entries: []Ruled{{Kind: KindRoom, Body: body}}}, err
}

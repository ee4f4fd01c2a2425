package chat

import (
	"context"
	"slices"
)

// System is the sender of what the host's back end says and does in its own name. No token can name it: no user's id begins with ~.
// It is no member of any room, and may do in each what an owner may.
var System = User{ID: "~system", Name: "System"}

// IsSystem reports whether this is System.
func (u User) IsSystem() bool { return u.ID == System.ID }

// systemRole ranks above all roles of members.
const systemRole Role = "system"

// systemStanding is the standing of System in each room that is not deleted.
var systemStanding = Standing{Ever: true, In: true, Role: systemRole}

// Refusal returns an error unless the sender, with its standing in the room, may append the entry. The store checks itself that the room
// of an entry of System is not deleted.
func (d Draft) Refusal(st Standing) error {
	if d.From.IsSystem() {
		return nil
	}
	return st.MaySend(d.At)
}

// systemRefusal keeps System from leaving a room without an owner.
func (c Change) systemRefusal(s RuleInput) error {
	takesAway := c.Kind == Kick || c.Kind == Ban || c.Kind == SetRole && c.Role != Owner
	if takesAway && s.Users[0].Standing.Role == Owner {
		return &FieldError{Err: ErrForbidden, Field: "user", Reason: "is the owner: hand the room over first"}
	}
	return nil
}

// withOwner returns the users that a change of roles by System is about: the user and, if the user is to be the owner, also the present one.
func (s *Service) withOwner(ctx context.Context, room, user string, r Role) ([]string, error) {
	users := []string{user}
	if r != Owner {
		return users, nil
	}
	if err := checkID("room", room); err != nil {
		return nil, err
	}
	first, _, err := s.store.Members(ctx, room, "", 1) // owners come first
	for _, m := range first {
		if m.Role == Owner && !slices.Contains(users, m.User.ID) {
			users = append(users, m.User.ID)
		}
	}
	return users, err
}

// roomExists returns ErrNotFound unless there is such a room, and it is not deleted.
func (s *Service) roomExists(ctx context.Context, room string) error {
	r, err := s.store.Room(ctx, room)
	if err == nil && r.Deleted {
		err = ErrNotFound
	}
	return err
}

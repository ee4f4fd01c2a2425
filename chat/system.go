package chat

import (
	"context"
	"errors"
)

// System is the sender of what the host's back end says and does in its own name. No token can name System: no user's id
// begins with ~. System is not a member of any room. In each room System may do what an owner may do. Before System can remove,
// ban or demote an owner, it must hand the room over to another member.
var System = User{ID: "~system", Name: "System"}

// IsSystem reports whether the user is System.
func (u User) IsSystem() bool { return u.ID == System.ID }

// systemRole ranks above all roles of members.
const systemRole Role = "system"

// systemStanding is the standing of System in each room that is not deleted.
var systemStanding = Standing{Ever: true, In: true, Role: systemRole}

// Refusal returns an error unless the sender may append the entry. st is the sender's standing in the room. For an entry of
// System st is not used: the store itself checks that the room exists and is not deleted. The store also checks whether the
// room is frozen, and whether the other user has left a direct room.
func (d Draft) Refusal(st Standing) error {
	if d.From.IsSystem() {
		return nil
	}
	if err := st.MaySend(d.At); err != nil || !d.MentionAll {
		return err
	}
	return st.MayMentionAll()
}

// systemRefusal returns an error if System would remove, ban or demote the owner of a room: the room would have no owner.
func (c Change) systemRefusal(s RuleInput) error {
	takesAway := c.Kind == Kick || c.Kind == Ban || c.Kind == SetRole && c.Role != Owner
	if takesAway && s.Users[0].Standing.Role == Owner {
		return &FieldError{Err: ErrForbidden, Field: "user", Reason: "is the owner: hand the room over first"}
	}
	return nil
}

// handOverBySystem hands the room over to the user. The change is about the present owner, too, which becomes an admin.
func (s *Service) handOverBySystem(ctx context.Context, c Change, user string) error {
	if err := errors.Join(checkID("user", user), checkID("room", c.Room)); err != nil {
		return err
	}
	first, _, err := s.store.Members(ctx, c.Room, "", 1) // the owner comes first
	if err != nil {
		return err
	}
	c.Users = []string{user}
	if len(first) > 0 && first[0].User.ID != user {
		c.Users = append(c.Users, first[0].User.ID)
	}
	_, err = s.change(ctx, c)
	return err
}

// roomExists returns ErrNotFound unless there is such a room, and it is not deleted.
func (s *Service) roomExists(ctx context.Context, room string) error {
	r, err := s.store.Room(ctx, room)
	if err == nil && r.Deleted {
		err = ErrNotFound
	}
	return err
}

package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Invite adds users to a room. If any of them cannot be added, it adds none.
func (s *Service) Invite(ctx context.Context, by User, room string, users []string) error {
	switch {
	case len(users) == 0:
		return BadField("users", "must name somebody")
	case len(users) > s.limits.InviteUsers:
		return &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", s.limits.InviteUsers)}
	}
	var each []string
	for _, user := range users {
		if err := checkID("users", user); err != nil {
			return err
		}
		if !slices.Contains(each, user) {
			each = append(each, user)
		}
	}
	_, err := s.change(ctx, Change{Kind: Invite, Room: room, By: by, Users: each})
	return err
}

// Kick removes a user from a room. After a ban the user cannot come back.
func (s *Service) Kick(ctx context.Context, by User, room, user string, ban bool) error {
	c := Change{Kind: Kick, Room: room, By: by}
	if ban {
		c.Kind = Ban
	}
	return s.changeOf(ctx, c, user)
}

// Unban allows a banned user to come back.
func (s *Service) Unban(ctx context.Context, by User, room, user string) error {
	return s.changeOf(ctx, Change{Kind: Unban, Room: room, By: by}, user)
}

// SetRole changes a member's role. The role Owner hands the room over.
func (s *Service) SetRole(ctx context.Context, by User, room, user string, r Role) error {
	if r.rank() == 0 {
		return BadField("role", "must be owner, admin or member")
	}
	return s.changeOf(ctx, Change{Kind: SetRole, Room: room, By: by, Role: r}, user)
}

// maxTime is the last moment, in Unix milliseconds, that every JSON reader can hold.
const maxTime = 1<<53 - 1

// Mute forbids a member to send for this many seconds; 0 ends the mute.
func (s *Service) Mute(ctx context.Context, by User, room, user string, seconds int64) error {
	if seconds < 0 {
		return BadField("seconds", "must not be negative")
	}
	c := Change{Kind: Mute, Room: room, By: by}
	if seconds > 0 {
		now := s.now().UnixMilli()
		c.Until = time.UnixMilli(now + min(seconds, (maxTime-now)/1000)*1000).UTC()
	}
	return s.changeOf(ctx, c, user)
}

// changeOf makes a change that is about one user.
func (s *Service) changeOf(ctx context.Context, c Change, user string) error {
	if err := checkID("user", user); err != nil {
		return err
	}
	c.Users = []string{user}
	_, err := s.change(ctx, c)
	return err
}

// change makes a change in the store and publishes it.
func (s *Service) change(ctx context.Context, c Change) (Changed, error) {
	if err := checkID("room", c.Room); err != nil {
		return Changed{}, err
	}
	c.At, c.MaxRooms, c.MaxMembers = s.now(), s.limits.Rooms, s.limits.RoomMembers
	for range max(2, len(c.Users)) {
		c.EntryIDs = append(c.EntryIDs, s.newID(c.At))
	}
	done, err := s.store.Change(ctx, c)
	s.forgetChange(c, err)
	switch {
	case err == nil && done.Changed:
		s.publishChange(c, done)
	case c.Kind == DeleteRoom && errors.Is(err, ErrNotFound):
		s.republishDeletion(ctx, c)
	default:
		s.announceStandings(c.Room, err, c.about()...)
	}
	return done, err
}

// about returns the users whose standing a change may alter. Handing a room over also alters the standing of the old
// owner, By.
func (c Change) about() []string {
	if c.Kind == SetRole && c.Role == Owner {
		return append(slices.Clone(c.Users), c.By.ID)
	}
	return c.Users
}

// forgetChange drops the cached standings that a change may have altered, also if it returned an error.
func (s *Service) forgetChange(c Change, err error) {
	for _, user := range c.Users {
		s.Forget(c.Room, user)
	}
	s.Forget(c.Room, c.By.ID) // handing a room over changes the owner's standing
	if c.Kind != DeleteRoom {
		return
	}
	switch {
	case err == nil:
		s.Forget(c.Room, "")
	case errors.Is(err, ErrUnavailable): // the room may have been deleted, so no cached standing in it is reliable
		s.standings.clear()
	}
}

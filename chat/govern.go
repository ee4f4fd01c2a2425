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
	if err := s.CheckInvite(room, users); err != nil {
		return err
	}
	var each []string
	for _, user := range users {
		if !slices.Contains(each, user) {
			each = append(each, user)
		}
	}
	_, err := s.change(ctx, Change{Kind: Invite, Room: room, By: by, Users: each})
	return err
}

// CheckInvite returns the error of Invite that is known without the store, or nil.
func (s *Service) CheckInvite(room string, users []string) error {
	switch {
	case len(users) == 0:
		return BadField("users", "must name somebody")
	case len(users) > s.limits.InviteUsers:
		return &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: fmt.Sprintf("must be at most %d", s.limits.InviteUsers)}
	}
	for _, user := range users {
		if err := checkID("users", user); err != nil {
			return err
		}
	}
	return checkID("room", room)
}

// Kick removes a user from a room.
func (s *Service) Kick(ctx context.Context, by User, room, user string) error {
	return s.changeOf(ctx, Change{Kind: Kick, Room: room, By: by}, user)
}

const banReasonChars = 200

// Ban removes a user from a room, and forbids the user to come back. A user that is not a member can be banned, too. The ban
// ends at until; the zero time: never. The reason is shown to the host. Banning a banned user replaces the end of the ban. It
// replaces the reason, too, unless the new reason is empty.
func (s *Service) Ban(ctx context.Context, by User, room, user string, until time.Time, reason string) error {
	if !until.IsZero() && !until.After(s.now()) {
		return BadField("until", "must be in the future")
	}
	if err := checkOptional("reason", reason, banReasonChars); err != nil {
		return err
	}
	if !until.IsZero() {
		until = time.UnixMilli(min(until.UnixMilli(), maxTime)).UTC()
	}
	if err := CheckUser("user", user); err != nil {
		return err
	}
	return s.changeOf(ctx, Change{Kind: Ban, Room: room, By: by, BanUntil: until, Why: reason}, user)
}

// Banned is a user that is banned from a room.
type Banned struct {
	User   User
	Until  time.Time // zero: the ban does not end
	Reason string
}

// Bans lists the users that are banned from a room, by id, for the host. more is the cursor of the following page; "" if there
// is none.
func (s *Service) Bans(ctx context.Context, room, next string, limit int) (bans []Banned, more string, err error) {
	if limit, err = recordsLimit(limit); err != nil {
		return nil, "", err
	}
	if err := checkID("room", room); err != nil {
		return nil, "", err
	}
	if err := s.roomExists(ctx, room); err != nil {
		return nil, "", err
	}
	return s.store.Bans(ctx, room, next, limit, s.now())
}

// Unban allows a banned user to come back.
func (s *Service) Unban(ctx context.Context, by User, room, user string) error {
	return s.changeOf(ctx, Change{Kind: Unban, Room: room, By: by}, user)
}

// SetRole changes a member's role. The role Owner hands the room over.
func (s *Service) SetRole(ctx context.Context, by User, room, user string, r Role) error {
	if r.rank() == 0 || r == systemRole {
		return BadField("role", "must be owner, admin or member")
	}
	c := Change{Kind: SetRole, Room: room, By: by, Role: r}
	if !by.IsSystem() || r != Owner {
		return s.changeOf(ctx, c, user)
	}
	return s.handOverBySystem(ctx, c, user)
}

// maxTime is the last time, in Unix milliseconds, that every JSON parser represents exactly.
const maxTime = 1<<53 - 1

// Mute forbids a member to send for this many seconds; 0 ends the mute. So that leaving does not end a mute, Mute also works on
// a user that is no longer a member.
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
	s.NoteOutcome(c.Room, err)
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

// about returns the users whose standing a change may alter; none for DeleteRoom, which alters that of all members. If an owner
// hands the room over, that also alters the standing of By. If System does, the old owner is in Users.
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

// UpdateRoom changes a room's name, announcement or settings. An empty name leaves the name unchanged; an empty
// announcement removes the announcement. The membership that it returns has only the room and the role.
func (s *Service) UpdateRoom(ctx context.Context, by User, room string, to RoomChange) (Membership, error) {
	to, err := to.checked(s.limits)
	if err != nil {
		return Membership{}, err
	}
	done, err := s.change(ctx, Change{Kind: UpdateRoom, Room: room, By: by, To: to})
	if err != nil {
		return Membership{}, err
	}
	return Membership{Room: done.Room, Role: done.Role}, nil
}

func (to RoomChange) checked(l Limits) (RoomChange, error) {
	if to.Name != nil && *to.Name == "" {
		to.Name = nil
	}
	if to.Name != nil {
		name, err := checkName(*to.Name, l.NameChars)
		if err != nil {
			return RoomChange{}, err
		}
		to.Name = &name
	}
	if to.Announcement != nil {
		if err := checkOptional("announcement", *to.Announcement, l.AnnouncementChars); err != nil {
			return RoomChange{}, err
		}
	}
	return to, to.Invite.check()
}

func (i Inviters) check() error {
	if i != "" && i != MembersInvite && i != AdminsInvite {
		return BadField("invite", "must be members or admins")
	}
	return nil
}

// DeleteRoom deletes a room for good. Its members are removed.
func (s *Service) DeleteRoom(ctx context.Context, by User, room string) error {
	_, err := s.change(ctx, Change{Kind: DeleteRoom, Room: room, By: by})
	return err
}

// publishChange publishes what a change did, in this order:
//
//  1. to other instances, whose standing has changed;
//  2. to new members, that they have entered the room, so that they receive the entries;
//  3. the entries;
//  4. to removed members, that they are out, so that the last entry they receive is the one that records their removal.
//
// For a deletion it publishes only that the room was deleted.
func (s *Service) publishChange(c Change, done Changed) {
	if c.Kind == DeleteRoom {
		s.pub.StandingChanged(c.Room, "")
		s.pub.ToRoom(c.Room, Exited{Room: c.Room, Reason: "deleted"})
		return
	}
	s.announceStandings(c.Room, nil, done.Affected...)
	role := Plain
	if c.Kind == Rejoin {
		role = done.Role
	}
	entered := done.Entered
	if c.Kind == AddMembers && len(entered) == done.Room.Members && len(entered) > 0 { // the room was empty
		s.publishEntered(entered[:1], done.Room, Owner, nil)
		entered = entered[1:]
	}
	s.publishEntered(entered, done.Room, role, done.Entries)
	for _, e := range done.Entries {
		s.pub.Entry(e)
	}
	through := int64(0)
	if len(done.Entries) > 0 {
		through = done.Entries[0].Seq
	}
	for _, user := range done.Exited {
		s.pub.ToUser(user, Exited{Room: c.Room, Reason: c.reason(), Through: through})
	}
	if len(done.Entered)+len(done.Exited) > 0 {
		s.memberCounts.changed(c.Room, done.Room.Members)
	}
}

// announceStandings tells the other instances which users' standing may have changed. It does so even if this call
// changed nothing: the call may repeat an earlier one whose outcome was unknown, and which did change the standings. After
// an error that means that nothing was changed, it does nothing. After an unknown outcome it repeats the notices for a while, because
// the change may be committed only after they have arrived.
func (s *Service) announceStandings(room string, err error, users ...string) {
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return
	}
	for _, user := range users {
		s.pub.StandingChanged(room, user)
		if err != nil {
			s.repeats.add(memberKey{room, user})
		}
	}
}

// NoteOutcome is told the error of each write of entries into the room. If the outcome is unknown, the entries may be committed, now or
// later, and nobody publishes them. For a while, all instances are then told to compare the room with the store.
func (s *Service) NoteOutcome(room string, err error) {
	if errors.Is(err, ErrUnavailable) {
		s.roomRepeats.add(memberKey{room: room})
	}
}

// tellChanged makes this and all other instances drop the cached standing of the user in the room, or the user's account if the room is
// empty.
func (s *Service) tellChanged(room, user string) {
	s.Forget(room, user)
	s.pub.StandingChanged(room, user)
}

// republishDeletion publishes again that a room was deleted, when a former member requests the deletion again. The
// first request may have had an unknown outcome, so that it was not published.
func (s *Service) republishDeletion(ctx context.Context, c Change) {
	if st, err := s.store.Standing(ctx, c.Room, c.By.ID); err != nil || !st.RoomDeleted {
		return
	}
	s.Forget(c.Room, "")
	s.publishChange(c, Changed{})
}

// publishEntered tells new members about the room, in its state before the entries that record their joining.
func (s *Service) publishEntered(users []string, r Room, role Role, entries []Entry) {
	if len(entries) > 0 {
		r.LastSeq = entries[0].Seq - 1
	}
	for _, user := range users {
		s.pub.ToUser(user, Entered{Membership: Membership{Room: r, Role: role, ReadSeq: r.LastSeq}})
	}
}

// reason returns the reason that is published to the users that the change has removed.
func (c Change) reason() string {
	if c.Kind == Ban {
		return "banned"
	}
	return "kicked"
}

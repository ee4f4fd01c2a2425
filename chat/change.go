package chat

import (
	"encoding/json"
	"fmt"
	"time"
)

// ChangeKind says what a change does.
type ChangeKind string

// The kinds of changes, most of them named like the commands that request them. After a ban, unlike a kick, the user cannot come
// back until the ban ends.
const (
	Invite     ChangeKind = "invite"
	Rejoin     ChangeKind = "rejoin"    // By comes back to a private room that By has left; Users is only By
	JoinLink   ChangeKind = "join_link" // By enters the room by an invite link, or asks to; Users is only By
	Admit      ChangeKind = "admit"     // lets a user in that asks to enter
	Refuse     ChangeKind = "refuse"    // drops the request of a user that asks to enter
	Kick       ChangeKind = "kick"
	Ban        ChangeKind = "ban"
	Unban      ChangeKind = "unban"
	SetRole    ChangeKind = "set_role"
	Mute       ChangeKind = "mute"
	UpdateRoom ChangeKind = "update_room"
	DeleteRoom ChangeKind = "delete_room"

	AddMembers    ChangeKind = "add_members"    // by System: adds those of Users that may be added; no entry records it
	RemoveMembers ChangeKind = "remove_members" // by System: removes those of Users that may be removed; no entry records it
	Announce      ChangeKind = "announce"       // by System: appends Said
)

// Change is a request to change a room or its members.
//
// Users has any number of users for Invite, AddMembers and RemoveMembers, and none for UpdateRoom, DeleteRoom and Announce.
// Otherwise it has one user. If System hands a room over, the present owner follows as a second user.
type Change struct {
	Kind     ChangeKind
	Room     string
	By       User
	Users    []string      // the users to change, each once; see above
	Role     Role          // for SetRole
	Until    time.Time     // for Mute; the zero time ends the mute
	BanUntil time.Time     // for Ban; the zero time: it does not end
	Why      string        // for Ban: the reason, which only the host sees; "": none, or the earlier one stays
	Said     MembersChange // for Announce
	To       RoomChange    // for UpdateRoom
	Link     string        // id of the link, for JoinLink
	At       time.Time

	EntryIDs   []string // ids for the new entries, used in order; at least max(2, len(Users)) of them
	MaxRooms   int      // limit: rooms that a user may be in, see UserStanding.Rooms
	MaxMembers int      // limit: members that the room may have
}

// RoomChange has the new values of a room's fields. A nil field is unchanged, and so is an empty Invite. It is also the
// body of the entry that records the change.
type RoomChange struct {
	Name         *string  `json:"name,omitempty"`
	Announcement *string  `json:"announcement,omitempty"`
	Invite       Inviters `json:"invite,omitempty"`  // "": unchanged
	Guests       *bool    `json:"guests,omitempty"`  // whether guests can enter
	Packets      *bool    `json:"packets,omitempty"` // whether users can send packets
	Frozen       *bool    `json:"frozen,omitempty"`  // whether only System may post; only System may change it
}

// RuleInput is the state on which Change.Rule decides. Before a change that Rule allows is made, the store locks this state until
// the commit.
type RuleInput struct {
	Room  Room
	By    Standing
	Users []UserStanding // in the order of Change.Users
	Link  *LinkState     // of Change.Link; nil: the room has no such link
	Asks  int            // users that ask to enter the room; set for a JoinLink only
}

// UserStanding is a user with the user's standing in the room.
//
// Rooms is compared with Change.MaxRooms; see Store for what a chosen room is. For Rejoin, JoinLink and Admit it is the
// number of rooms that the user has chosen. For Invite and AddMembers it is the larger of two numbers: the rooms that the
// user has not chosen, and all the user's rooms less MaxRooms. For other changes it is 0.
type UserStanding struct {
	User     string
	Known    bool // the store has the user
	Rooms    int  // see above
	Asks     bool // the user, no member and not banned, asks to enter the room; set for JoinLink, Admit and Refuse only
	Refuses  bool // a block, or the user's contact setting, forbids By to put the user into a room; set for an Invite only
	Standing Standing
	Why      string // of a new standing: the reason of the ban; "": an earlier one stays while the user is banned
}

// Refusal is a user that AddMembers or RemoveMembers leaves out.
type Refusal struct {
	User string
	Err  error
}

// Ruling is what a change does. Its zero value changes nothing.
type Ruling struct {
	Standings []UserStanding // new standings; only User, Standing and, of a ban, Why are set
	Room      *Room          // the room with its new name, announcement, settings and Deleted; nil: unchanged
	Entries   []RuledEntry   // entries to be appended, in this order
	UsesLink  bool           // Change.Link has one more use
	Asks      bool           // the user of Change.Users asks to enter from now on
	Answered  bool           // the user of Change.Users no longer asks to enter: a request is deleted
	Refused   []Refusal
}

// RuledEntry is an entry that a change appends.
type RuledEntry struct {
	Kind EntryKind
	Body json.RawMessage
}

// Changed is the result of Store.Change.
type Changed struct {
	Changed  bool
	Room     Room     // the room after the change
	Role     Role     // By's role after the change
	Affected []string // users whose standing has changed; empty after DeleteRoom, which changes that of all users
	Entered  []string // users of Affected that are new members
	Exited   []string // users of Affected that are no longer members
	Entries  []Entry
	Refused  []Refusal
}

// Rule decides what the change does, or returns an error. It first checks whether By may request the change, then the
// users that the change is about.
func (c Change) Rule(s RuleInput) (Ruling, error) {
	banEnded := s.By.Banned
	s.By = s.By.At(c.At)
	banEnded = banEnded && !s.By.Banned
	for i := range s.Users {
		s.Users[i].Standing = s.Users[i].Standing.At(c.At)
	}
	if c.By.IsSystem() {
		s.By = systemStanding
	}
	if err := c.refusal(s); err != nil {
		return Ruling{}, err
	}
	switch c.Kind {
	case Invite:
		return c.invite(s)
	case Rejoin:
		return c.rejoin(s)
	case JoinLink:
		r, err := c.joinLink(s)
		if err == nil && r.Asks && banEnded { // without this, the store would ignore the request because of the ended ban
			r.Standings = append(r.Standings, UserStanding{User: c.By.ID, Standing: s.By})
		}
		return r, err
	case Admit:
		return c.admit(s)
	case Refuse:
		return Ruling{Answered: s.Users[0].Asks}, nil
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
	case AddMembers:
		return c.addMembers(s), nil
	case RemoveMembers:
		return c.removeMembers(s), nil
	case Announce:
		body, err := Body(c.Said)
		return Ruling{Entries: []RuledEntry{{Kind: KindMember, Body: body}}}, err
	}
	return Ruling{}, fmt.Errorf("no such change: %q", c.Kind)
}

// refusal returns an error unless By may request such a change.
func (c Change) refusal(s RuleInput) error {
	if s.Room.Deleted {
		return ErrNotFound
	}
	switch c.Kind {
	case Rejoin:
		return c.rejoinRefusal(s)
	case JoinLink:
		return c.linkRefusal(s)
	case Invite:
		return s.Room.mayInvite(s.By, c.At)
	}
	if err := s.By.MayRead(); err != nil {
		return err
	}
	if s.Room.Kind == Direct || s.By.Role.rank() < c.needs() {
		return ErrForbidden
	}
	if c.By.IsSystem() {
		return c.systemRefusal(s)
	}
	switch c.Kind {
	case AddMembers, RemoveMembers, Announce:
		return ErrForbidden
	}
	switch c.Kind {
	case Kick, Ban, Unban, Mute:
		if s.Users[0].Standing.Role.rank() >= s.By.Role.rank() { // also true for By itself, so users cannot do this to themselves
			return ErrForbidden
		}
	}
	return nil
}

// rejoinRefusal returns an error unless By is a member, or has left the private room and may enter it.
func (c Change) rejoinRefusal(s RuleInput) error {
	switch {
	case s.By.Banned:
		return ErrBanned
	case !s.By.Ever:
		return ErrNotFound
	case s.By.In:
		return nil
	case !s.By.Left || s.Room.Kind != Private:
		return ErrForbidden
	}
	return s.Room.admit(c.By.ID)
}

// linkRefusal returns an error unless By is a member, or may enter the room by the link. If the link no longer works, a user that
// asks to enter already goes on asking.
func (c Change) linkRefusal(s RuleInput) error {
	works := s.Link != nil && s.Link.works(s.Room, c.At)
	switch {
	case s.By.In:
		return nil
	case !works && s.Users[0].Asks:
		return nil // the user goes on asking
	case !works:
		return errNoLink
	case s.By.Banned:
		return ErrBanned
	}
	return s.Room.admit(c.By.ID)
}

// Admits reports whether the change may add users to the room, so that the limits on their rooms apply.
func (c Change) Admits() bool { return c.Kind == Invite || c.Kind == AddMembers || c.Chosen() }

// Chosen reports whether users that the change adds to the room have chosen to be in it.
func (c Change) Chosen() bool { return c.Kind == Rejoin || c.Kind == JoinLink || c.Kind == Admit }

// AboutRequest reports whether the change depends on the request of its user to enter the room.
func (c Change) AboutRequest() bool { return c.Kind == JoinLink || c.Kind == Admit || c.Kind == Refuse }

// needs returns the lowest rank that may request such a change.
func (c Change) needs() int {
	switch c.Kind {
	case SetRole, DeleteRoom:
		return Owner.rank()
	}
	return Admin.rank()
}

// rank orders the roles. A member can kick, ban, unban and mute only users of a lower rank. A user that is not a member has
// rank 0.
func (r Role) rank() int {
	switch r {
	case systemRole:
		return 4
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
	if in := c.To.Invite; in != "" && in != r.Inviters() {
		to.Invite, r.Invite = in, in
	}
	if g := c.To.Guests; g != nil && *g == r.NoGuests {
		to.Guests, r.NoGuests = g, !*g
	}
	if p := c.To.Packets; p != nil && *p == r.NoPackets {
		to.Packets, r.NoPackets = p, !*p
	}
	if f := c.To.Frozen; f != nil && *f != r.Frozen {
		if !c.By.IsSystem() {
			return Ruling{}, ErrForbidden
		}
		to.Frozen, r.Frozen = f, *f
	}
	if to == (RoomChange{}) {
		return Ruling{}, nil
	}
	body, err := Body(to)
	return Ruling{Room: &r, Entries: []RuledEntry{{Kind: KindRoom, Body: body}}}, err
}

// invite adds those of the users that are not members yet. If any of them cannot be added, it adds none.
func (c Change) invite(s RuleInput) (r Ruling, err error) {
	for _, target := range s.Users {
		switch {
		case !target.Known && c.By.IsSystem():
			return Ruling{}, &FieldError{Err: ErrNotFound, Field: "users", Reason: target.User}
		case target.Standing.Banned:
			return Ruling{}, ErrBanned
		case target.Standing.In:
			continue
		case (target.Standing.Left || target.Refuses || !target.Known) && !c.By.IsSystem(): // of an unknown user nobody shall learn that
			return Ruling{}, &FieldError{Err: ErrContactRefused, Field: "users", Reason: target.User}
		case target.Rooms >= c.MaxRooms:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: target.User + " is in too many rooms"}
		case s.Room.Members+len(r.Standings) >= c.MaxMembers:
			return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: "are more than the room holds"}
		}
		if err := s.Room.admit(target.User); err != nil {
			return Ruling{}, err
		}
		in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: target.Standing.MutedUntil}
		if err := r.setStanding(target.User, in, MemberChange{Change: "invited", By: c.By.ID}); err != nil {
			return Ruling{}, err
		}
	}
	return r, nil
}

// addMembers adds those of the users that may be added. The first member of an empty room becomes its owner.
func (c Change) addMembers(s RuleInput) (r Ruling) {
	for _, target := range s.Users {
		var refusal error
		switch {
		case target.Standing.In:
			continue
		case !target.Known:
			refusal = ErrNotFound
		case target.Standing.Banned:
			refusal = ErrBanned
		case target.Rooms >= c.MaxRooms:
			refusal = &FieldError{Err: ErrLimitExceeded, Field: "users", Reason: "are in too many rooms"}
		case s.Room.Members+len(r.Standings) >= c.MaxMembers:
			refusal = &FieldError{Err: ErrLimitExceeded, Field: "room", Reason: "is full"}
		default:
			refusal = s.Room.admit(target.User)
		}
		if refusal != nil {
			r.Refused = append(r.Refused, Refusal{target.User, refusal})
			continue
		}
		in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: target.Standing.MutedUntil}
		if s.Room.Members+len(r.Standings) == 0 {
			in.Role, in.MutedUntil = Owner, time.Time{}
		}
		r.Standings = append(r.Standings, UserStanding{User: target.User, Standing: in})
	}
	return r
}

// removeMembers removes those of the users that are members, but not the owner.
func (c Change) removeMembers(s RuleInput) (r Ruling) {
	for _, target := range s.Users {
		switch {
		case !target.Standing.In:
		case target.Standing.Role == Owner:
			r.Refused = append(r.Refused, Refusal{target.User, &FieldError{Err: ErrForbidden, Field: "users", Reason: "hold the owner: hand the room over first"}})
		default:
			r.Standings = append(r.Standings, UserStanding{User: target.User, Standing: Standing{Ever: true, MutedUntil: target.Standing.MutedUntil}})
		}
	}
	return r
}

// rejoin adds By to the room that By has left. A user that comes back to an empty room becomes its owner.
func (c Change) rejoin(s RuleInput) (r Ruling, err error) {
	in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: s.By.MutedUntil}
	switch {
	case s.By.In:
		return Ruling{}, nil
	case s.Users[0].Rooms >= c.MaxRooms, s.Room.Members >= c.MaxMembers:
		return Ruling{}, ErrLimitExceeded
	case s.Room.Members == 0:
		in.Role, in.MutedUntil = Owner, time.Time{}
	}
	err = r.setStanding(c.By.ID, in, MemberChange{Change: "invited", By: c.By.ID})
	return r, err
}

// joinLink adds By, unless By is a member already. The entry says that the creator of the link has invited By. If the link
// needs approval, By only asks to enter.
func (c Change) joinLink(s RuleInput) (r Ruling, err error) {
	asks := s.Users[0].Asks
	switch {
	case s.By.In, asks && (s.Link == nil || s.Link.Approval || !s.Link.works(s.Room, c.At)):
		return Ruling{}, nil
	case s.Users[0].Rooms >= c.MaxRooms, s.Room.Members >= c.MaxMembers, s.Link.Approval && s.Asks >= requestsPerRoom:
		return Ruling{}, ErrLimitExceeded
	case s.Link.Approval:
		return Ruling{UsesLink: true, Asks: true}, nil
	}
	r.UsesLink, r.Answered = true, asks
	in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: s.By.MutedUntil}
	err = r.setStanding(c.By.ID, in, MemberChange{Change: "invited", By: s.Link.Creator.ID})
	return r, err
}

// admit adds a user that asks to enter. If the user is a member already, it changes nothing.
func (c Change) admit(s RuleInput) (r Ruling, err error) {
	target := s.Users[0]
	switch {
	case target.Standing.In:
		return Ruling{}, nil
	case target.Standing.Banned:
		return Ruling{}, ErrBanned
	case !target.Asks:
		return Ruling{}, &FieldError{Err: ErrNotFound, Field: "user", Reason: "does not ask to enter"}
	case target.Rooms >= c.MaxRooms, s.Room.Members >= c.MaxMembers:
		return Ruling{}, &FieldError{Err: ErrLimitExceeded, Field: "user", Reason: "is in too many rooms, or the room is full"}
	}
	if err := s.Room.admit(target.User); err != nil {
		return Ruling{}, err
	}
	r.Answered = true
	in := Standing{Ever: true, In: true, Role: Plain, MutedUntil: target.Standing.MutedUntil}
	err = r.setStanding(target.User, in, MemberChange{Change: "invited", By: c.By.ID})
	return r, err
}

// kickOrBan removes a member. A ban also applies to a user that is not a member. It applies to an id that no user has, too: otherwise it
// would tell which users exist.
func (c Change) kickOrBan(target UserStanding) (r Ruling, err error) {
	ban := c.Kind == Ban
	switch {
	case !target.Known && c.By.IsSystem():
		return Ruling{}, unknownUser()
	case !target.Standing.In && !ban:
		return Ruling{}, nil
	}
	out := Standing{Ever: true, Banned: ban, BannedUntil: c.BanUntil, MutedUntil: target.Standing.MutedUntil}
	if target.Standing.Banned {
		if c.BanUntil.Equal(target.Standing.BannedUntil) && c.Why == "" {
			return Ruling{}, nil
		}
		return Ruling{Standings: []UserStanding{{User: target.User, Standing: out, Why: c.Why}}}, nil // another end or reason: no entry
	}
	said := MemberChange{Change: "kicked", By: c.By.ID}
	if ban {
		said.Change, said.Until = "banned", unixMilli(c.BanUntil)
	}
	r.Answered = ban // otherwise a request to enter would count again when the ban ends
	err = r.setStanding(target.User, out, said)
	r.Standings[0].Why = c.Why
	return r, err
}

// unban lets a banned user join again. It appends no entry, because the user does not become a member.
func (c Change) unban(target UserStanding) (Ruling, error) {
	if !target.Standing.Banned {
		return Ruling{}, nil
	}
	st := target.Standing
	st.Banned, st.BannedUntil = false, time.Time{}
	return Ruling{Standings: []UserStanding{{User: target.User, Standing: st}}}, nil
}

// setRole changes a member's role. The role of the owner can only be handed over, so a room with members has exactly one owner.
func (c Change) setRole(s RuleInput) (r Ruling, err error) {
	target := s.Users[0]
	switch {
	case !target.Standing.In:
		return Ruling{}, unknownUser()
	case target.Standing.Role == c.Role:
		return Ruling{}, nil
	case target.User == c.By.ID:
		return Ruling{}, BadField("user", "must be another one: a room is handed over")
	}
	owner := UserStanding{User: c.By.ID, Standing: s.By}
	if c.Role == Owner && c.By.IsSystem() {
		if owner = s.Users[len(s.Users)-1]; owner.Standing.Role != Owner {
			return Ruling{}, ErrConflict // another user has become the owner meanwhile
		}
	}
	if err := c.giveRole(&r, target.User, target.Standing, c.Role); err != nil || c.Role != Owner {
		return r, err
	}
	err = c.giveRole(&r, owner.User, owner.Standing, Admin)
	return r, err
}

// giveRole adds a new role of a user to the ruling. It ends the mute of a new owner, because no other member could: no role of
// members ranks above the owner's.
func (c Change) giveRole(r *Ruling, user string, st Standing, role Role) error {
	if st.Role = role; role == Owner {
		st.MutedUntil = time.Time{}
	}
	return r.setStanding(user, st, MemberChange{Change: "role", By: c.By.ID, Role: role})
}

// mute mutes a user, or ends a mute. It also applies to a user that has left the room. Otherwise leaving and coming back
// would end a mute.
func (c Change) mute(target UserStanding) (r Ruling, err error) {
	st := target.Standing
	switch {
	case !st.Ever:
		return Ruling{}, unknownUser()
	case c.Until.IsZero() && !c.At.Before(st.MutedUntil), c.Until.Equal(st.MutedUntil):
		return Ruling{}, nil
	}
	st.MutedUntil = c.Until
	err = r.setStanding(target.User, st, MemberChange{Change: "muted", By: c.By.ID, Until: unixMilli(c.Until)})
	return r, err
}

// setStanding adds the user's new standing to the ruling, and the entry that records it.
func (r *Ruling) setStanding(user string, st Standing, said MemberChange) error {
	said.User = user
	body, err := Body(said)
	if err != nil {
		return err
	}
	r.Standings = append(r.Standings, UserStanding{User: user, Standing: st})
	r.Entries = append(r.Entries, RuledEntry{Kind: KindMember, Body: body})
	return nil
}

func unknownUser() error {
	return &FieldError{Err: ErrNotFound, Field: "user", Reason: "is not there"}
}

// unixMilli returns the time in Unix milliseconds; 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

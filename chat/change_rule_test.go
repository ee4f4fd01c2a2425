package chat

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.UnixMilli(1_700_000_000_000).UTC()

// standings has a standing for each situation of a user, by name.
var standings = map[string]Standing{
	"outsider": {Visible: true},
	"stranger": {}, // to a private room, of which the user never was a member
	"former":   {Ever: true},
	"member":   {Ever: true, In: true, Role: Plain},
	"muted":    {Ever: true, In: true, Role: Plain, MutedUntil: noon.Add(time.Hour)},
	"banned":   {Ever: true, Banned: true},
	"admin":    {Ever: true, In: true, Role: Admin},
	"owner":    {Ever: true, In: true, Role: Owner},
	"gone":     {Ever: true, RoomDeleted: true},
}

var errorsByName = map[string]error{
	"ok": nil, "not_found": ErrNotFound, "not_member": ErrNotMember, "banned": ErrBanned, "muted": ErrMuted,
	"forbidden": ErrForbidden, "conflict": ErrConflict, "late": ErrEditWindowOver, "bad": ErrBadRequest, "limit": ErrLimitExceeded,
}

// requesters are the names of standings, in the order of the columns of rights.
var requesters = strings.Fields("outsider stranger former banned gone member muted admin owner")

// rights is a table of which users may request which change about which users. It has one line for each change, and
// one column for each of requesters.
//
//nolint:dupword // a table
const rights = `
	invite      outsider not_member not_found not_member banned not_found forbidden muted ok ok
	invite      former   not_member not_found not_member banned not_found forbidden muted ok ok
	invite      banned   not_member not_found not_member banned not_found forbidden muted banned banned
	kick        member   not_member not_found not_member banned not_found forbidden forbidden ok ok
	kick        outsider not_member not_found not_member banned not_found forbidden forbidden ok ok
	kick        admin    not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	kick        owner    not_member not_found not_member banned not_found forbidden forbidden forbidden forbidden
	ban         member   not_member not_found not_member banned not_found forbidden forbidden ok ok
	ban         outsider not_member not_found not_member banned not_found forbidden forbidden ok ok
	ban         admin    not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	ban         owner    not_member not_found not_member banned not_found forbidden forbidden forbidden forbidden
	unban       member   not_member not_found not_member banned not_found forbidden forbidden ok ok
	unban       banned   not_member not_found not_member banned not_found forbidden forbidden ok ok
	unban       admin    not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	mute        member   not_member not_found not_member banned not_found forbidden forbidden ok ok
	mute        former   not_member not_found not_member banned not_found forbidden forbidden ok ok
	mute        outsider not_member not_found not_member banned not_found forbidden forbidden not_found not_found
	mute        admin    not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	mute        owner    not_member not_found not_member banned not_found forbidden forbidden forbidden forbidden
	set_role    member   not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	set_role    admin    not_member not_found not_member banned not_found forbidden forbidden forbidden ok
	set_role    former   not_member not_found not_member banned not_found forbidden forbidden forbidden not_found
	update_room -        not_member not_found not_member banned not_found forbidden forbidden ok ok
	delete_room -        not_member not_found not_member banned not_found forbidden forbidden forbidden ok`

func TestWhoMayChange(t *testing.T) {
	for line := range strings.SplitSeq(strings.TrimSpace(rights), "\n") {
		row := strings.Fields(line)
		for i, requester := range requesters {
			c, s := newChange(ChangeKind(row[0]), standings[requester], row[1])
			want := errorsByName[row[2+i]]
			r, err := c.Rule(s)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s asks for %s of %s: %v, want %v", requester, row[0], row[1], err, row[2+i])
			}
			if err != nil && !reflect.ValueOf(r).IsZero() {
				t.Errorf("%s is refused a %s of %s, and yet %+v", requester, row[0], row[1], r)
			}
			s.Room.Deleted = true
			if _, err := c.Rule(s); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s asks for %s in a deleted room: %v", requester, row[0], err)
			}
			s.Room.Deleted, s.Room.Kind = false, Direct
			switch by := standings[requester]; {
			case c.Kind == Invite && by.MaySend(noon) != nil:
				want = by.MaySend(noon)
			case by.In:
				want = ErrForbidden
			default:
				want = by.MayRead()
			}
			if _, err := c.Rule(s); !errors.Is(err, want) {
				t.Errorf("%s asks for %s in a direct room: %v, want %v", requester, row[0], err, want)
			}
		}
	}
}

// newChange returns a change of this kind that would have an effect. It is about one user, whose standing has the name
// of.
func newChange(kind ChangeKind, by Standing, of string) (Change, RuleInput) {
	name := "new"
	c := Change{
		Kind: kind, Room: "r", By: User{ID: "by"}, Role: Plain, Until: noon.Add(time.Minute), To: RoomChange{Name: &name},
		At: noon, MaxRooms: 5, MaxMembers: 10,
	}
	s := RuleInput{Room: Room{ID: "r", Kind: Private, Name: "old", Members: 5}, By: by}
	if of != "-" {
		c.Users = []string{"other"}
		s.Users = []UserStanding{{User: "other", Known: true, Standing: standings[of]}}
	}
	return c, s
}

// TestWhoMayInvite requests invitations under each setting of the room. A muted member is refused under each of them.
func TestWhoMayInvite(t *testing.T) {
	for _, test := range []struct {
		kind    RoomKind
		setting Inviters
		members bool // plain members may invite
	}{
		{Public, "", true}, {Public, MembersInvite, true}, {Public, AdminsInvite, false},
		{Private, "", false}, {Private, MembersInvite, true}, {Private, AdminsInvite, false},
	} {
		for _, requester := range []string{"member", "admin", "owner", "muted"} {
			c, s := newChange(Invite, standings[requester], "outsider")
			s.Room.Kind, s.Room.Invite = test.kind, test.setting
			_, err := c.Rule(s)
			switch {
			case requester == "muted":
				if !errors.Is(err, ErrMuted) {
					t.Errorf("%s, %q: a muted member invites: %v, want %v", test.kind, test.setting, err, ErrMuted)
				}
			case requester == "member" && !test.members:
				mustName(t, err, ErrForbidden, "invite")
			case err != nil:
				t.Errorf("%s, %q: %s invites: %v", test.kind, test.setting, requester, err)
			}
		}
	}
	admin := standings["muted"]
	admin.Role = Admin
	c, s := newChange(Invite, admin, "outsider")
	if _, err := c.Rule(s); !errors.Is(err, ErrMuted) {
		t.Errorf("a muted admin invites: %v, want %v", err, ErrMuted)
	}
	c.At = noon.Add(time.Hour)
	if _, err := c.Rule(s); err != nil {
		t.Errorf("an admin invites after the end of the mute: %v", err)
	}
}

// mustName fails the test unless err is the error want about this field.
func mustName(t *testing.T, err, want error, field string) {
	t.Helper()
	var bad *FieldError
	if !errors.As(err, &bad) || bad.Err != want || bad.Field != field {
		t.Errorf("got error %v, want %v of %s", err, want, field)
	}
}

// TestRoomWithoutGuests has guests and other users enter a room on each way. Guests must be refused, unless they are
// members already.
func TestRoomWithoutGuests(t *testing.T) {
	const guest = GuestPrefix + "g"
	invite := func(user string, was Standing) error {
		c, s := newChange(Invite, standings["owner"], "-")
		s.Room.NoGuests = true
		c.Users, s.Users = []string{user}, []UserStanding{{User: user, Known: true, Standing: was}}
		_, err := c.Rule(s)
		return err
	}
	rejoin := func(user string, was Standing) error {
		c, s := newChange(Rejoin, was, "-")
		s.Room.NoGuests = true
		c.By.ID, c.Users, s.Users = user, []string{user}, []UserStanding{{User: user, Known: true, Standing: was}}
		_, err := c.Rule(s)
		return err
	}
	join := func(user string) error {
		return Joining{User: user, MaxMembers: 10}.Refusal(Room{Kind: Public, NoGuests: true, Members: 5}, Standing{Visible: true})
	}
	left := Standing{Ever: true, Left: true}
	for way, err := range map[string]error{"invited": invite(guest, Standing{}), "back": rejoin(guest, left), "joining": join(guest)} {
		t.Run(way, func(t *testing.T) { mustName(t, err, ErrForbidden, "guests") })
	}
	for way, err := range map[string]error{
		"a user is invited": invite("user", Standing{}), "a user comes back": rejoin("user", left), "a user joins": join("user"),
		"a guest that is in is invited": invite(guest, standings["member"]), "a guest that is in comes back": rejoin(guest, standings["member"]),
	} {
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
	if err := invite(guest, standings["banned"]); !errors.Is(err, ErrBanned) {
		t.Errorf("a banned guest is invited: %v, want %v", err, ErrBanned)
	}
}

func TestUsersCannotGovernThemselves(t *testing.T) {
	for _, kind := range []ChangeKind{Kick, Ban, Unban, Mute} {
		for _, role := range []string{"member", "admin", "owner"} {
			c, s := newChange(kind, standings[role], role)
			c.Users[0], s.Users[0].User = "by", "by"
			if _, err := c.Rule(s); !errors.Is(err, ErrForbidden) {
				t.Errorf("%s may %s themselves: %v", role, kind, err)
			}
		}
	}
}

// TestUnknownUsers requests changes about a user that does not exist. The result must be that of a stranger that exists and refuses
// contact, but for System, which learns it.
func TestUnknownUsers(t *testing.T) {
	for _, kind := range []ChangeKind{Invite, Kick, Ban, Mute, SetRole, Unban} {
		c, s := newChange(kind, standings["owner"], "stranger")
		s.Users[0].Refuses = true
		known, err := c.Rule(s)
		want := fmt.Sprint(known, err)
		s.Users[0].Known, s.Users[0].Refuses = false, false
		unknown, err := c.Rule(s)
		if got := fmt.Sprint(unknown, err); got != want {
			t.Errorf("%s of an unknown user: %s, want %s", kind, got, want)
		}
		c.By = System
		if _, err := c.Rule(s); (kind == Invite || kind == Kick || kind == Ban) && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of an unknown user by the system: %v, want %v", kind, err, ErrNotFound)
		}
		c.By = User{ID: "by"}
		if s.By = standings["member"]; kind != Invite {
			if _, err := c.Rule(s); !errors.Is(err, ErrForbidden) {
				t.Errorf("a member's %s of an unknown user: %v", kind, err)
			}
		}
	}
}

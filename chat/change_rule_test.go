package chat

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.UnixMilli(1_700_000_000_000).UTC()

// stances are ways to stand to a room, by name.
var stances = map[string]Standing{
	"outsider": {Visible: true},
	"stranger": {}, // to a private room
	"former":   {Ever: true},
	"member":   {Ever: true, In: true, Role: Plain},
	"muted":    {Ever: true, In: true, Role: Plain, MutedUntil: noon.Add(time.Hour)},
	"banned":   {Ever: true, Banned: true},
	"admin":    {Ever: true, In: true, Role: Admin},
	"owner":    {Ever: true, In: true, Role: Owner},
	"gone":     {Ever: true, Gone: true},
}

var words = map[string]error{
	"ok": nil, "not_found": ErrNotFound, "not_member": ErrNotMember, "banned": ErrBanned, "muted": ErrMuted,
	"forbidden": ErrForbidden, "conflict": ErrConflict, "late": ErrEditWindowOver, "bad": ErrBadRequest, "limit": ErrLimitExceeded,
}

// askers are the columns of rights.
var askers = strings.Fields("outsider stranger former banned gone member muted admin owner")

// rights is who may ask for what about whom: one line each, by the columns of askers.
//
//nolint:dupword // a table
const rights = `
	invite      outsider not_member not_found not_member banned not_found ok ok ok ok
	invite      former   not_member not_found not_member banned not_found ok ok ok ok
	invite      banned   not_member not_found not_member banned not_found banned banned banned banned
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
		for i, asker := range askers {
			c, s := asked(ChangeKind(row[0]), stances[asker], row[1])
			want := words[row[2+i]]
			r, err := c.Rule(s)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s asks for %s of %s: %v, want %v", asker, row[0], row[1], err, row[2+i])
			}
			if err != nil && !reflect.DeepEqual(r, Ruling{}) {
				t.Errorf("%s is refused a %s of %s, and yet %+v", asker, row[0], row[1], r)
			}
			s.Room.Deleted = true
			if _, err := c.Rule(s); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s asks for %s in a deleted room: %v", asker, row[0], err)
			}
			s.Room.Deleted, s.Room.Kind = false, Direct
			if in := stances[asker].In; in {
				want = ErrForbidden
			} else {
				want = stances[asker].MayRead()
			}
			if _, err := c.Rule(s); !errors.Is(err, want) {
				t.Errorf("%s asks for %s in a direct room: %v, want %v", asker, row[0], err, want)
			}
		}
	}
}

// asked is a change that would change something, of one user who stands as is said.
func asked(kind ChangeKind, by Standing, of string) (Change, Scene) {
	name := "new"
	c := Change{
		Kind: kind, Room: "r", By: User{ID: "by"}, Role: Plain, Until: noon.Add(time.Minute), To: RoomChange{Name: &name},
		At: noon, MaxRooms: 5, MaxMembers: 10,
	}
	s := Scene{Room: Room{ID: "r", Kind: Private, Name: "old", Members: 5}, By: by}
	if of != "-" {
		c.Users = []string{"other"}
		s.Users = []Placed{{User: "other", Known: true, Standing: stances[of]}}
	}
	return c, s
}

func TestNobodyGovernsHimself(t *testing.T) {
	for _, kind := range []ChangeKind{Kick, Ban, Unban, Mute} {
		for _, role := range []string{"member", "admin", "owner"} {
			c, s := asked(kind, stances[role], role)
			c.Users[0], s.Users[0].User = "by", "by"
			if _, err := c.Rule(s); !errors.Is(err, ErrForbidden) {
				t.Errorf("%s wants to %s himself: %v", role, kind, err)
			}
		}
	}
}

// TestUnknownUsers: of whom nobody has heard, only who may ask hears that.
func TestUnknownUsers(t *testing.T) {
	for kind, want := range map[ChangeKind]string{
		Invite: "users", Kick: "user", Ban: "user", Mute: "user", SetRole: "user", Unban: "",
	} {
		c, s := asked(kind, stances["owner"], "stranger")
		s.Users[0].Known = false
		_, err := c.Rule(s)
		if want == "" {
			if err != nil {
				t.Errorf("%s of nobody: %v", kind, err)
			}
			continue
		}
		var bad *FieldError
		if !errors.As(err, &bad) || bad.Err != ErrNotFound || bad.Field != want {
			t.Errorf("%s of nobody: %v, want not_found of %s", kind, err, want)
		}
		if s.By = stances["member"]; kind != Invite {
			if _, err := c.Rule(s); !errors.Is(err, ErrForbidden) {
				t.Errorf("a member's %s of nobody: %v", kind, err)
			}
		}
	}
}

package chat

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// ruled is a ruling in the form of the tests' tables: the new standings by user, and the bodies of the entries.
type ruled struct {
	stand   map[string]Standing
	entries []string
}

func (want ruled) check(t *testing.T, what string, r Ruling, err error) {
	t.Helper()
	got := ruled{stand: map[string]Standing{}}
	for _, p := range r.Standings {
		got.stand[p.User] = p.Standing
	}
	for _, e := range r.Entries {
		got.entries = append(got.entries, string(e.Kind)+" "+string(e.Body))
	}
	if want.stand == nil {
		want.stand = map[string]Standing{}
	}
	if err != nil || !reflect.DeepEqual(got, want) || r.Room != nil {
		t.Errorf("%s: %+v of the room %+v, %v\nwant %+v", what, got, r.Room, err, want)
	}
}

// TestChangesOfAUser makes each change that is about one user, from each standing of that user that makes a
// difference.
func TestChangesOfAUser(t *testing.T) {
	hour, minute := noon.Add(time.Hour), noon.Add(time.Minute)
	mutedOut := Standing{Ever: true, MutedUntil: hour}
	other := func(st Standing, entries ...string) ruled {
		return ruled{map[string]Standing{"other": st}, entries}
	}
	said := func(rest string) string { return `member {"user":"other",` + rest + `}` }
	for _, test := range []struct {
		name string
		kind ChangeKind
		was  Standing
		with func(*Change)
		want ruled
	}{
		{"invited", Invite, Standing{}, nil, other(standings["member"], said(`"change":"invited","by":"by"`))},
		{"invited again", Invite, standings["member"], nil, ruled{}},
		{"invited while an admin", Invite, standings["admin"], nil, ruled{}},
		{"invited back, muted as before", Invite, mutedOut, nil, other(standings["muted"], said(`"change":"invited","by":"by"`))},
		{"kicked", Kick, standings["admin"], nil, other(standings["former"], said(`"change":"kicked","by":"by"`))},
		{"kicked, muted as before", Kick, standings["muted"], nil, other(mutedOut, said(`"change":"kicked","by":"by"`))},
		{"kicked while out", Kick, standings["former"], nil, ruled{}},
		{"kicked, never in", Kick, standings["outsider"], nil, ruled{}},
		{"kicked while banned", Kick, standings["banned"], nil, ruled{}},
		{"banned", Ban, standings["member"], nil, other(standings["banned"], said(`"change":"banned","by":"by"`))},
		{"banned while out", Ban, standings["former"], nil, other(standings["banned"], said(`"change":"banned","by":"by"`))},
		{"banned, never in", Ban, standings["outsider"], nil, other(standings["banned"], said(`"change":"banned","by":"by"`))},
		{"banned again", Ban, standings["banned"], nil, ruled{}},
		{"unbanned", Unban, Standing{Ever: true, Banned: true, MutedUntil: hour}, nil, other(mutedOut)},
		{"unbanned, not banned", Unban, standings["member"], nil, ruled{}},
		{"unbanned, never in", Unban, standings["outsider"], nil, ruled{}},
		{"muted", Mute, standings["member"], nil, other(
			Standing{Ever: true, In: true, Role: Plain, MutedUntil: minute}, said(`"change":"muted","by":"by","until":1700000060000`))},
		{"muted while out", Mute, standings["former"], nil, other(
			Standing{Ever: true, MutedUntil: minute}, said(`"change":"muted","by":"by","until":1700000060000`))},
		{"muted until the same moment", Mute, standings["muted"], func(c *Change) { c.Until = hour }, ruled{}},
		{"let speak", Mute, standings["muted"], func(c *Change) { c.Until = time.Time{} },
			other(standings["member"], said(`"change":"muted","by":"by"`))},
		{"let speak, not muted", Mute, standings["member"], func(c *Change) { c.Until = time.Time{} }, ruled{}},
		{"let speak, the mute is over", Mute, standings["muted"], func(c *Change) { c.Until, c.At = time.Time{}, hour }, ruled{}},
		{"made an admin", SetRole, standings["muted"], func(c *Change) { c.Role = Admin }, other(
			Standing{Ever: true, In: true, Role: Admin, MutedUntil: hour}, said(`"change":"role","by":"by","role":"admin"`))},
		{"made a member", SetRole, standings["admin"], nil, other(standings["member"], said(`"change":"role","by":"by","role":"member"`))},
		{"the same role", SetRole, standings["member"], nil, ruled{}},
		{"handed the room", SetRole, standings["admin"], func(c *Change) { c.Role = Owner }, ruled{
			map[string]Standing{"other": standings["owner"], "by": standings["admin"]},
			[]string{said(`"change":"role","by":"by","role":"owner"`), `member {"user":"by","change":"role","by":"by","role":"admin"}`},
		}},
		{"handed the room while muted", SetRole, standings["muted"], func(c *Change) { c.Role = Owner }, ruled{
			map[string]Standing{"other": standings["owner"], "by": standings["admin"]},
			[]string{said(`"change":"role","by":"by","role":"owner"`), `member {"user":"by","change":"role","by":"by","role":"admin"}`},
		}},
	} {
		c, s := newChange(test.kind, standings["owner"], "-")
		s.Users = []UserStanding{{User: "other", Known: true, Standing: test.was}}
		if test.with != nil {
			test.with(&c)
		}
		r, err := c.Rule(s)
		test.want.check(t, test.name, r, err)
	}
}

// TestOwnRole lets an owner change the owner's own role: it must stay until the role is handed over to another member.
func TestOwnRole(t *testing.T) {
	c, s := newChange(SetRole, standings["owner"], "owner")
	s.Users[0].User = "by"
	c.Role = Owner
	r, err := c.Rule(s)
	ruled{}.check(t, "owner as before", r, err)
	c.Role = Admin
	var bad *FieldError
	if _, err := c.Rule(s); !errors.As(err, &bad) || bad.Err != ErrBadRequest || bad.Field != "user" {
		t.Errorf("an owner becomes an admin without successor: %v", err)
	}
}

// TestInviteIsAllOrNothing invites several users, one of which cannot join: none may be added. Users that are members
// already must not count towards the limit.
func TestInviteIsAllOrNothing(t *testing.T) {
	c, s := newChange(Invite, standings["admin"], "-")
	s.Room.Members = 8
	s.Users = []UserStanding{
		{User: "a", Known: true, Rooms: 4}, {User: "b", Known: true, Rooms: 9, Standing: standings["member"]}, {User: "c", Known: true},
	}
	r, err := c.Rule(s)
	ruled{map[string]Standing{"a": standings["member"], "c": standings["member"]}, []string{
		`member {"user":"a","change":"invited","by":"by"}`, `member {"user":"c","change":"invited","by":"by"}`,
	}}.check(t, "two come in", r, err)

	for name, spoil := range map[string]func(*RuleInput){
		"the room is full":      func(s *RuleInput) { s.Room.Members = 9 },
		"one has many rooms":    func(s *RuleInput) { s.Users[2].Rooms = 5 },
		"one is unknown":        func(s *RuleInput) { s.Users[2].Known = false },
		"one is banned":         func(s *RuleInput) { s.Users[2].Standing = standings["banned"] },
		"one of the first, too": func(s *RuleInput) { s.Users[0].Rooms = 5 },
	} {
		want := map[string]error{"one is unknown": ErrContactRefused, "one is banned": ErrBanned}[name]
		if want == nil {
			want = ErrLimitExceeded
		}
		spoilt := s
		spoilt.Users = append([]UserStanding(nil), s.Users...)
		spoil(&spoilt)
		r, err := c.Rule(spoilt)
		if !errors.Is(err, want) || !reflect.ValueOf(r).IsZero() {
			t.Errorf("%s: %+v, %v; want nothing and %v", name, r, err, want)
		}
	}
}

// TestChangesOfARoom updates a room. The entry must have only the fields that differ, and nothing else of the room may
// change.
func TestChangesOfARoom(t *testing.T) {
	str := func(s string) *string { return &s }
	for _, test := range []struct {
		to    RoomChange
		want  Room
		entry string
	}{
		{RoomChange{}, Room{}, ""},
		{RoomChange{Name: str("old"), Announcement: str("news")}, Room{}, ""},
		{RoomChange{Name: str("new")}, Room{Name: "new", Announcement: "news"}, `{"name":"new"}`},
		{RoomChange{Name: str("old"), Announcement: str("<more>")}, Room{Name: "old", Announcement: "<more>"}, `{"announcement":"<more>"}`},
		{RoomChange{Name: str("new"), Announcement: str("")}, Room{Name: "new"}, `{"name":"new","announcement":""}`},
		{RoomChange{Invite: AdminsInvite, Guests: new(true)}, Room{}, ""},
		{RoomChange{Invite: MembersInvite}, Room{Name: "old", Announcement: "news", Invite: MembersInvite}, `{"invite":"members"}`},
		{RoomChange{Packets: new(true)}, Room{}, ""},
		{RoomChange{Packets: new(false)}, Room{Name: "old", Announcement: "news", NoPackets: true}, `{"packets":false}`},
		{RoomChange{Guests: new(false)}, Room{Name: "old", Announcement: "news", NoGuests: true}, `{"guests":false}`},
	} {
		c, s := newChange(UpdateRoom, standings["admin"], "-")
		c.To, s.Room.Announcement = test.to, "news"
		r, err := c.Rule(s)
		switch {
		case err != nil || len(r.Standings) > 0:
			t.Errorf("%+v: %+v, %v", test, r, err)
		case test.entry == "":
			if !reflect.ValueOf(r).IsZero() {
				t.Errorf("%+v: %+v, want nothing", test, r)
			}
		default:
			test.want.ID, test.want.Kind, test.want.Members = "r", Private, 5
			if r.Room == nil || *r.Room != test.want || len(r.Entries) != 1 || r.Entries[0].Kind != KindRoom || string(r.Entries[0].Body) != test.entry {
				t.Errorf("%+v: %+v of %+v", test, r, r.Room)
			}
		}
	}
	c, s := newChange(DeleteRoom, standings["owner"], "-")
	r, err := c.Rule(s)
	if err != nil || r.Room == nil || !r.Room.Deleted || len(r.Standings)+len(r.Entries) > 0 {
		t.Errorf("deleted: %+v, %v", r, err)
	}
}

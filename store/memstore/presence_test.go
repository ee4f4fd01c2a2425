package memstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestPresence(t *testing.T) {
	storetest.TestPresence(t, func(*testing.T) storetest.PresenceUnderTest {
		d := NewDirectory()
		return storetest.PresenceUnderTest{A: d.Presence(), B: d.Presence()}
	})
}

func TestDirectoryDropsUsersWhoLeft(t *testing.T) {
	d := NewDirectory()
	p := d.Presence()
	for _, user := range []string{"a", "b"} {
		if _, _, err := p.Enter(t.Context(), user, "s"+user, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Leave(t.Context(), user, "s"+user); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.users) != 0 {
		t.Errorf("%d users are left", len(d.users))
	}
}

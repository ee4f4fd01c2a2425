package storetest

import (
	"slices"

	"hongbao/chat"
)

// wanted returns a change that is not made yet.
func (b *storeBench) wanted(kind chat.ChangeKind, room, by string, users ...string) chat.Change {
	c := chat.Change{Kind: kind, Room: room, By: person(by), Users: users, At: b.tick(), MaxRooms: 100, MaxMembers: 1000}
	for range max(2, len(users)) {
		c.EntryIDs = append(c.EntryIDs, b.id("entry"))
	}
	return c
}

// change makes a change, which must have an effect. It checks the room and the role in the answer, and that the change's
// entries are at the room's end.
func (b *storeBench) change(c chat.Change) chat.Changed {
	b.Helper()
	done, err := b.Change(b.ctx, c)
	b.must(err)
	if !done.Changed {
		b.Fatalf("%+v changes nothing", c)
	}
	if room, err := b.Room(b.ctx, c.Room); err != nil || done.Room != room {
		b.Errorf("it returns the room %+v, which is %+v, %v", done.Room, room, err)
	}
	if st := b.standing(c.Room, c.By.ID); done.Role != st.Role {
		b.Errorf("it returns the role %q of %+v", done.Role, st)
	}
	kept := b.history(c.Room)
	for i, e := range done.Entries {
		at := kept[len(kept)-len(done.Entries)+i]
		if !sameEntry(at, e) || e.ID != c.EntryIDs[i] || !e.At.Equal(c.At) || e.From != c.By {
			b.Errorf("it made the entry %+v, kept is %+v", e, at)
		}
	}
	b.balanced()
	return done
}

// idle makes a change that must have no effect.
func (b *storeBench) idle(c chat.Change) {
	b.Helper()
	b.unchanged(c.Room, func() {
		done, err := b.Change(b.ctx, c)
		b.must(err)
		if done.Changed || len(done.Affected)+len(done.Entered)+len(done.Exited)+len(done.Entries) > 0 {
			b.Errorf("%+v has done %+v", c, done)
		}
		if done.Room.ID != c.Room || done.Role != b.standing(c.Room, c.By.ID).Role {
			b.Errorf("it returns the room %+v and the role %q", done.Room, done.Role)
		}
	})
}

// moved compares the result of a change: users whose standing has changed, users that entered, and users that left.
func (b *storeBench) moved(done chat.Changed, moved, entered, gone []string) {
	b.Helper()
	if !slices.Equal(sorted(done.Affected), sorted(moved)) || !slices.Equal(sorted(done.Entered), sorted(entered)) ||
		!slices.Equal(sorted(done.Exited), sorted(gone)) {
		b.Errorf("moved %v, entered %v, gone %v; want %v, %v, %v", done.Affected, done.Entered, done.Exited, moved, entered, gone)
	}
}

// plain is the standing of an ordinary member.
var plain = chat.Standing{Ever: true, In: true, Role: chat.Plain}

// stands checks the user's standing.
func (b *storeBench) stands(room, user string, want chat.Standing) {
	b.Helper()
	if st := b.standing(room, user); st != want {
		b.Errorf("%s stands as %+v, want %+v", user, st, want)
	}
}

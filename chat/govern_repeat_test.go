package chat_test

import (
	"context"
	"testing"

	"hongbao/chat"
)

// TestRepeatedAfterAnUnknownOutcome: an instance that still remembered how all stood hears who moved when the outcome is
// lost, and else, if it was committed only after that, when the change is repeated, which changes nothing any more.
func TestRepeatedAfterAnUnknownOutcome(t *testing.T) {
	ann, users := person("ann"), []string{"ann", "bob", "cyn", "dan"}
	for name, change := range map[string]func(h *house, room string) error{
		"invite":  func(h *house, room string) error { return h.Invite(h.ctx, ann, room, []string{"cyn", "dan"}) },
		"kick":    func(h *house, room string) error { return h.Kick(h.ctx, ann, room, "bob", false) },
		"ban":     func(h *house, room string) error { return h.Kick(h.ctx, ann, room, "bob", true) },
		"unban":   func(h *house, room string) error { return h.Unban(h.ctx, ann, room, "cyn") },
		"role":    func(h *house, room string) error { return h.SetRole(h.ctx, ann, room, "bob", chat.Admin) },
		"let bob": func(h *house, room string) error { return h.Mute(h.ctx, ann, room, "bob", 0) },
		"leave":   func(h *house, room string) error { return h.Leave(h.ctx, person("bob"), room) },
		"join":    func(h *house, room string) error { _, err := h.Join(h.ctx, person("dan"), room); return err },
	} {
		for _, late := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				here := newHouse(t, chat.Options{})
				there, losing := here.peer(), *here
				losing.Service = chat.New(losingStore{here.store}, here.told, chat.Options{})
				room := here.room(chat.Public, "ann", "bob", "cyn", "dan")
				here.must(here.Kick(here.ctx, ann, room, "cyn", name == "unban"))
				here.must(here.Leave(here.ctx, person("dan"), room))
				here.must(here.Mute(here.ctx, ann, room, "bob", 3600))
				here.Stop()
				here.told.take()
				for _, u := range users {
					there.standing(room, u)
				}
				here.moved()
				here.refused(change(&losing, room), chat.ErrUnavailable)
				if late {
					here.moved() // came before it was committed
					here.must(change(here, room))
				}
				for _, seat := range here.moved() {
					there.Forget(seat[0], seat[1])
				}
				here.heard()
				fresh := here.peer()
				for _, u := range users {
					if got, want := there.standing(room, u), fresh.standing(room, u); got != want {
						t.Errorf("late %t: there %s stands as %+v, but is %+v", late, u, got, want)
					}
				}
			})
		}
	}
}

// TestDirectRepeatedAfterAnUnknownOutcome: only then which room it is can be said.
func TestDirectRepeatedAfterAnUnknownOutcome(t *testing.T) {
	here := newHouse(t, chat.Options{})
	there, losing := here.peer(), *here
	losing.Service = chat.New(losingStore{here.store}, here.told, chat.Options{})
	here.must(here.SignIn(here.ctx, person("bob")))
	m, err := here.Direct(here.ctx, person("ann"), "bob")
	here.must(err)
	for _, u := range []string{"ann", "bob"} {
		here.must(here.Leave(here.ctx, person(u), m.Room.ID))
		there.standing(m.Room.ID, u)
	}
	_, err = losing.Direct(here.ctx, person("ann"), "bob")
	here.refused(err, chat.ErrUnavailable)
	here.moved()
	_, err = here.Direct(here.ctx, person("ann"), "bob")
	here.must(err)
	for _, seat := range here.moved() {
		there.Forget(seat[0], seat[1])
	}
	for _, u := range []string{"ann", "bob"} {
		if !there.standing(m.Room.ID, u).In {
			t.Errorf("%s is in, but not there", u)
		}
	}
}

// TestDeletedAfterAnUnknownOutcome: that the room is no more is told when it is asked for again by one who was in it.
func TestDeletedAfterAnUnknownOutcome(t *testing.T) {
	here := newHouse(t, chat.Options{})
	there, losing := here.peer(), *here
	losing.Service = chat.New(losingStore{here.store}, here.told, chat.Options{})
	room := here.room(chat.Private, "ann", "bob")
	there.standing(room, "bob")
	here.refused(losing.DeleteRoom(here.ctx, person("ann"), room), chat.ErrUnavailable)
	here.refused(here.DeleteRoom(here.ctx, person("eve"), room), chat.ErrNotFound)
	here.moved()
	here.heard()
	for range 2 {
		here.refused(here.DeleteRoom(here.ctx, person("ann"), room), chat.ErrNotFound)
		here.heard(telling{To: room, Event: chat.Gone{Room: room, Reason: "deleted"}})
		moved := here.moved()
		if len(moved) != 1 || moved[0] != [2]string{room, ""} {
			t.Fatalf("moved %v, want everybody of the room", moved)
		}
		there.Forget(room, "")
		if st := there.standing(room, "bob"); !st.Gone {
			t.Errorf("there bob stands as %+v", st)
		}
	}
}

// emptied is a store in which ann has been put out of a large room that is not deleted yet.
type emptied struct{ chat.Store }

func (emptied) Change(context.Context, chat.Change) (chat.Changed, error) {
	return chat.Changed{}, chat.ErrNotFound
}

func (emptied) Standing(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{Ever: true, Gone: true}, nil
}

// TestOutOfARoomThatIsStillThere: it is not told to be deleted, for whoever heard so would believe it for ever.
func TestOutOfARoomThatIsStillThere(t *testing.T) {
	h := newHouse(t, chat.Options{})
	room := h.room(chat.Private, "ann", "bob")
	h.moved()
	h.Service = chat.New(emptied{h.store}, h.told, chat.Options{})
	h.refused(h.DeleteRoom(h.ctx, person("ann"), room), chat.ErrNotFound)
	h.heard()
	if got := h.moved(); len(got) > 0 {
		t.Errorf("moved %v", got)
	}
}

package chat_test

import (
	"testing"
	"time"

	"hongbao/chat"
)

// TestRepeatedAfterAnUnknownOutcome changes a standing that another instance has cached, and the outcome is lost. The
// other instance must be told. If the change is committed only after that, the other instance must be told again when
// the change is repeated, although the repetition changes nothing.
func TestRepeatedAfterAnUnknownOutcome(t *testing.T) {
	ann, users := person("ann"), []string{"ann", "bob", "cyn", "dan"}
	for name, change := range map[string]func(h *testService, room string) error{
		"invite":       func(h *testService, room string) error { return h.Invite(h.ctx, ann, room, []string{"cyn", "dan"}) },
		"kick":         func(h *testService, room string) error { return h.Kick(h.ctx, ann, room, "bob") },
		"ban":          func(h *testService, room string) error { return h.Ban(h.ctx, ann, room, "bob", time.Time{}, "") },
		"unban":        func(h *testService, room string) error { return h.Unban(h.ctx, ann, room, "cyn") },
		"role":         func(h *testService, room string) error { return h.SetRole(h.ctx, ann, room, "bob", chat.Admin) },
		"unmute":       func(h *testService, room string) error { return h.Mute(h.ctx, ann, room, "bob", 0) },
		"owner leaves": func(h *testService, room string) error { return h.Leave(h.ctx, ann, room) },
		"leave":        func(h *testService, room string) error { return h.Leave(h.ctx, person("bob"), room) },
		"join":         func(h *testService, room string) error { _, err := h.Join(h.ctx, person("dan"), room); return err },
	} {
		for _, lateCommit := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				here := newTestService(t, chat.Options{})
				there, losing := here.peer(), *here
				losing.Service = chat.New(lostReplyStore{here.store}, here.published, chat.Options{})
				room := here.room(chat.Public, "ann", "bob", "cyn", "dan")
				here.must(here.Kick(here.ctx, ann, room, "cyn"))
				if name == "unban" {
					here.must(here.Ban(here.ctx, ann, room, "cyn", time.Time{}, ""))
				}
				here.must(here.Kick(here.ctx, ann, room, "dan"))
				here.must(here.Mute(here.ctx, ann, room, "bob", 3600))
				here.Stop()
				here.published.take()
				for _, u := range users {
					there.standing(room, u)
				}
				here.takeChanged()
				here.refused(change(&losing, room), chat.ErrUnavailable)
				if lateCommit {
					here.takeChanged() // this notice came before the commit
					here.must(change(here, room))
				}
				for _, m := range here.takeChanged() {
					there.Forget(m[0], m[1])
				}
				here.wantPublished()
				fresh := here.peer()
				for _, u := range users {
					if got, want := there.standing(room, u), fresh.standing(room, u); got != want {
						t.Errorf("lateCommit %t: there %s has %+v, want %+v", lateCommit, u, got, want)
					}
				}
			})
		}
	}
}

// TestDirectRepeatedAfterAnUnknownOutcome repeats a Direct whose outcome was lost. Only the repetition knows the id of
// the room, so only then can the other instance be told.
func TestDirectRepeatedAfterAnUnknownOutcome(t *testing.T) {
	here := newTestService(t, chat.Options{})
	there, losing := here.peer(), *here
	losing.Service = chat.New(lostReplyStore{here.store}, here.published, chat.Options{})
	here.must(here.SignIn(here.ctx, person("bob")))
	m, err := here.Direct(here.ctx, person("ann"), "bob")
	here.must(err)
	for _, u := range []string{"ann", "bob"} {
		here.must(here.Leave(here.ctx, person(u), m.Room.ID))
		there.standing(m.Room.ID, u)
	}
	_, err = losing.Direct(here.ctx, person("ann"), "bob")
	here.refused(err, chat.ErrUnavailable)
	here.takeChanged()
	_, err = here.Direct(here.ctx, person("ann"), "bob")
	here.must(err)
	for _, m := range here.takeChanged() {
		there.Forget(m[0], m[1])
	}
	if !there.standing(m.Room.ID, "ann").In {
		t.Error("ann is in, but not there")
	}
}

// TestDeletedAfterAnUnknownOutcome deletes a room, and the outcome is lost. When a former member requests the deletion
// again, it must be published.
func TestDeletedAfterAnUnknownOutcome(t *testing.T) {
	here := newTestService(t, chat.Options{})
	there, losing := here.peer(), *here
	losing.Service = chat.New(lostReplyStore{here.store}, here.published, chat.Options{})
	room := here.room(chat.Private, "ann", "bob")
	there.standing(room, "bob")
	here.refused(losing.DeleteRoom(here.ctx, person("ann"), room), chat.ErrUnavailable)
	here.refused(here.DeleteRoom(here.ctx, person("eve"), room), chat.ErrNotFound)
	here.takeChanged()
	here.wantPublished()
	for range 2 {
		here.refused(here.DeleteRoom(here.ctx, person("ann"), room), chat.ErrNotFound)
		here.wantPublished(publication{To: room, Event: chat.Exited{Room: room, Reason: "deleted"}})
		changed := here.takeChanged()
		if len(changed) != 1 || changed[0] != [2]string{room, ""} {
			t.Fatalf("moved %v, want everybody of the room", changed)
		}
		there.Forget(room, "")
		if st := there.standing(room, "bob"); !st.RoomDeleted {
			t.Errorf("there bob has %+v", st)
		}
	}
}

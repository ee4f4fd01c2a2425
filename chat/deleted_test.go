package chat_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"hongbao/chat"
)

// TestDeletedRoom deletes a room. From then on the room must be unknown to all users: on this instance without reading
// the store, on another instance after the notice.
func TestDeletedRoom(t *testing.T) {
	here := newTestService(t, chat.Options{})
	there := here.peer()
	room := here.room(chat.Public, "ann", "bob")
	here.sendText(room, "bob", "k")
	for _, u := range []string{"ann", "bob"} {
		here.standing(room, u)
		there.standing(room, u)
	}
	here.refused(here.DeleteRoom(here.ctx, person("bob"), room), chat.ErrForbidden)
	here.published.take()
	here.takeChanged()
	if !here.standing(room, "bob").In {
		t.Error("deleted by a user without the right")
	}
	here.must(here.DeleteRoom(here.ctx, person("ann"), room))
	here.wantPublished(publication{To: room, Event: chat.Exited{Room: room, Reason: "deleted"}})
	if got, want := here.takeChanged(), [][2]string{{room, ""}}; !slices.Equal(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
	if !there.standing(room, "bob").In {
		t.Error("not cached on the other instance: this test proves nothing")
	}
	there.Forget(room, "")
	for _, h := range []*testService{here, there} {
		h.Service.SetDisconnected(true) // the set of deleted rooms is kept, because a deletion cannot be undone
		h.Service.SetDisconnected(false)
		before := h.store.standings.Load()
		for i := range 1000 {
			h.refused(h.standing(room, "user-"+strconv.Itoa(i)).MayRead(), chat.ErrNotFound)
		}
		h.refused(h.standing(room, "bob").MaySend(time.Now()), chat.ErrNotFound)
		if asked := h.store.standings.Load() - before; asked > 0 {
			t.Errorf("the store was asked %d times", asked)
		}
		h.refuseAll(room)
		h.wantPublished(publication{To: room, Event: chat.Exited{Room: room, Reason: "deleted"}}) // requested again
		if rooms, err := h.Rooms(h.ctx, "bob"); err != nil || len(rooms) != 0 {
			t.Errorf("bob is still in %+v, %v", rooms, err)
		}
		if rooms, _, err := h.FindRooms(h.ctx, "", "", 0); err != nil || len(rooms) != 0 {
			t.Errorf("found %+v, %v", rooms, err)
		}
	}
	fresh := here.peer() // an instance without the notice must read the store
	if st := fresh.standing(room, "bob"); st != (chat.Standing{Ever: true, RoomDeleted: true}) {
		t.Errorf("bob has %+v", st)
	}
	fresh.refuseAll(room)
}

// refuseAll fails the test unless every request of the room's owner is answered as if the room did not exist.
func (h *testService) refuseAll(room string) {
	h.Helper()
	ann := person("ann")
	_, join := h.Join(h.ctx, ann, room)
	_, _, members := h.Members(h.ctx, "ann", room, "", 0)
	_, _, history := h.History(h.ctx, "ann", room, chat.Page{})
	_, send := h.Send(h.ctx, ann, chat.Message{Room: room, Key: "new", Text: "hello"})
	_, read := h.Read(h.ctx, "ann", room, 1)
	_, edit := h.Edit(h.ctx, person("bob"), room, 1, "text", nil)
	_, recall := h.Recall(h.ctx, ann, room, 1)
	_, _, online := h.Online(h.ctx, "ann", room)
	_, update := h.UpdateRoom(h.ctx, ann, room, chat.RoomChange{})
	for what, err := range map[string]error{
		"join": join, "members": members, "history": history, "send": send, "read": read, "edit": edit, "recall": recall,
		"online": online, "update": update, "leave": h.Leave(h.ctx, ann, room), "react": h.React(h.ctx, ann, room, 1, "👍", true),
		"invite": h.Invite(h.ctx, ann, room, []string{"bob"}), "kick": h.Ban(h.ctx, ann, room, "bob", time.Time{}, ""),
		"unban": h.Unban(h.ctx, ann, room, "bob"), "mute": h.Mute(h.ctx, ann, room, "bob", 1),
		"set_role": h.SetRole(h.ctx, ann, room, "bob", chat.Owner), "delete": h.DeleteRoom(h.ctx, ann, room),
	} {
		if h.refused(err, chat.ErrNotFound); h.Failed() {
			h.Errorf("of %s", what)
		}
	}
}

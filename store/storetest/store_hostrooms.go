package storetest

import (
	"fmt"
	"slices"

	"hongbao/chat"
)

func hostRoomTests() []storeTest {
	return []storeTest{
		{"the host's key and the host's ref give the first room", hostRoom},
		{"a ref is free again when its room is deleted", hostRoomRef},
		{"many hosts' requests with one ref make one room", hostRoomAtOnce},
		{"the host's rooms count as not chosen, and nobody refuses them", hostRoomUnasked},
		{"rooms are listed by page, but no deleted ones", listHostRooms},
		{"in a frozen room only the system posts", frozenRoom},
	}
}

// hostRoom returns a room that the host creates. It is not created yet.
func (b *storeBench) hostRoom(ref, owner string, members ...string) chat.NewRoom {
	r := b.newRoom(owner, members...)
	r.Host, r.Ref, r.Owner, r.Announcement = true, ref, chat.User{ID: owner}, "welcome"
	b.must(b.EnsureUsers(b.ctx, append(members, owner)))
	return r
}

func hostRoom(b *storeBench) {
	r := b.hostRoom("order-1", ann, bob)
	m, dup, err := b.CreateRoom(b.ctx, r)
	if err != nil || dup || m.Room.Ref != "order-1" || m.Room.Announcement != "welcome" || m.Role != chat.Owner || m.Room.Members != 2 {
		b.Fatalf("made %+v, dup %t, %v", m, dup, err)
	}
	again := func(what string, r chat.NewRoom) {
		b.Helper()
		if m, dup, err := b.CreateRoom(b.ctx, r); err != nil || !dup || m.Room.ID != r.ID && m.Room.Ref != "order-1" {
			b.Errorf("%s: %+v, dup %t, %v; want the first room", what, m, dup, err)
		}
	}
	again("the same request", r)
	other := b.hostRoom("order-1", cyn)
	again("another request with the same ref", other)
	reused := b.hostRoom("order-2", ann)
	reused.Key = r.Key
	_, _, err = b.CreateRoom(b.ctx, reused)
	b.refused(err, chat.ErrKeyReused)
	own := b.newRoom(ann) // the host's keys and the owner's keys are separate
	own.Key = r.Key
	if m, dup, err := b.CreateRoom(b.ctx, own); err != nil || dup || m.Room.Ref != "" {
		b.Errorf("a room of the owner: %+v, dup %t, %v", m, dup, err)
	}
	record, err := b.RoomRecord(b.ctx, r.ID)
	if err != nil || record.Owner != ann || record.Room != m.Room {
		b.Errorf("the record is %+v, %v; want %+v of ann", record, err, m.Room)
	}
	_, err = b.RoomRecord(b.ctx, "no-room")
	b.refused(err, chat.ErrNotFound)
	if _, err := b.RoomRecord(b.ctx, other.ID); err == nil {
		b.Error("a second room has the ref")
	}
	b.balanced()
}

func hostRoomRef(b *storeBench) {
	byRef := func(want ...string) {
		b.Helper()
		found, more, err := b.RoomRecords(b.ctx, chat.RoomQuery{Ref: "order-1", Limit: 10})
		b.must(err)
		if ids := roomIDs(found); more != "" || !slices.Equal(ids, want) {
			b.Errorf("the ref has %v, want %v", ids, want)
		}
	}
	byRef()
	for range 2 {
		r := b.hostRoom("order-1", ann)
		if _, dup, err := b.CreateRoom(b.ctx, r); err != nil || dup {
			b.Fatalf("dup %t, %v", dup, err)
		}
		byRef(r.ID)
		b.change(bySystem(b.wanted(chat.DeleteRoom, r.ID, ann)))
		byRef()
		_, err := b.RoomRecord(b.ctx, r.ID)
		b.refused(err, chat.ErrNotFound)
	}
}

func hostRoomAtOnce(b *storeBench) {
	const most = 20
	rooms := make([]chat.NewRoom, most)
	for i := range rooms {
		rooms[i] = b.hostRoom("wanted", member(i))
	}
	made, ids := make([]bool, most), make([]string, most)
	together(most, func(i int) {
		m, dup, err := b.CreateRoom(b.ctx, rooms[i])
		if err != nil {
			b.Error(err)
		}
		made[i], ids[i] = !dup, m.Room.ID
	})
	if n := len(slices.DeleteFunc(made, func(made bool) bool { return !made })); n != 1 || len(slices.Compact(sorted(ids))) != 1 {
		b.Errorf("%d rooms were made, and the answers name %v", n, ids)
	}
}

func hostRoomUnasked(b *storeBench) {
	b.known(ann, bob)
	_, err := b.Block(b.ctx, chat.Blocking{User: bob, Blocked: ann, Most: 10})
	b.must(err)
	r := b.hostRoom("", ann, bob)
	r.Kind, r.MaxRooms = chat.Public, 1
	if _, _, err := b.CreateRoom(b.ctx, r); err != nil {
		b.Errorf("a room of users one of whom has blocked the other: %v", err)
	}
	_, _, err = b.CreateRoom(b.ctx, func() chat.NewRoom { r := b.hostRoom("", ann); r.MaxRooms = 1; return r }())
	b.refused(err, chat.ErrLimitExceeded)
	own := b.newRoom(ann)
	own.MaxRooms, own.MaxPublic = 1, 1
	if _, _, err := b.CreateRoom(b.ctx, own); err != nil { // the host's room is not one that ann has chosen
		b.Errorf("a room that the user chooses: %v", err)
	}
}

func roomIDs(rooms []chat.RoomRecord) []string {
	ids := make([]string, len(rooms))
	for i, r := range rooms {
		ids[i] = r.ID
	}
	return ids
}

func listHostRooms(b *storeBench) {
	var all []string
	for range 5 {
		all = append(all, b.room(ann, bob))
	}
	b.change(b.wanted(chat.DeleteRoom, all[2], ann))
	all = slices.Delete(all, 2, 3)
	b.leave(all[3], ann)
	b.leave(all[3], bob)
	for limit := 1; limit <= 5; limit++ {
		var got []string
		for q := (chat.RoomQuery{Limit: limit}); ; {
			page, more, err := b.RoomRecords(b.ctx, q)
			b.must(err)
			for _, r := range page {
				if want := map[bool]string{true: ann}[r.ID != all[3]]; r.Owner != want {
					b.Errorf("the owner of %s is %q, want %q", r.ID, r.Owner, want)
				}
			}
			got = append(got, roomIDs(page)...)
			if q.Next = more; more == "" {
				break
			}
		}
		if !slices.Equal(got, all) {
			b.Errorf("pages of %d list %v, want %v", limit, got, all)
		}
	}
	_, _, err := b.RoomRecords(b.ctx, chat.RoomQuery{Limit: 3, Next: "x"})
	b.refusedField(err, chat.ErrBadRequest, "next")
}

func frozenRoom(b *storeBench) {
	room := b.room(ann, bob)
	said := b.say(room, bob)
	freeze := func(frozen bool) {
		b.Helper()
		c := bySystem(b.wanted(chat.UpdateRoom, room, ann))
		c.To = chat.RoomChange{Frozen: &frozen}
		done := b.change(c)
		if got := string(done.Entries[0].Body); done.Room.Frozen != frozen || got != fmt.Sprintf(`{"frozen":%t}`, frozen) {
			b.Errorf("the room is %+v, the entry %s; want frozen %t", done.Room, got, frozen)
		}
	}
	own := b.wanted(chat.UpdateRoom, room, ann)
	own.To = chat.RoomChange{Frozen: new(true)}
	_, err := b.Change(b.ctx, own)
	b.refused(err, chat.ErrForbidden)
	freeze(true)
	if m := b.membership(room, bob); !m.Room.Frozen {
		b.Errorf("bob sees %+v, want it frozen", m.Room)
	}
	b.unchanged(room, func() {
		for _, user := range []string{ann, bob} {
			_, _, err := b.Append(b.ctx, b.draft(room, user, "hello"))
			b.refusedField(err, chat.ErrForbidden, "frozen")
			_, err = b.Amend(b.ctx, b.reacting(room, user, said.Seq, "👍", true))
			b.refusedField(err, chat.ErrForbidden, "frozen")
		}
		_, err := b.Amend(b.ctx, b.editing(room, bob, said.Seq, "other"))
		b.refusedField(err, chat.ErrForbidden, "frozen")
	})
	_, _, err = b.Append(b.ctx, b.systemDraft(room))
	b.must(err)
	b.join(room, cyn)
	b.change(b.wanted(chat.Kick, room, ann, cyn))
	_, err = b.Amend(b.ctx, b.amending(chat.KindRecall, room, bob, said.Seq)) // a recall is not a post
	b.must(err)
	freeze(false)
	b.say(room, bob)
	b.balanced()
}

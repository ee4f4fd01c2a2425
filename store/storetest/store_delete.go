package storetest

import (
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func deleteTests() []storeTest {
	return []storeTest{
		{"a deleted room exists for no user", deleteRoom},
		{"nothing can be done in a deleted room", deletedForAll},
		{"keys still return entries of a deleted room", deletedKeys},
		{"the packets of a deleted room come to their end", deletedPackets},
	}
}

func deleteRoom(b *storeBench) {
	room, other := b.room(ann, bob, cyn), b.room(ann)
	b.say(room, bob)
	b.leave(room, cyn)
	b.known(dan)
	done := b.change(b.wanted(chat.DeleteRoom, room, ann))
	if !done.Room.Deleted || done.Room.Members != 0 || done.Role != chat.NoRole || len(done.Entries) != 0 {
		b.Errorf("deleted %+v", done)
	}
	b.moved(done, nil, nil, nil)
	for _, was := range []string{ann, bob, cyn} {
		b.stands(room, was, chat.Standing{Ever: true, RoomDeleted: true})
		_, err := b.Membership(b.ctx, room, was)
		b.refused(err, chat.ErrNotMember)
	}
	b.stands(room, dan, chat.Standing{})
	if ms, err := b.Memberships(b.ctx, ann); err != nil || len(ms) != 1 || ms[0].Room.ID != other {
		b.Errorf("memberships %+v, %v", ms, err)
	}
	if got := b.found("", 10); len(got) != 1 || got[0] != other {
		b.Errorf("found %v, want only %s", got, other)
	}
	users, err := b.Roster(b.ctx, room, 10)
	if b.must(err); len(users)+len(b.people(room)) != 0 {
		b.Errorf("%v are in it, and %v", users, b.people(room))
	}
	third := b.joining(b.room(dan), ann)
	third.MaxRooms = 2
	if _, changed, err := b.Join(b.ctx, third); err != nil || !changed {
		b.Errorf("a former member joins another room: changed %v, %v", changed, err)
	}
}

func deletedForAll(b *storeBench) {
	room := b.room(ann, bob, cyn)
	b.say(room, bob)
	b.change(b.wanted(chat.Ban, room, ann, cyn))
	muting := b.wanted(chat.Mute, room, ann, bob)
	muting.Until = b.now.Add(time.Hour)
	b.change(muting)
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	b.known(dan)
	b.stands(room, bob, chat.Standing{Ever: true, RoomDeleted: true, MutedUntil: muting.Until})
	b.stands(room, cyn, chat.Standing{Ever: true, RoomDeleted: true, Banned: true})
	name := "new"
	for _, user := range []string{ann, bob, cyn, dan} {
		b.unchanged(room, func() {
			_, _, err := b.Join(b.ctx, b.joining(room, user))
			b.refused(err, chat.ErrNotFound)
			_, err = b.Leave(b.ctx, chat.Leaving{Room: room, User: person(user), At: b.tick()})
			b.refused(err, chat.ErrNotFound)
			_, _, err = b.Append(b.ctx, b.draft(room, user, "anybody?"))
			b.refused(err, chat.ErrNotFound)
			_, err = b.Read(b.ctx, room, user, 1, b.now)
			b.refused(err, chat.ErrNotFound)
			_, err = b.Amend(b.ctx, b.reacting(room, user, 1, "👍", true))
			b.refused(err, chat.ErrNotFound)
			for _, c := range []chat.Change{
				b.wanted(chat.Invite, room, user, dan), b.wanted(chat.Kick, room, user, bob), b.wanted(chat.DeleteRoom, room, user),
				{Kind: chat.UpdateRoom, Room: room, By: person(user), To: chat.RoomChange{Name: &name}, At: b.now},
			} {
				_, err := b.Change(b.ctx, c)
				b.refused(err, chat.ErrNotFound)
			}
		})
	}
}

func deletedKeys(b *storeBench) {
	r := b.newRoom(ann, bob)
	b.create(r)
	d := b.draft(r.ID, bob, "hello")
	first, _, err := b.Append(b.ctx, d)
	b.must(err)
	done := b.change(b.wanted(chat.DeleteRoom, r.ID, ann))
	m, dup, err := b.CreateRoom(b.ctx, r)
	if err != nil || !dup || m.Room != done.Room || m.Room.Kind != chat.Public || m.Role != chat.NoRole {
		b.Errorf("the room's key gives %+v, dup %v, %v; want the deleted room without a role", m, dup, err)
	}
	if e, dup, err := b.Append(b.ctx, d); err != nil || !dup || !sameEntry(e, first) {
		b.Errorf("the entry's key gives %+v, dup %v, %v; want %+v", e, dup, err, first)
	}
}

func deletedPackets(b *storeBench) {
	room := b.room(ann, bob)
	books := b.books()
	_, _, err := books.Adjust(b.ctx, redpacket.Adjustment{ID: "fund", User: ann, Amount: 100, Key: "fund", Hash: []byte("fund"), At: b.tick()})
	b.must(err)
	order := redpacket.UnsealedPacket{
		Packet: redpacket.Packet{
			Ref: redpacket.Ref{ID: "packet"}, Room: room, From: person(ann), Mode: redpacket.Equal, Total: 100, Count: 2,
			CreatedAt: b.tick(), ExpiresAt: b.now.Add(time.Hour), Key: "packet",
		},
		Hash: []byte("packet"), NextSeed: redpacket.NewSeed(), EntryID: b.id("entry"),
	}
	sent, err := books.Send(b.ctx, order)
	b.must(err)
	b.must(redpacket.UnsettledErr(books.Settle(b.ctx, []redpacket.Claim{{Ref: sent.Packet.Ref, User: bob, At: b.tick()}})))
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	closed, err := books.End(b.ctx, redpacket.Close{
		Ref: sent.Packet.Ref, Reason: redpacket.Expired, At: b.now.Add(time.Hour), EntryID: b.id("entry"),
	})
	b.must(err)
	if !closed.Done || closed.Entry.Seq != 2 || closed.Book.Refunded != 50 || closed.Accounts[ann].Balance != 50 {
		b.Errorf("closed %+v, want the rest refunded", closed)
	}
	again, err := books.Send(b.ctx, order)
	if b.must(err); !again.Dup || again.Entry.Seq != 1 {
		b.Errorf("sent again: %+v", again)
	}
	order.Packet.Key, order.Packet.ID = "another", "another"
	_, err = books.Send(b.ctx, order)
	b.refused(err, chat.ErrNotFound)
	b.balanced()
}

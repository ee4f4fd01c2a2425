package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
)

// secondRoom returns the id of a second room with the same users. Changes of members are made only there, because the
// first room's packets need its members.
func (h *history) secondRoom() string { return h.name + "-second" }

func (h *history) createSecondRoom() {
	h.Helper()
	kind := pick(h, []chat.RoomKind{chat.Public, chat.Private})
	both(h, "second room", func(ctx context.Context, e engine) (answer[chat.Membership], error) {
		m, dup, err := e.CreateRoom(ctx, chat.NewRoom{ID: h.secondRoom(), Name: "second", Kind: kind,
			Owner: chat.User{ID: h.users[0]}, Members: h.users[1:3], Key: h.secondRoom(), Hash: []byte("second"), At: h.now, MaxRooms: 5})
		return answer[chat.Membership]{m, dup}, err
	})
	h.owner = h.users[0]
}

// roomStep makes a random call on the second room.
func (h *history) roomStep() {
	h.Helper()
	switch n := h.random.IntN(16); {
	case n < 2:
		h.joinOrLeave()
	case n < 7:
		h.change()
	case n < 8:
		h.direct()
	case n < 11:
		h.appendText()
	default:
		h.amend()
	}
}

func (h *history) joinOrLeave() {
	h.Helper()
	user := pick(h, h.users)
	if h.random.IntN(2) == 0 {
		both(h, "join", func(ctx context.Context, e engine) (answer[chat.Membership], error) {
			m, changed, err := e.Join(ctx, chat.Joining{Room: h.secondRoom(), User: user, At: h.now, MaxRooms: 4, MaxMembers: 5})
			return answer[chat.Membership]{m, changed}, err
		})
		return
	}
	l := chat.Leaving{Room: h.secondRoom(), User: chat.User{ID: user, Name: "N"}, At: h.now, EntryIDs: [2]string{h.id("e"), h.id("e")}}
	left := both(h, "leave", func(ctx context.Context, e engine) (chat.Left, error) { return e.Leave(ctx, l) })
	if left.NewOwner != "" {
		h.owner = left.NewOwner
	}
}

func (h *history) change() {
	h.Helper()
	name, announcement := pick(h, []string{"second", "the second"}), pick(h, []string{"", "<hear> & \"see\""})
	c := chat.Change{
		Kind: pick(h, []chat.ChangeKind{chat.Invite, chat.Invite, chat.Rejoin, chat.Kick, chat.Ban, chat.Unban, chat.Unban, chat.SetRole, chat.Mute, chat.UpdateRoom}),
		Room: h.secondRoom(), By: chat.User{ID: h.owner, Name: "as it was then"}, Users: []string{pick(h, h.users)},
		Role: pick(h, []chat.Role{chat.Owner, chat.Admin, chat.Plain}), At: h.now, EntryIDs: []string{h.id("e"), h.id("e"), h.id("e")}, MaxRooms: 4, MaxMembers: 5,
	}
	switch h.random.IntN(8) {
	case 0:
		c.By.ID = pick(h, h.users)
	case 1:
		c.Users[0] = "stranger"
	case 2:
		if h.random.IntN(8) == 0 {
			c.Kind = chat.DeleteRoom
		}
	}
	switch c.Kind {
	case chat.Invite:
		h.random.Shuffle(len(h.users), func(i, j int) { h.users[i], h.users[j] = h.users[j], h.users[i] })
		c.Users = slices.Clone(h.users[:1+h.random.IntN(3)])
	case chat.Rejoin:
		c.By.ID = c.Users[0]
	case chat.Mute:
		c.Until = pick(h, []time.Time{{}, h.now.Add(-time.Second), h.now.Add(2 * time.Second)})
	case chat.UpdateRoom:
		c.Users, c.To = nil, chat.RoomChange{
			Name: &name, Announcement: &announcement,
			Invite: pick(h, []chat.Inviters{"", chat.MembersInvite, chat.AdminsInvite}), Guests: pick(h, []*bool{nil, new(false), new(true)}),
			Packets: pick(h, []*bool{nil, new(false), new(true), new(true)}),
		}
	case chat.DeleteRoom:
		c.Users = nil
	}
	made := both(h, fmt.Sprintf("change %+v", c), func(ctx context.Context, e engine) (chat.Changed, error) { return e.Change(ctx, c) })
	if made.Changed && c.Kind == chat.SetRole && c.Role == chat.Owner {
		h.owner = c.Users[0]
	}
	h.lastSeq = max(h.lastSeq, made.Room.LastSeq)
}

func (h *history) direct() {
	h.Helper()
	p := chat.Pairing{ID: h.id("pair"), User: chat.User{ID: h.users[0]}, Other: pick(h, append(h.users[1:3:3], "stranger")), At: h.now,
		EntryID: h.id("e"), MaxRooms: 4}
	paired := both(h, "direct", func(ctx context.Context, e engine) (chat.Paired, error) { return e.Direct(ctx, p) })
	if room := paired.Membership.Room.ID; room != "" && h.random.IntN(2) == 0 {
		l := chat.Leaving{Room: room, User: chat.User{ID: pick(h, []string{p.User.ID, p.Other})}, At: h.now, EntryIDs: [2]string{h.id("e"), h.id("e")}}
		both(h, "leave direct room", func(ctx context.Context, e engine) (chat.Left, error) { return e.Leave(ctx, l) })
	}
}

func (h *history) appendText() {
	h.Helper()
	key := h.id("say")
	d := chat.Draft{ID: h.id("e"), Room: h.secondRoom(), From: chat.User{ID: pick(h, h.users), Name: "N"}, Kind: chat.KindText, Key: key,
		Hash: []byte(key), Body: []byte(`{"text":"<hello>","data":{"a":1}}`), At: h.now, ReplyTo: h.random.Int64N(h.lastSeq + 3)}
	entry := both(h, "say", func(ctx context.Context, e engine) (chat.Entry, error) {
		entry, _, err := e.Append(ctx, d)
		return entry, err
	})
	h.lastSeq = max(h.lastSeq, entry.Seq)
	both(h, "read", func(ctx context.Context, e engine) (chat.Reading, error) {
		return e.Read(ctx, h.secondRoom(), h.owner, h.lastSeq, time.Now())
	})
}

func (h *history) amend() {
	h.Helper()
	a := chat.Amendment{
		Kind: pick(h, []chat.EntryKind{chat.KindEdit, chat.KindEdit, chat.KindReact, chat.KindReact, chat.KindReact, chat.KindRecall}),
		Room: h.secondRoom(), Target: h.random.Int64N(h.lastSeq + 2), By: chat.User{ID: pick(h, h.users), Name: "N"},
		Text: pick(h, []string{"<hello>", "another", "\"more\" & more"}), Emoji: pick(h, []string{"👍", "❤️"}), On: h.random.IntN(3) > 0,
		At: h.now, ID: h.id("e"), Window: 10 * time.Second,
	}
	made := both(h, fmt.Sprintf("amend %+v", a), func(ctx context.Context, e engine) (chat.Amended, error) { return e.Amend(ctx, a) })
	h.lastSeq = max(h.lastSeq, made.Seq)
}

// compareSecondRoom makes every read call about the second room and its members.
func (h *history) compareSecondRoom() {
	h.Helper()
	room := h.secondRoom()
	both(h, "room", func(ctx context.Context, e engine) (chat.Room, error) { return e.Room(ctx, room) })
	both(h, "history", func(ctx context.Context, e engine) (answer[[]chat.Entry], error) {
		es, more, err := e.History(ctx, room, chat.Page{Limit: 60, MaxBytes: 3000})
		return answer[[]chat.Entry]{es, more}, err
	})
	both(h, "spans", func(ctx context.Context, e engine) (map[string][]chat.Entry, error) {
		return e.Spans(ctx, []chat.Span{{Room: room, Through: h.lastSeq}})
	})
	both(h, "found", func(ctx context.Context, e engine) ([]chat.Room, error) {
		found, _, err := e.FindRooms(ctx, "second", "", 99)
		return found, err
	})
	both(h, "members", func(ctx context.Context, e engine) ([]chat.Member, error) {
		members, _, err := e.Members(ctx, room, "", 99)
		return members, err
	})
	both(h, "roster", func(ctx context.Context, e engine) ([]string, error) {
		users, err := e.Roster(ctx, room, 99)
		slices.Sort(users)
		return users, err
	})
	for _, user := range append(h.users, "stranger") {
		both(h, "standing", func(ctx context.Context, e engine) (chat.Standing, error) { return e.Standing(ctx, room, user) })
		both(h, "memberships", func(ctx context.Context, e engine) ([]chat.Membership, error) { return e.Memberships(ctx, user) })
	}
}

package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
)

// club is a second room of the same users, in which they do to each other whatever people do in rooms: in the first they
// stay among themselves, for the packets' sake.
func (h *history) club() string { return h.name + "-club" }

func (h *history) openClub() {
	h.Helper()
	kind := pick(h, []chat.RoomKind{chat.Public, chat.Private})
	both(h, "club", func(ctx context.Context, e engine) (answer[chat.Membership], error) {
		m, dup, err := e.CreateRoom(ctx, chat.NewRoom{ID: h.club(), Name: "club", Kind: kind,
			Owner: chat.User{ID: h.users[0]}, Members: h.users[1:3], Key: h.club(), Hash: []byte("club"), At: h.now, MaxRooms: 5})
		return answer[chat.Membership]{m, dup}, err
	})
	h.governor = h.users[0]
}

// mingle does something in the club.
func (h *history) mingle() {
	h.Helper()
	switch n := h.random.IntN(16); {
	case n < 2:
		h.comeOrGo()
	case n < 7:
		h.change()
	case n < 8:
		h.direct()
	case n < 11:
		h.say()
	default:
		h.amend()
	}
}

func (h *history) comeOrGo() {
	h.Helper()
	user := pick(h, h.users)
	if h.random.IntN(2) == 0 {
		both(h, "join", func(ctx context.Context, e engine) (answer[chat.Membership], error) {
			m, changed, err := e.Join(ctx, chat.Joining{Room: h.club(), User: user, At: h.now, MaxRooms: 4, MaxMembers: 5})
			return answer[chat.Membership]{m, changed}, err
		})
		return
	}
	l := chat.Leaving{Room: h.club(), User: chat.User{ID: user, Name: "N"}, At: h.now, EntryIDs: [2]string{h.id("e"), h.id("e")}}
	left := both(h, "leave", func(ctx context.Context, e engine) (chat.Left, error) { return e.Leave(ctx, l) })
	if left.Heir != "" {
		h.governor = left.Heir
	}
}

func (h *history) change() {
	h.Helper()
	name, announcement := pick(h, []string{"club", "the club"}), pick(h, []string{"", "<hear> & \"see\""})
	c := chat.Change{
		Kind: pick(h, []chat.ChangeKind{chat.Invite, chat.Invite, chat.Kick, chat.Ban, chat.Unban, chat.Unban, chat.SetRole, chat.Mute, chat.UpdateRoom}),
		Room: h.club(), By: chat.User{ID: h.governor, Name: "as it was then"}, Users: []string{pick(h, h.users)},
		Role: pick(h, roles), At: h.now, EntryIDs: []string{h.id("e"), h.id("e"), h.id("e")}, MaxRooms: 4, MaxMembers: 5,
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
	case chat.Mute:
		c.Until = pick(h, []time.Time{{}, h.now.Add(-time.Second), h.now.Add(2 * time.Second)})
	case chat.UpdateRoom:
		c.Users, c.To = nil, chat.RoomChange{Name: &name, Announcement: &announcement}
	case chat.DeleteRoom:
		c.Users = nil
	}
	made := both(h, fmt.Sprintf("change %+v", c), func(ctx context.Context, e engine) (chat.Changed, error) { return e.Change(ctx, c) })
	if made.Changed && c.Kind == chat.SetRole && c.Role == chat.Owner {
		h.governor = c.Users[0]
	}
	h.said = max(h.said, made.Room.LastSeq)
}

func (h *history) direct() {
	h.Helper()
	p := chat.Pairing{ID: h.id("pair"), Asker: chat.User{ID: h.users[0]}, Other: pick(h, append(h.users[1:3:3], "stranger")), At: h.now,
		EntryIDs: [2]string{h.id("e"), h.id("e")}, MaxRooms: 4}
	paired := both(h, "direct", func(ctx context.Context, e engine) (chat.Paired, error) { return e.Direct(ctx, p) })
	if room := paired.Membership.Room.ID; room != "" && h.random.IntN(2) == 0 {
		l := chat.Leaving{Room: room, User: chat.User{ID: pick(h, []string{p.Asker.ID, p.Other})}, At: h.now, EntryIDs: [2]string{h.id("e"), h.id("e")}}
		both(h, "leave direct room", func(ctx context.Context, e engine) (chat.Left, error) { return e.Leave(ctx, l) })
	}
}

func (h *history) say() {
	h.Helper()
	key := h.id("say")
	d := chat.Draft{ID: h.id("e"), Room: h.club(), From: chat.User{ID: pick(h, h.users), Name: "N"}, Kind: chat.KindText, Key: key,
		Hash: []byte(key), Body: []byte(`{"text":"<hello>","data":{"a":1}}`), At: h.now, ReplyTo: h.random.Int64N(h.said + 3)}
	entry := both(h, "say", func(ctx context.Context, e engine) (chat.Entry, error) {
		entry, _, err := e.Append(ctx, d)
		return entry, err
	})
	h.said = max(h.said, entry.Seq)
	both(h, "read", func(ctx context.Context, e engine) (chat.Reading, error) {
		return e.Read(ctx, h.club(), h.governor, h.said)
	})
}

func (h *history) amend() {
	h.Helper()
	a := chat.Amendment{
		Kind: pick(h, []chat.EntryKind{chat.KindEdit, chat.KindEdit, chat.KindReact, chat.KindReact, chat.KindReact, chat.KindRecall}),
		Room: h.club(), Target: h.random.Int64N(h.said + 2), By: chat.User{ID: pick(h, h.users), Name: "N"},
		Text: pick(h, []string{"<hello>", "another", "\"more\" & more"}), Emoji: pick(h, []string{"👍", "❤️"}), On: h.random.IntN(3) > 0,
		At: h.now, ID: h.id("e"), Window: 10 * time.Second,
	}
	made := both(h, fmt.Sprintf("amend %+v", a), func(ctx context.Context, e engine) (chat.Amended, error) { return e.Amend(ctx, a) })
	h.said = max(h.said, made.Seq)
}

// compareClub asks everything that can be asked about the club and who is in it.
func (h *history) compareClub() {
	h.Helper()
	room := h.club()
	both(h, "room", func(ctx context.Context, e engine) (chat.Room, error) { return e.Room(ctx, room) })
	both(h, "history", func(ctx context.Context, e engine) (answer[[]chat.Entry], error) {
		es, more, err := e.History(ctx, room, chat.Page{Limit: 60, MaxBytes: 3000})
		return answer[[]chat.Entry]{es, more}, err
	})
	both(h, "spans", func(ctx context.Context, e engine) (map[string][]chat.Entry, error) {
		return e.Spans(ctx, []chat.Span{{Room: room, Through: h.said}})
	})
	both(h, "found", func(ctx context.Context, e engine) ([]chat.Room, error) {
		found, _, err := e.FindRooms(ctx, "club", "", 99)
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

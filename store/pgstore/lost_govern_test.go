package pgstore

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"hongbao/chat"
)

// change returns a change of this kind that the room's owner makes about the users.
func change(kind chat.ChangeKind, users ...string) chat.Change {
	return chat.Change{
		Kind: kind, Room: room, By: chat.User{ID: "owner"}, Users: users, At: time.Now(),
		EntryIDs: []string{"e-" + string(kind), "f-" + string(kind)}, MaxRooms: 9, MaxMembers: 9,
	}
}

// TestChangeWhoseCommitWasLost loses the reply to the commit of each kind of change. The transaction runs again, and
// must return the result of its first run.
func TestChangeWhoseCommitWasLost(t *testing.T) {
	name := "another name"
	roles, mute, update := change(chat.SetRole, "ann"), change(chat.Mute, "ann"), change(chat.UpdateRoom)
	roles.Role, mute.Until, update.To.Name = chat.Owner, time.Now().Add(time.Hour).Truncate(time.Millisecond), &name
	for _, test := range []struct {
		c       chat.Change
		want    chat.Changed // compared without the room and the content of entries
		entries int
		again   error
	}{
		{c: change(chat.Invite, "new", "ann"), want: chat.Changed{Role: chat.Owner, Affected: []string{"new"}, Entered: []string{"new"}}, entries: 1},
		{c: change(chat.Kick, "ann"), want: chat.Changed{Role: chat.Owner, Affected: []string{"ann"}, Exited: []string{"ann"}}, entries: 1},
		{c: change(chat.Ban, "new"), want: chat.Changed{Role: chat.Owner, Affected: []string{"new"}}, entries: 1},
		{c: change(chat.Unban, "bad"), want: chat.Changed{Role: chat.Owner, Affected: []string{"bad"}}},
		{c: roles, want: chat.Changed{Role: chat.Admin, Affected: []string{"ann", "owner"}}, entries: 2, again: chat.ErrForbidden},
		{c: mute, want: chat.Changed{Role: chat.Owner, Affected: []string{"ann"}}, entries: 1},
		{c: update, want: chat.Changed{Role: chat.Owner}, entries: 1},
		{c: change(chat.DeleteRoom), again: chat.ErrNotFound},
	} {
		t.Run(string(test.c.Kind), func(t *testing.T) {
			t.Parallel()
			b := newFaultyStore(t)
			begin := b.addMembers()
			var made chat.Changed
			var err error
			b.withCommitReplyLost(true, func() { made, err = b.Change(t.Context(), test.c) })
			b.must(err)
			kept, _, err := b.direct.History(t.Context(), room, chat.Page{After: &begin, Limit: 9})
			b.must(err)
			is, err := b.direct.Room(t.Context(), room)
			b.must(err)
			if !reflect.DeepEqual(made.Entries, kept) || len(kept) != test.entries || made.Room != is {
				t.Errorf("returned %+v and room %+v; stored %+v and room %+v", made.Entries, made.Room, kept, is)
			}
			test.want.Changed, test.want.Room, test.want.Entries = true, made.Room, made.Entries
			if !reflect.DeepEqual(made, test.want) { //nolint:govet // without errors in it
				t.Errorf("returned %+v, want %+v", made, test.want)
			}
			if again, err := b.Change(t.Context(), test.c); !errors.Is(err, test.again) || again.Changed {
				t.Errorf("second call: %+v, %v, want no change and %v", again, err, test.again)
			}
		})
	}
}

// addMembers prepares three users: ann is a member, bad is a former member and banned, new was never a member. It
// returns the room's last seq.
func (b *faultyStore) addMembers() (seq int64) {
	b.Helper()
	for _, user := range []string{"ann", "bad", "new"} {
		_, _, err := b.direct.PutUser(b.Context(), chat.Profile{User: chat.User{ID: user}}, 0)
		b.must(err)
	}
	for _, c := range []chat.Change{change(chat.Invite, "ann", "bad"), change(chat.Ban, "bad")} {
		c.EntryIDs = []string{"members-1-" + string(c.Kind), "members-2-" + string(c.Kind)}
		made, err := b.direct.Change(b.Context(), c)
		b.must(err)
		seq = made.Room.LastSeq
	}
	return seq
}

func amendment(kind chat.EntryKind) chat.Amendment {
	return chat.Amendment{
		Kind: kind, Room: room, Target: 1, By: chat.User{ID: "owner"}, Text: "better", Emoji: "👍", On: true, At: time.Now(), ID: "amends",
		Window: time.Minute,
	}
}

func TestAmendWhoseCommitWasLost(t *testing.T) {
	for _, kind := range []chat.EntryKind{chat.KindEdit, chat.KindRecall, chat.KindReact} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newFaultyStore(t)
			_, _, err := b.direct.Append(t.Context(), textDraft(1))
			b.must(err)
			var made chat.Amended
			b.withCommitReplyLost(true, func() { made, err = b.Amend(t.Context(), amendment(kind)) })
			b.must(err)
			kept, _, err := b.direct.History(t.Context(), room, chat.Page{After: new(int64(1)), Limit: 9})
			b.must(err)
			if len(kept) != 1 || !reflect.DeepEqual(made, chat.Amended{Changed: true, Seq: 2, Entry: kept[0]}) {
				t.Errorf("returned %+v, stored %+v", made, kept)
			}
			if again, err := b.Amend(t.Context(), amendment(kind)); err != nil || again.Changed || kind != chat.KindReact && again.Seq != 2 {
				t.Errorf("second call: %+v, %v", again, err)
			}
		})
	}
}

// TestDirectWhoseCommitWasLost loses the reply to the commit of Direct, for a new room and for one that a user
// rejoins. The second run must return the result of the first.
func TestDirectWhoseCommitWasLost(t *testing.T) {
	p := chat.Pairing{ID: "pair", User: chat.User{ID: "owner"}, Other: "ann", At: time.Now(), EntryID: "e1", MaxRooms: 2}
	for name, test := range map[string]struct {
		back bool
		want chat.Paired
	}{
		"new":  {false, chat.Paired{Entered: []string{"owner", "ann"}}},
		"back": {true, chat.Paired{Entered: []string{"owner"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFaultyStore(t)
			_, _, err := b.direct.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "ann"}}, 0)
			b.must(err)
			if test.back {
				_, err := b.direct.Direct(t.Context(), p)
				b.must(err)
				_, err = b.direct.Leave(t.Context(), chat.Leaving{Room: "pair", User: p.User, At: time.Now(), EntryIDs: [2]string{"l1", "l2"}})
				b.must(err)
			}
			p := p
			if test.back {
				p.ID = "another"
			}
			var paired chat.Paired
			b.withCommitReplyLost(true, func() { paired, err = b.Direct(t.Context(), p) })
			b.must(err)
			m, err := b.direct.Membership(t.Context(), "pair", "owner")
			b.must(err)
			kept, _, err := b.direct.History(t.Context(), "pair", chat.Page{After: new(int64(1)), Limit: 9})
			b.must(err)
			if test.want.Membership = m; test.back {
				test.want.Entries = kept
			}
			if !reflect.DeepEqual(paired, test.want) || m.Room.Members != 2 || len(kept) != len(test.want.Entries) {
				t.Errorf("returned %+v, want %+v; stored %+v", paired, test.want, kept)
			}
			if again, err := b.Direct(t.Context(), p); err != nil || again.Entered != nil || again.Entries != nil {
				t.Errorf("second call: %+v, %v", again, err)
			}
		})
	}
}

func TestRevokeWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	b := newFaultyStore(t)
	b.withCommitReplyLost(true, func() { b.must(b.Revoke(t.Context(), "unseen", 7)) })
	b.must(b.Revoke(t.Context(), "unseen", 6))
	if _, until, err := b.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "unseen", Name: "seen"}}, 0); err != nil || until != 7 {
		t.Errorf("not before %d, %v; want 7", until, err)
	}
}

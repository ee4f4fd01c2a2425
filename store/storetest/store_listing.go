package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
)

func listingTests() []storeTest {
	return []storeTest{
		{"public rooms are found newest first, page by page", findPages},
		{"a query finds itself and nothing else", findExactly},
		{"a room is found by its present name, and a deleted room not at all", findRenamed},
		{"an empty room is not listed until a user joins it", findEmpty},
		{"private rooms are not found", findNoPrivate},
		{"members come owner first, page by page", memberPages},
		{"members say how far they have read, in small rooms", memberReadings},
		{"a cursor of another list is refused", foreignCursor},
		{"memberships are the rooms one is in", membershipsList},
		{"memberships come newest first, page by page", membershipPages},
	}
}

// walked reads all pages of a list. The function page reads one page and returns the ids of its items.
func (b *storeBench) walked(limit int, page func(next string) (ids []string, more string, err error)) (all []string) {
	b.Helper()
	const end = 100 // no test has more pages
	next := ""
	for range end {
		ids, more, err := page(next)
		b.must(err)
		if len(ids) > limit || more != "" && len(ids) < limit {
			b.Fatalf("a page of %d, limit %d, more %q", len(ids), limit, more)
		}
		all = append(all, ids...)
		if next = more; next == "" {
			return all
		}
	}
	b.Fatalf("pages of %d have no end", limit)
	return nil
}

// found reads all pages of a search.
func (b *storeBench) found(query string, limit int) []string {
	b.Helper()
	return b.walked(limit, func(next string) (ids []string, more string, err error) {
		rooms, more, err := b.FindRooms(b.ctx, query, next, limit)
		for _, r := range rooms {
			ids = append(ids, r.ID)
		}
		return ids, more, err
	})
}

func findPages(b *storeBench) {
	var want []string
	for i := range 7 {
		r := b.newRoom(ann)
		if i%3 != 0 {
			b.now = b.now.Add(-time.Second)
			r.At = b.now // created at the same time as the previous one, so the id decides
		}
		b.create(r)
		want = append(want, r.ID)
	}
	slices.Reverse(want)
	for limit := 1; limit <= 8; limit++ {
		if got := b.found("", limit); !slices.Equal(got, want) {
			b.Errorf("pages of %d give %v, want %v", limit, got, want)
		}
	}
}

// findEmpty lets the only member leave a public room and another user join it.
func findEmpty(b *storeBench) {
	room := b.room(ann)
	b.leave(room, ann)
	if got := b.found("", 10); len(got) != 0 {
		b.Errorf("%v are listed, want no empty room", got)
	}
	b.join(room, bob)
	if got := b.found("", 10); !slices.Equal(got, []string{room}) {
		b.Errorf("%v are listed after a join, want %v", got, room)
	}
}

func findExactly(b *storeBench) {
	names := []string{"100% fun", "100 fun", "snake_case", "snakeXcase", `back\slash`, `backslash`, "恭喜发财", "ABC", "ÄBC"}
	ids := map[string]string{}
	for _, name := range names {
		r := b.newRoom(ann)
		r.Name = name
		ids[name] = b.create(r).Room.ID
	}
	for query, name := range map[string]string{
		"%": "100% fun", "_": "snake_case", `\`: `back\slash`, "喜发": "恭喜发财", "100 ": "100 fun", "abc": "ABC", "äb": "ÄBC", `k\s`: `back\slash`, "ＫＳＬＡ": "backslash",
	} {
		if got := b.found(query, 10); !slices.Equal(got, []string{ids[name]}) {
			b.Errorf("query %q finds %v, want only %q", query, got, name)
		}
	}
	for _, query := range []string{"none of them", "恭发", "fun 100"} {
		if got := b.found(query, 10); len(got) != 0 {
			b.Errorf("query %q finds %v", query, got)
		}
	}
}

// findRenamed gives a room other names, and then deletes it.
func findRenamed(b *storeBench) {
	r := b.newRoom(ann)
	r.Name = "first 恭喜"
	room := b.create(r).Room.ID
	wants := func(query string, want ...string) {
		b.Helper()
		if got := b.found(query, 10); !slices.Equal(got, want) {
			b.Errorf("query %q finds %v, want %v", query, got, want)
		}
	}
	wants("恭喜", room)
	rename := func(name string) {
		c := b.wanted(chat.UpdateRoom, room, ann)
		c.To = chat.RoomChange{Name: &name}
		b.change(c)
	}
	rename("second 恭喜发财")
	wants("first")
	wants("second", room)
	wants("恭喜", room)
	rename("!")
	wants("second")
	wants("!", room)
	b.change(b.wanted(chat.DeleteRoom, room, ann))
	wants("!")
	wants("")
}

func findNoPrivate(b *storeBench) {
	public := b.room(ann)
	b.privateRoom(ann, bob)
	if got := b.found("", 10); !slices.Equal(got, []string{public}) {
		b.Errorf("found %v, want only the public room", got)
	}
}

func memberPages(b *storeBench) {
	room := b.room(ann)
	for i := range 6 {
		u := fmt.Sprintf("user-%d", i)
		b.known(u)
		if i == 4 {
			b.now = b.now.Add(-time.Second) // joined at the same time as the previous one, so the id decides
		}
		b.join(room, u)
	}
	until := b.tick()
	b.Stand(room, "user-2", chat.Standing{Ever: true, In: true, Role: chat.Admin})
	b.Stand(room, "user-5", chat.Standing{Ever: true, In: true, Role: chat.Admin, MutedUntil: until})
	b.leave(room, "user-0")
	want := []string{ann, "user-2", "user-5", "user-1", "user-3", "user-4"}

	for limit := 1; limit <= 7; limit++ {
		got := b.walked(limit, func(next string) (ids []string, more string, err error) {
			members, more, err := b.Members(b.ctx, room, next, limit)
			for _, m := range members {
				ids = append(ids, m.User.ID)
			}
			return ids, more, err
		})
		if !slices.Equal(got, want) {
			b.Errorf("pages of %d give %v, want %v", limit, got, want)
		}
	}
	members, _, err := b.Members(b.ctx, room, "", 10)
	b.must(err)
	if m := members[2]; m != (chat.Member{User: person("user-5"), Role: chat.Admin, MutedUntil: until}) {
		b.Errorf("a muted admin is listed as %+v", m)
	}
}

func memberReadings(b *storeBench) {
	room := b.room(ann, bob)
	reads := func(want ...int64) {
		b.Helper()
		members, _, err := b.Members(b.ctx, room, "", 3)
		b.must(err)
		for i, m := range members {
			if m.ReadSeq != want[i] {
				b.Errorf("%s has read up to %d, want %d", m.User.ID, m.ReadSeq, want[i])
			}
		}
	}
	b.tick()
	b.say(room, ann)
	b.tick()
	b.join(room, cyn) // cyn joins after the entry and has not read it
	reads(1, 0, 0)
	b.tick()
	b.say(room, ann)
	for _, user := range []string{bob, cyn} {
		_, err := b.Read(b.ctx, room, user, 2, b.now)
		b.must(err)
	}
	reads(2, 2, 2)
	for i := range chat.SmallRoom - 2 {
		u := fmt.Sprintf("user-%03d", i)
		b.known(u)
		b.join(room, u)
	}
	reads(0, 0, 0)
}

func foreignCursor(b *storeBench) {
	room := b.room(ann, bob)
	b.room(ann)
	_, ofMembers, err := b.Members(b.ctx, room, "", 1)
	b.must(err)
	_, ofRooms, err := b.FindRooms(b.ctx, "", "", 1)
	b.must(err)
	for _, next := range []string{ofMembers, "no cursor", "bnVsbA", "e30", "W10"} {
		_, _, err := b.FindRooms(b.ctx, "", next, 1)
		b.refused(err, chat.ErrBadRequest)
	}
	for _, next := range []string{ofRooms, "no cursor", "bnVsbA", "e30", "W10"} {
		_, _, err := b.Members(b.ctx, room, next, 1)
		b.refused(err, chat.ErrBadRequest)
	}
}

func membershipsList(b *storeBench) {
	in, left := b.room(ann, bob), b.room(ann, bob)
	b.room(cyn)
	private := b.privateRoom(bob)
	b.leave(left, bob)
	muted := chat.Standing{Ever: true, In: true, Role: chat.Admin, MutedUntil: b.now.Add(time.Hour)}
	b.Stand(in, bob, muted)
	b.say(in, ann)
	ms, err := b.Memberships(b.ctx, bob)
	b.must(err)
	got := map[string]chat.Membership{}
	for _, m := range ms {
		got[m.Room.ID] = m
	}
	if len(ms) != 2 || got[in] != b.membership(in, bob) || got[private] != b.membership(private, bob) {
		b.Errorf("memberships %+v, want those of %s and %s", ms, in, private)
	}
	if m := got[in]; m.Role != muted.Role || !m.MutedUntil.Equal(muted.MutedUntil) || !got[private].MutedUntil.IsZero() {
		b.Errorf("memberships %+v lack the mute", ms)
	}
	if got[in].Unread != 1 || got[in].Room.LastSeq != 1 || got[private].Role != chat.Owner {
		b.Errorf("memberships %+v are not as they are now", ms)
	}
}

func membershipPages(b *storeBench) {
	var want []chat.Membership
	for n := range 7 {
		room := b.room(ann, bob)
		b.say(room, ann)
		switch n {
		case 2:
			b.leave(room, bob)
		case 4:
			b.change(b.wanted(chat.DeleteRoom, room, ann))
		default:
			want = append(want, b.membership(room, bob))
		}
	}
	slices.SortFunc(want, func(x, y chat.Membership) int { return strings.Compare(y.Room.ID, x.Room.ID) })
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []chat.Membership
		for next, more := "", true; more; more = next != "" {
			page, following, err := b.MembershipsPage(b.ctx, bob, next, limit)
			b.must(err)
			got, next = append(got, page...), following
		}
		if !slices.Equal(got, want) {
			b.Errorf("by %d: %+v, want %+v", limit, got, want)
		}
	}
}

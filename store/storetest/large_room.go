package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// roomsUnderTest is a store that also removes the members of deleted rooms, and audits itself.
type roomsUnderTest interface {
	chat.Store
	DeletedRooms(ctx context.Context, after string, limit int) (open []string, next string, err error)
	Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error)
}

// TestLargeRoomIsDeleted deletes a room with more members than become gone atOnce. It must be deleted for all of them with the commit, and
// they become gone in steps later. exec runs a statement of both databases, and count reads a number.
func TestLargeRoomIsDeleted(t *testing.T, s roomsUnderTest, atOnce int, exec func(statement string), count func(query string) int) {
	size := 2*atOnce + atOnce/2
	at := time.UnixMilli(1_700_000_000_000).UTC()
	_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{ID: "large", Name: "large", Kind: chat.Public, Owner: chat.User{ID: "owner"}, Key: "k", Hash: []byte("h"), At: at, MaxRooms: 9})
	noError(t, err)
	var users, members []string
	for n := range size - 1 { // beside the owner
		users = append(users, fmt.Sprintf("('user-%d')", n))
		members = append(members, fmt.Sprintf("('large', 'user-%d', '%s', %d)", n, []string{"in", "in", "left", "kicked"}[n%4], n))
	}
	exec(`insert into users (id) values ` + strings.Join(users, ", "))
	exec(`insert into members (room_id, user_id, state, joined_at) values ` + strings.Join(members, ", "))
	exec(`update rooms set members = (select count(*) from members where state = 'in')`)
	noError(t, s.PutSubscription(t.Context(), chat.Subscription{User: "user-0", Endpoint: "https://push.example/0", P256dh: []byte("p"), Auth: []byte("a"), At: at}, 9))
	_, _, err = s.Append(t.Context(), chat.Draft{
		ID: "text", Room: "large", From: chat.User{ID: "owner"}, Kind: chat.KindText, Key: "text", Hash: []byte("h"), Body: []byte(`{"text":"hello"}`), At: at, Mentions: []string{"user-0"},
	})
	noError(t, err)
	wantTold(t, s, 1)
	indexLarge(t, s)

	deletion := chat.Change{Kind: chat.DeleteRoom, Room: "large", By: chat.User{ID: "user-0"}, At: at}
	if _, err := s.Change(t.Context(), deletion); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("deletion by a member: %v", err)
	}
	deletion.By.ID = "owner"
	done, err := s.Change(t.Context(), deletion)
	if err != nil || !done.Changed || !done.Room.Deleted || done.Room.Members != 0 || done.Role != chat.NoRole {
		t.Errorf("deletion by the owner: %+v, %v", done, err)
	}
	if gone := count(`select count(*) from members where user_id = 'owner' and state = 'gone'`); gone != 1 {
		t.Error("the room still counts for the user that has deleted it")
	}
	var indexed []int
	for _, want := range []int{size - 1 - atOnce, size - 1 - 2*atOnce, 0} {
		if left := count(`select count(*) from members where state <> 'gone'`); left != want {
			t.Errorf("%d members are not gone, want %d", left, want)
		}
		wantNobodyIn(t, s, size)
		if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 {
			t.Errorf("audit: %+v, %v", a.Differences, err)
		}
		if emptied := count(`select count(*) from rooms where emptied = (1 = 1)`); emptied != 0 {
			t.Error("the room is marked although it had members")
		}
		indexed = append(indexed, count(`select count(*) from entry_words`))
		open, next, err := s.DeletedRooms(t.Context(), "", 10)
		if err != nil || len(open) != 0 || next != "" {
			t.Errorf("deleted rooms with open packets: %v, then %q, %v", open, next, err)
		}
	}
	if emptied := count(`select count(*) from rooms where emptied = (1 = 1)`); emptied != 1 {
		t.Error("the room is not marked as emptied")
	}
	_, err = s.IndexEntries(t.Context(), []string{"large"}, 100)
	noError(t, err)
	if rooms := count(`select count(*) from indexed_rooms`); rooms != 0 || indexed[0] == 0 || indexed[1] == 0 || indexed[1] >= indexed[0] || indexed[2] != 0 {
		t.Errorf("after each step %v words are in the index, and %d rooms at last; want fewer each time, and none", indexed, rooms)
	}
	pagesAroundDeleted(t, s, exec)
}

// indexLarge writes texts with more words than one step removes, and puts them into the index.
func indexLarge(t *testing.T, s chat.Store) {
	t.Helper()
	var text strings.Builder
	for n := range 3000 {
		fmt.Fprint(&text, "w", n, " ")
	}
	body, err := chat.Body(chat.Text{Text: text.String()})
	noError(t, err)
	for n := range 5 {
		id := fmt.Sprint("long ", n)
		_, _, err := s.Append(t.Context(), chat.Draft{ID: id, Room: "large", From: chat.User{ID: "owner"}, Kind: chat.KindText, Key: id, Hash: []byte("h"), Body: body})
		noError(t, err)
	}
	for left := []string{"large"}; len(left) > 0; {
		left, err = s.IndexEntries(t.Context(), left, 100)
		noError(t, err)
	}
}

// wantTold checks how many mentions, and how many subscriptions to notifications, of the user user-0 count.
func wantTold(t *testing.T, s chat.Store, want int) {
	t.Helper()
	mentions, _, err := s.Mentions(t.Context(), "user-0", "", 10, 1<<20)
	noError(t, err)
	subscriptions, err := s.Subscriptions(t.Context(), chat.Audience{Room: "large", Seq: 1, Limit: 100})
	noError(t, err)
	if len(mentions) != want || len(subscriptions) != want {
		t.Errorf("mentions %v, subscriptions %v, want %d of each", mentions, subscriptions, want)
	}
}

// pagesAroundDeleted lists the rooms of a user whose row in the deleted room is not gone, page by page.
func pagesAroundDeleted(t *testing.T, s chat.Store, exec func(statement string)) {
	t.Helper()
	const user = "user-0"
	exec(`update members set state = 'in', role = 'owner' where room_id = 'large' and user_id = 'user-0'`)
	wantTold(t, s, 0)
	for _, room := range []string{"earlier", "newer"} {
		_, _, err := s.CreateRoom(t.Context(), chat.NewRoom{ID: room, Name: room, Kind: chat.Private, Owner: chat.User{ID: user}, Key: room, Hash: []byte("h"), MaxRooms: 9})
		noError(t, err)
	}
	for limit, want := range map[int]string{1: "newer; ; earlier; ", 2: "newer; earlier; ", 3: "newer earlier; "} {
		got := ""
		for next, more := "", true; more; more = next != "" {
			page, following, err := s.MembershipsPage(t.Context(), user, next, limit)
			noError(t, err)
			var ids []string
			for _, m := range page {
				ids = append(ids, m.Room.ID)
			}
			got, next = got+strings.Join(ids, " ")+"; ", following
		}
		if got != want {
			t.Errorf("pages of %d: %s, want %s", limit, got, want)
		}
	}
	public := chat.NewRoom{ID: "public", Name: "public", Kind: chat.Public, Owner: chat.User{ID: user}, Key: "public", Hash: []byte("h"), MaxRooms: 9, MaxPublic: 1}
	if _, _, err := s.CreateRoom(t.Context(), public); err != nil {
		t.Errorf("the owner of a deleted public room makes another one: %v", err)
	}
}

// wantNobodyIn checks that the deleted room exists for none of its users, whether they are gone yet or not.
func wantNobodyIn(t *testing.T, s chat.Store, size int) {
	t.Helper()
	const room = "large"
	listed, _, err := s.Members(t.Context(), room, "", 100)
	noError(t, err)
	roster, err := s.Roster(t.Context(), room, 100)
	noError(t, err)
	unread, err := s.UnreadBy(t.Context(), chat.Unread{Room: room, Seq: 1, Limit: 100})
	noError(t, err)
	if len(listed)+len(roster)+len(unread) > 0 {
		t.Errorf("members %v, roster %v, unread by %v", listed, roster, unread)
	}
	for n := 0; n < size-1; n += 97 {
		user := fmt.Sprint("user-", n)
		st, err := s.Standing(t.Context(), room, user)
		if err != nil || !st.RoomDeleted || st.In {
			t.Errorf("%s stands as %+v, %v", user, st, err)
		}
		in, err := s.Memberships(t.Context(), user)
		if err != nil || len(in) > 0 {
			t.Errorf("%s is in %v, %v", user, in, err)
		}
		if in, more, err := s.MembershipsPage(t.Context(), user, "", 1); err != nil || len(in) > 0 || more != "" {
			t.Errorf("%s is in %v, then %q, %v", user, in, more, err)
		}
		_, err = s.Membership(t.Context(), room, user)
		wantError(t, err, chat.ErrNotMember)
		_, _, err = s.Append(t.Context(), chat.Draft{ID: "e", Room: room, From: chat.User{ID: user}, Kind: chat.KindText, Key: "k", Hash: []byte("h"), Body: []byte(`{}`)})
		wantError(t, err, chat.ErrNotFound)
		_, err = s.Leave(t.Context(), chat.Leaving{Room: room, User: chat.User{ID: user}})
		wantError(t, err, chat.ErrNotFound)
		_, _, err = s.Join(t.Context(), chat.Joining{Room: room, User: user, MaxRooms: 9, MaxMembers: 9999})
		wantError(t, err, chat.ErrNotFound)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

func TestHostKeepsRooms(t *testing.T) {
	h := newTestHost(t)
	create := func(body, key string) answer {
		return h.send(h.all, "POST", "/v1/server/rooms", body, "Idempotency-Key", key)
	}
	const order = `{"ref":"order-17","name":"Order 17","kind":"private","owner":"ann","members":["bob","cid"],"announcement":"hello","guests":false,"packets":false}`
	first := ok[hostapi.CreateRoomReply](h, create(order, "one"))
	again := ok[hostapi.CreateRoomReply](h, create(order, "one"))
	byRef := ok[hostapi.CreateRoomReply](h, create(order, "two"))
	r := first.Room
	if first.Dup || !again.Dup || !byRef.Dup || again.Room != r || byRef.Room != r {
		t.Errorf("%+v, then %+v and %+v; want the same room, made once", first, again, byRef)
	}
	if r.Ref != "order-17" || r.Owner != "ann" || r.Members != 3 || r.Kind != "private" || r.Announcement != "hello" || r.Guests || r.Packets || r.Invite != "admins" {
		t.Errorf("the room is %+v", r)
	}
	h.refused(create(`{"ref":"order-18","name":"Other","owner":"ann"}`, "one"), wire.CodeKeyReused, "key_reused")
	h.refused(create(`{"name":"","owner":"ann"}`, "three"), wire.CodeBadRequest, "bad_request field=name")
	h.refused(create(`{"name":"x","owner":"a b"}`, "three"), wire.CodeBadRequest, "bad_request field=owner")
	h.refused(create(`{"name":"x","owner":"ann","ref":"a b"}`, "three"), wire.CodeBadRequest, "bad_request field=ref")
	h.refused(h.send(h.all, "POST", "/v1/server/rooms", order), wire.CodeBadRequest, "bad_request field=Idempotency-Key")

	room := "/v1/server/rooms/" + r.ID
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "GET", room, nil)).Room; got != r {
		t.Errorf("got %+v, want %+v", got, r)
	}
	if list := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?ref=order-17", nil)).Rooms; len(list) != 1 || list[0] != r {
		t.Errorf("the ref has %+v", list)
	}
	second := ok[hostapi.CreateRoomReply](h, create(`{"name":"Tea","owner":"bob"}`, "four")).Room
	page := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?limit=1", nil))
	if len(page.Rooms) != 1 || page.Rooms[0].ID != r.ID || page.Next == "" {
		t.Errorf("the first page is %+v", page)
	}
	if page := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?limit=1&next="+page.Next, nil)); len(page.Rooms) != 1 || page.Rooms[0].ID != second.ID || page.Next != "" {
		t.Errorf("the second page is %+v", page)
	}
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "PUT", room, `{"name":"Order 17, paid","packets":true,"frozen":true}`)).Room; got.Name != "Order 17, paid" || !got.Packets || !got.Frozen || got.Announcement != "hello" {
		t.Errorf("updated: %+v", got)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/ann/send", fmt.Sprintf(`{"room":%q,"key":"k","text":"x"}`, r.ID)), wire.CodeForbidden, "forbidden field=frozen")
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "POST", room+"/owner", `{"user":"bob"}`)).Room; got.Owner != "bob" {
		t.Errorf("handed over: %+v", got)
	}
	h.refused(h.send(h.all, "POST", room+"/owner", `{"user":"nobody"}`), wire.CodeNotFound, "not_found field=user")
	history := ok[wire.HistoryReply](h, h.send(h.all, "GET", room+"/history?after=0&limit=2", nil))
	if len(history.Entries) != 2 || history.Entries[0].Kind != "room" || !history.More {
		t.Errorf("the history begins with %+v", history.Entries)
	}
	ok[wire.DeleteRoomReply](h, h.send(h.all, "DELETE", room, nil))
	h.refused(h.send(h.all, "GET", room, nil), wire.CodeNotFound, "not_found")
	if list := ok[hostapi.ListRoomsReply](h, h.send(h.all, "GET", "/v1/server/rooms?ref=order-17", nil)).Rooms; len(list) != 0 {
		t.Errorf("the ref of a deleted room has %+v", list)
	}
	if made := ok[hostapi.CreateRoomReply](h, create(order, "five")); made.Dup || made.Room.ID == r.ID {
		t.Errorf("after the deletion: %+v, want a new room", made)
	}
	h.refused(h.send(h.newKey("reader", hostapi.Read), "PUT", room, `{"name":"x"}`), wire.CodeForbidden, "forbidden scope=chat")
}

func TestHostChangesMembersInBulk(t *testing.T) {
	h := newTestHost(t)
	room := ok[hostapi.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/rooms", `{"name":"Hall","owner":"ann"}`, "Idempotency-Key", "r")).Room.ID
	path := "/v1/server/rooms/" + room
	const many = 9_998 // a request with two more has as many users as it may
	var users []string
	for n := range many {
		users = append(users, fmt.Sprintf("u%d", n))
	}
	ask := func(path string, users []string, announce bool) answer {
		return h.send(h.all, "POST", path, map[string]any{"users": users, "announce": announce})
	}
	h.known("u7")
	ok[wire.KickReply](h, h.send(h.all, "POST", "/v1/server/system/kick", fmt.Sprintf(`{"room":%q,"user":"u7","ban":true}`, room), "Idempotency-Key", "k"))
	done := ok[hostapi.MembersReply](h, ask(path+"/members", append(users, "ann", "u1"), true))
	if done.Changed != many-1 || done.Unchanged != 1 || len(done.Refused) != 1 || done.Refused[0] != (hostapi.RefusedMember{User: "u7", Why: "banned"}) {
		t.Errorf("added %+v", done)
	}
	entries := ok[wire.HistoryReply](h, h.send(h.all, "GET", path+"/history", nil)).Entries
	last := entries[len(entries)-1]
	var said wire.MemberBody
	if err := json.Unmarshal(last.Body, &said); err != nil || said.Change != "added" || said.Count != many-1 || len(said.Users) != 50 || said.User != said.Users[0] || last.From.ID != "~system" {
		t.Errorf("the last entry is %+v with %s, %v; want one for all that were added", last, last.Body, err)
	}
	if again := ok[hostapi.MembersReply](h, ask(path+"/members", users, true)); again.Changed != 0 || again.Unchanged != many-1 {
		t.Errorf("added again: %+v", again)
	}
	ok[wire.SendReply](h, h.send(h.all, "POST", "/v1/server/as/u999/send", fmt.Sprintf(`{"room":%q,"key":"k","text":"here"}`, room)))
	removed := ok[hostapi.MembersReply](h, ask(path+"/members/remove", append(users, "ann"), false))
	if removed.Changed != many-1 || removed.Unchanged != 1 || len(removed.Refused) != 1 || removed.Refused[0] != (hostapi.RefusedMember{User: "ann", Why: "forbidden field=users"}) {
		t.Errorf("removed %+v", removed)
	}
	if got := ok[hostapi.RoomReply](h, h.send(h.all, "GET", path, nil)).Room; got.Members != 1 || got.LastSeq != last.Seq+1 {
		t.Errorf("the room is %+v, want one member and no entry but the text", got)
	}
	h.refused(h.send(h.all, "POST", "/v1/server/as/u999/send", fmt.Sprintf(`{"room":%q,"key":"l","text":"here"}`, room)), wire.CodeNotMember, "not_member")
	h.refused(ask(path+"/members", nil, false), wire.CodeBadRequest, "bad_request field=users")
	h.refused(ask(path+"/members", []string{"ok", "a b"}, false), wire.CodeBadRequest, "bad_request field=users[1]")
	h.refused(ask(path+"/members", slices.Repeat([]string{"one"}, 10_001), false), wire.CodeLimitExceeded, "limit_exceeded field=users limit=10000")
	h.refused(ask("/v1/server/rooms/none/members", []string{"new"}, false), wire.CodeNotFound, "not_found")
	h.refused(h.send(h.all, "GET", "/v1/server/users/new", nil), wire.CodeNotFound, "not_found")
}

func TestHostBansForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHost(t)
		room := ok[hostapi.CreateRoomReply](h, h.send(h.all, "POST", "/v1/server/rooms", `{"name":"Hall","kind":"public","owner":"ann","members":["bob","cid"]}`, "Idempotency-Key", "r")).Room.ID
		kick := func(body string, values ...any) answer {
			return h.send(h.all, "POST", "/v1/server/system/kick", fmt.Sprintf(`{"room":%q,"ban":true,`, room)+fmt.Sprintf(body, values...)+`}`)
		}
		join := func() answer {
			return h.send(h.all, "POST", "/v1/server/as/bob/join", fmt.Sprintf(`{"room":%q}`, room))
		}
		bans := func() []hostapi.Ban {
			t.Helper()
			return ok[hostapi.BansReply](h, h.send(h.all, "GET", "/v1/server/rooms/"+room+"/bans", nil)).Bans
		}
		h.refused(kick(`"user":"bob","until":1000`), wire.CodeBadRequest, "bad_request field=until")
		h.refused(kick(`"user":"bob","reason":%q`, strings.Repeat("x", 201)), wire.CodeTooLong, "too_long field=reason")
		until := time.Now().Add(8 * time.Second).UnixMilli() // time for the requests until then
		ok[wire.KickReply](h, kick(`"user":"bob","until":%d,"reason":"spam"`, until))
		ok[wire.KickReply](h, kick(`"user":"cid"`))
		if got := bans(); len(got) != 2 || got[0] != (hostapi.Ban{User: "bob", Until: until, Reason: "spam"}) || got[1] != (hostapi.Ban{User: "cid"}) {
			t.Errorf("the bans are %+v", got)
		}
		h.refused(join(), wire.CodeBanned, "banned")
		h.refused(h.send(h.all, "POST", "/v1/server/as/bob/history", fmt.Sprintf(`{"room":%q}`, room)), wire.CodeBanned, "banned") // from the cache from now on
		time.Sleep(time.Until(time.UnixMilli(until)))
		h.refused(h.send(h.all, "POST", "/v1/server/as/bob/history", fmt.Sprintf(`{"room":%q}`, room)), wire.CodeNotMember, "not_member")
		ok[wire.JoinReply](h, join())
		if got := bans(); len(got) != 1 || got[0].User != "cid" {
			t.Errorf("after its end the bans are %+v", got)
		}
		h.refused(h.send(h.all, "GET", "/v1/server/rooms/none/bans", nil), wire.CodeNotFound, "not_found")
	})
}

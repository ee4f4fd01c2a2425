package server_test

import (
	"fmt"
	"strings"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

func TestHostCreatesAUserAndActsForIt(t *testing.T) {
	h := newTestHost(t)
	put := func(user, body string) answer { return h.send(h.all, "PUT", "/v1/server/users/"+user, body) }
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}

	h.refused(as("ann", "create_room", `{"name":"Tea","kind":"public"}`), wire.CodeNotFound, "not_found")
	ok[hostapi.UserReply](h, put("ann", `{"name":"Ann","avatar":"https://shop.example.com/ann.png"}`))
	if u := ok[hostapi.UserReply](h, put("ann", `{"name":"Anna"}`)).User; u.Name != "Anna" || u.Avatar != "https://shop.example.com/ann.png" {
		t.Errorf("%+v, want the new name and the old avatar", u)
	}
	ok[hostapi.UserReply](h, put("bob@shop", `{"name":"Bob"}`))
	for body, want := range map[string]string{
		`{"name":""}`: "bad_request field=name",
		`{"name":"` + strings.Repeat("x", 65) + `"}`: "too_long field=name",
		`{"avatar":"javascript:alert(1)"}`:           "bad_request field=avatar",
	} {
		if a := put("ann", body); a.status == 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s, want %q", body, a.status, a.body, want)
		}
	}

	for _, body := range []string{`null`, `[]`, `"x"`, `1`} {
		h.refused(put("ann", body), wire.CodeBadRequest, "bad_request field=data")
		h.refused(as("ann", "send", body), wire.CodeBadRequest, "bad_request field=data")
	}

	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","kind":"public","key":"r","members":["bob@shop"]}`)).Room.ID
	for n := range 60 { // more than ann may send in the same time
		ok[wire.SendReply](h, as("ann", "send", fmt.Sprintf(`{"room":%q,"key":"k%d","text":"hello"}`, room, n)))
	}
	page := ok[wire.HistoryReply](h, as("bob%40shop", "history", fmt.Sprintf(`{"room":%q,"limit":1}`, room)))
	if len(page.Entries) != 1 || page.Entries[0].From.Name != "Anna" {
		t.Errorf("%+v, want a text of Anna", page.Entries)
	}
	h.refused(as("ann", "nothing", `{}`), wire.CodeUnknownCommand, "unknown_command")
	h.refused(as("ann", "send", `{"room":"x"`), wire.CodeBadRequest, "bad_request field=data")
	if act := h.act("as_send"); !strings.Contains(act.Request, `"for":"ann"`) || strings.Contains(act.Request, "hello") {
		t.Errorf("the act is %+v, want as_send for ann without the text", act)
	}
}

// TestHostSpeaksAsTheSystem lets the host's back end say and do in a room what an owner may, without being a member.
func TestHostSpeaksAsTheSystem(t *testing.T) {
	h := newTestHost(t)
	h.known("ann", "bob", "cid")
	as := func(user, command, body string) answer {
		return h.send(h.all, "POST", "/v1/server/as/"+user+"/"+command, body)
	}
	system := func(command, body string, values ...any) answer {
		return h.send(h.all, "POST", "/v1/server/system/"+command, fmt.Sprintf(body, values...))
	}
	room := ok[wire.CreateRoomReply](h, as("ann", "create_room", `{"name":"Tea","key":"r","kind":"private","members":["bob"]}`)).Room.ID

	first := ok[wire.SendReply](h, system("send", `{"room":%q,"key":"s","text":"closed at noon"}`, room))
	again := ok[wire.SendReply](h, system("send", `{"room":%q,"key":"s","text":"closed at noon"}`, room))
	if first.Dup || !again.Dup || again.Seq != first.Seq {
		t.Errorf("%+v, then %+v; want one text", first, again)
	}
	ok[wire.SetRoleReply](h, system("set_role", `{"room":%q,"user":"bob","role":"owner"}`, room))
	h.refused(system("kick", `{"room":%q,"user":"bob"}`, room), wire.CodeForbidden, "forbidden field=user")
	ok[wire.KickReply](h, system("kick", `{"room":%q,"user":"ann"}`, room))
	ok[wire.InviteReply](h, system("invite", `{"room":%q,"users":["cid"]}`, room))
	ok[wire.SeqReply](h, system("recall", `{"room":%q,"seq":%d}`, room, ok[wire.SendReply](h, as("bob", "send", fmt.Sprintf(`{"room":%q,"key":"b","text":"rude"}`, room))).Seq))

	members := ok[wire.MembersReply](h, system("members", `{"room":%q}`, room)).Members
	if len(members) != 2 || members[0].User.ID != "bob" || members[0].Role != "owner" || members[1].User.ID != "cid" {
		t.Errorf("members %+v, want the owner bob, and cid", members)
	}
	entries := ok[wire.HistoryReply](h, system("history", `{"room":%q}`, room)).Entries
	if e := entries[0]; e.From.ID != "~system" || e.From.Name != "System" || e.Kind != "text" {
		t.Errorf("the first entry is %+v, want a text of ~system", e)
	}
	if hits := ok[wire.SearchReply](h, system("search", `{"words":"rude","room":%q}`, room)).Hits; len(hits) != 0 {
		t.Errorf("a recalled text is found: %+v", hits)
	}
	said := ok[wire.SendReply](h, as("bob", "send", fmt.Sprintf(`{"room":%q,"key":"find-me","text":"找到我 please"}`, room)))
	if hits := ok[wire.SearchReply](h, system("search", `{"words":"找到","room":%q}`, room)).Hits; len(hits) != 1 || hits[0].Entry.Seq != said.Seq || hits[0].Places[0] != (wire.Place{To: 2}) {
		t.Errorf("found %+v, want the text", hits)
	}
	h.refused(system("search", `{"words":"找到"}`), wire.CodeBadRequest, "bad_request field=room")
	h.refused(system("grab", `{"packet":"x"}`), wire.CodeUnknownCommand, "unknown_command")
	h.refused(h.send(h.newKey("chat-only", hostapi.Chat), "POST", "/v1/server/system/mute", `{}`), wire.CodeForbidden, "forbidden scope=moderate")
	ok[wire.DeleteRoomReply](h, system("delete_room", `{"room":%q}`, room))
	for _, command := range []string{"send", "history", "members", "update_room"} {
		h.refused(system(command, `{"room":%q,"key":"late","text":"late","name":"late"}`, room), wire.CodeNotFound, "not_found")
	}
	h.refused(h.send(h.all, "PUT", "/v1/server/users/~system", `{"name":"me"}`), wire.CodeBadRequest, "bad_request field=user")
}

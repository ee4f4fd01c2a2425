package web

import (
	"testing"

	"hongbao/chat"
	"hongbao/chat/rules"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserRules gives a room rules on the page: they are tried, then saved. A message against them waits, and the admin sends it. Rules that programs
// have set stay.
func TestBrowserRules(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	bob := s.httpGuest(t, "Bob")
	owner := chat.User{ID: userID(ann)}
	made, _, err := s.chat.CreateRoom(t.Context(), owner, chat.CreateRoom{Key: "tea", Name: "Tea", Kind: chat.Public, Members: []string{bob.User.ID}})
	if err != nil {
		t.Fatal(err)
	}
	room := made.Room.ID
	pattern := rules.Rule{Kind: "patterns", Do: "refuse", Patterns: []string{`\d{11}`}}
	if err := s.chat.SetRoomRules(t.Context(), owner, room, []rules.Rule{pattern}); err != nil {
		t.Fatal(err)
	}
	bob.does("send", `"room":%q,"text":"buy lemons"`, room)

	webtest.Ask[string](ann.Tab, `location.hash = '#/room/`+room+`/info'`)
	ann.Press("button", "Rules and held messages")
	ann.Sees("Another rule was set by a program")
	ann.Fill("Words that no message may have, one in a line", "lemons")
	ann.Press("radio", "waits for an admin")
	ann.Fill("What the author reads", "no lemons here")
	ann.Press("button", "Try on the last messages")
	ann.Sees("1 of the last 1 messages would break the rules")
	if now, err := s.chat.RoomRules(t.Context(), owner, room); err != nil || len(now) != 1 {
		t.Errorf("after a trial the room has %+v, %v", now, err)
	}
	ann.Press("button", "Save rules")
	ann.Sees("Saved.")
	now, err := s.chat.RoomRules(t.Context(), owner, room)
	if err != nil || len(now) != 2 || now[0].Kind != "words" || now[0].Do != "hold" || now[0].Say != "no lemons here" || now[1].Kind != "patterns" {
		t.Fatalf("saved %+v, %v", now, err)
	}

	if _, err := s.chat.Send(t.Context(), chat.User{ID: bob.User.ID, Name: "Bob"}, chat.Message{Room: room, Key: "held", Text: "more lemons"}); err == nil {
		t.Fatal("the message was not held")
	}
	chinese := ann.Again(t, page+"/#/room/"+room+"/rules", webtest.Screen{Language: "zh-CN", Phone: true, Dark: true})
	chinese.Sees("待审消息", "more lemons", "含有禁用词", "另有 1 条由程序设置的规则")
	chinese.Press("button", "放行")
	chinese.Lacks("button", "放行")
	webtest.Ask[string](ann.Tab, `location.hash = '#/room/`+room+`'`)
	ann.Sees("more lemons")
}

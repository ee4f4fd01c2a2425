package embedded

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// TestWordFilter has the example of a word filter answer before texts and packets.
func TestWordFilter(t *testing.T) {
	t.Parallel()
	host := e2e.StartHost(t, "wordfilter")
	s := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0", append(host.Hook("send,edit,send_packet"), "HONGBAO_HOOK_TIMEOUT=5s")...)
	ann := s.Guest("Ann")
	post := func(method string, request any) (answer string, status int) {
		t.Helper()
		status, body, err := s.Post(ann.Token, "commands/"+method, request)
		e2e.NoError(t, err)
		return string(body), status
	}
	created, _ := post("create_room", wire.CreateRoomRequest{Key: "room", Name: "Hall", Kind: "public"})
	var room wire.CreateRoomReply
	e2e.NoError(t, json.Unmarshal([]byte(created), &room))
	id := room.Room.ID

	for _, c := range []struct {
		method  string
		request any
		want    string // the error; empty: it is carried out
	}{
		{"send", wire.SendRequest{Room: id, Key: "a", Text: "hello"}, ""},
		{"send", wire.SendRequest{Room: id, Key: "b", Text: "What the heck"}, ""},
		{"send", wire.SendRequest{Room: id, Key: "c", Text: "Best CASINO in town"}, `"reason":"No advertising, please","data":{"word":"CASINO"}`},
		{"edit", wire.EditRequest{Room: id, Seq: 1, Text: "hello, darn"}, ""},
		{"send_packet", wire.SendPacketRequest{Room: id, Key: "d", Total: 10, Count: new(1), Greeting: "Darn good luck"}, ""},
		{"send_packet", wire.SendPacketRequest{Room: id, Key: "e", Total: 10, Count: new(1), Greeting: "lottery"}, `"code":1040`},
	} {
		answer, status := post(c.method, c.request)
		if c.want == "" && status != http.StatusOK || c.want != "" && (status != http.StatusForbidden || !strings.Contains(answer, c.want)) {
			t.Errorf("%s %+v: %d %s, want %q", c.method, c.request, status, answer, c.want)
		}
	}
	history, _ := post("history", wire.HistoryRequest{Room: id})
	for _, want := range []string{`"What the ****"`, `"hello, ****"`, `"**** good luck"`} {
		if !strings.Contains(history, want) {
			t.Errorf("the room has no %s: %s", want, history)
		}
	}
	for _, never := range []string{"heck", "CASINO", "lottery", "arn"} {
		if strings.Contains(history, never) {
			t.Errorf("the room has %q: %s", never, history)
		}
	}
	if !s.HasMetric(`hongbao_hook_seconds_count{hook="send",outcome="deny"} 1`) || !s.HasMetric(`hongbao_hook_broken{hook="edit"} 0`) {
		t.Error("the metrics do not count the denial")
	}
	if found := slices.Contains(strings.Fields(s.Log()), "CASINO"); found {
		t.Error("the log has a text of a user")
	}
}

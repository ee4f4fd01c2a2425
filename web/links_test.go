package web

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"hongbao/web/page"
	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
)

// TestPreviewShowsWhatTheCodeProves reads previews without a token. Without the right code, neither a room nor a packet may be seen.
func TestPreviewShowsWhatTheCodeProves(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	h, ann, bob := s.Handler(), s.signIn(t, "ann", 1000), s.signIn(t, "bob", 1000)
	room := call[wire.CreateRoomReply](t, s, ann, "create_room", wire.CreateRoomRequest{Key: "room", Name: "Tea", Kind: "private", Members: []string{"bob"}}).Room.ID
	send := func(room, key string) string {
		return call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: key, Total: 10, Count: new(1), Greeting: "for you"}).Packet.ID
	}
	packet, elsewhere := send(room, "p"), send(s.room(t, ann, "other").ID, "q")
	made := call[wire.CreateLinkReply](t, s, ann, "create_link", wire.CreateLinkRequest{Room: room})
	preview := func(code, packet string) *http.Response {
		return ask(t, h, "POST", "/v1/links/preview", "", fmt.Sprintf(`{"code":%q,"packet":%q}`, code, packet))
	}
	annsFace, bobsFace := wire.Face{Name: ann.User.Name, Avatar: ann.User.Avatar}, wire.Face{Name: bob.User.Name, Avatar: bob.User.Avatar}
	want := wire.PreviewLinkReply{
		Room: wire.PreviewRoom{Name: "Tea", Kind: "private", Members: 2}, By: annsFace, People: []wire.Face{annsFace, bobsFace},
		Packet: &wire.PreviewPacket{From: annsFace, Greeting: "for you"},
	}
	if got := mustAnswer[wire.PreviewLinkReply](t, preview(made.Code, packet), 200); !reflect.DeepEqual(got, want) {
		t.Errorf("shown %+v, want %+v", got, want)
	}
	want.Packet = nil
	ended, named := send(room, "ended"), call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "named", Total: 10, To: []string{"bob"}}).Packet.ID
	call[wire.CancelPacketReply](t, s, ann, "cancel_packet", wire.CancelPacketRequest{Packet: ended})
	for _, other := range []string{"", "none", elsewhere, ended, named} {
		if got := mustAnswer[wire.PreviewLinkReply](t, preview(made.Code, other), 200); !reflect.DeepEqual(got, want) {
			t.Errorf("packet %q: shown %+v, want %+v", other, got, want)
		}
	}
	document := spectest.OpenAPI(t)
	schema := document.At("#/paths/~1v1~1links~1preview/post/responses/200").(object)["content"].(object)["application/json"].(object)["schema"].(object)
	if bad := document.Mismatch(schema, mustAnswer[object](t, preview(made.Code, packet), 200)); bad != "" {
		t.Errorf("the answer is not as specified: %s", bad)
	}

	call[wire.RevokeLinkReply](t, s, ann, "revoke_link", wire.RevokeLinkRequest{Room: room, Link: made.Link.ID})
	for _, code := range []string{made.Code, room, packet, room + "." + strings.Repeat("0", 20)} {
		if got := mustAnswer[wire.ErrorBody](t, preview(code, packet), 404); got.Error.Message != "not_found field=code" {
			t.Errorf("code %q: %+v", code, got)
		}
	}
}

// TestRoomPreviewShowsPublicRoomsOnly reads previews of rooms without a token. Every room that a guest cannot find must give the same answer as a room that
// does not exist.
func TestRoomPreviewShowsPublicRoomsOnly(t *testing.T) {
	t.Parallel()
	lobby := ""
	withLobby := func(o *Options) { o.Lobby = func() page.Lobby { return page.Lobby{Room: lobby} } }
	s := newTestServer(t, withGuests, withLobby)
	h, ann := s.Handler(), s.signIn(t, "ann", 1000)
	s.signIn(t, "bob", 1000)
	tea, gone := s.room(t, ann, "Tea").ID, s.room(t, ann, "Gone").ID
	left, private := s.room(t, ann, "Left").ID, call[wire.CreateRoomReply](t, s, ann, "create_room", wire.CreateRoomRequest{Key: "p", Name: "Secret", Kind: "private"}).Room.ID
	direct := call[wire.DirectReply](t, s, ann, "direct", wire.DirectRequest{User: "bob"}).Room.ID
	call[wire.DeleteRoomReply](t, s, ann, "delete_room", wire.DeleteRoomRequest{Room: gone})
	call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: left})
	preview := func(h http.Handler, room string) *http.Response {
		return ask(t, h, "POST", "/v1/rooms/preview", "", fmt.Sprintf(`{"room":%q}`, room))
	}
	want := wire.PreviewRoomReply{Room: wire.PreviewRoom{Name: "Tea", Kind: "public", Members: 1}}
	if got := mustAnswer[wire.PreviewRoomReply](t, preview(h, tea), 200); got != want {
		t.Errorf("shown %+v, want %+v", got, want)
	}
	document := spectest.OpenAPI(t)
	schema := document.At("#/paths/~1v1~1rooms~1preview/post/responses/200").(object)["content"].(object)["application/json"].(object)["schema"].(object)
	if bad := document.Mismatch(schema, mustAnswer[object](t, preview(h, tea), 200)); bad != "" {
		t.Errorf("the answer is not as specified: %s", bad)
	}
	for _, room := range []string{private, direct, gone, left, "none", "Tea"} {
		if got := mustAnswer[wire.ErrorBody](t, preview(h, room), 404); got.Error.Message != "not_found" {
			t.Errorf("room %q: %+v", room, got)
		}
	}
	lobby = tea
	if got := mustAnswer[wire.PreviewRoomReply](t, preview(h, tea), 200).Room.Members; got != 0 {
		t.Errorf("the lobby has %d members beside the server's own user, want 0", got)
	}
	withoutGuests := newTestServer(t)
	room := withoutGuests.room(t, withoutGuests.signIn(t, "ann", 1000), "Tea").ID
	if got := mustAnswer[wire.ErrorBody](t, preview(withoutGuests.Handler(), room), 404); got.Error.Message != "not_found" {
		t.Errorf("without guests: %+v", got)
	}
}

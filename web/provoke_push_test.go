package web

import (
	"encoding/json"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/spec/spectest"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// pushTest is a room whose owner is bob and whose member is ann, with a client for each.
type pushTest struct {
	*testServer

	t         *testing.T
	addr      string
	e         wire.Encoding
	ann       *rawClient
	bob       *rawClient
	owner, me api.Caller // bob and ann
	room      string
	spec      spectest.Document
}

func newPushTest(t *testing.T, e wire.Encoding) *pushTest {
	t.Helper()
	engines := newTestEngines(t)
	h := &pushTest{t: t, e: e, testServer: engines.open(t), spec: spectest.AsyncAPI(t)}
	h.addr, h.owner, h.me = h.listen(t), h.signIn(t, "bob", 1000), h.signIn(t, "ann", 1000)
	h.room = h.testServer.room(t, h.owner, "hall").ID
	call[wire.JoinReply](t, h.testServer, h.me, "join", wire.JoinRequest{Room: h.room})
	h.ann, _ = connected(t, h.addr, e, "ann")
	h.bob, _ = connected(t, h.addr, e, "bob")
	h.ann.sees = true
	return h
}

func (h *pushTest) sendPacket(key string) string {
	request := wire.SendPacketRequest{Room: h.room, Key: key, Total: 10, Count: new(2)}
	return call[wire.SendPacketReply](h.t, h.testServer, h.owner, "send_packet", request).Packet.ID
}

// kinds holds, for each kind of entry, a function that causes such an entry.
var kinds = map[string]func(h *pushTest){
	"text":   func(h *pushTest) { h.say(h.t, h.owner, h.room, "x") },
	"packet": func(h *pushTest) { h.sendPacket("packet") },
	"packet_done": func(h *pushTest) {
		call[wire.CancelPacketReply](h.t, h.testServer, h.owner, "cancel_packet", wire.CancelPacketRequest{Packet: h.sendPacket("done")})
	},
	"member": func(h *pushTest) {
		call[wire.MuteReply](h.t, h.testServer, h.owner, "mute", wire.MuteRequest{Room: h.room, User: "ann", Seconds: 1})
	},
	"edit": func(h *pushTest) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.SeqReply](h.t, h.testServer, h.owner, "edit", wire.EditRequest{Room: h.room, Seq: seq, Text: "y"})
	},
	"recall": func(h *pushTest) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.SeqReply](h.t, h.testServer, h.owner, "recall", wire.RecallRequest{Room: h.room, Seq: seq})
	},
	"react": func(h *pushTest) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.ReactReply](h.t, h.testServer, h.owner, "react", wire.ReactRequest{Room: h.room, Seq: seq, Emoji: "👍", On: true})
	},
	"room": func(h *pushTest) {
		call[wire.UpdateRoomReply](h.t, h.testServer, h.owner, "update_room", wire.UpdateRoomRequest{Room: h.room, Name: new("other")})
	},
}

// told holds, for each push without a seq, a function that causes it.
var told = map[string]func(h *pushTest){
	"typing":          func(h *pushTest) { h.bob.send(`{"send":{"data":{"typing":{"room":"` + h.room + `"}}}}`) },
	"presence":        func(h *pushTest) { _ = h.bob.ws.Close() },
	"packet_progress": func(h *pushTest) { h.grab(h.sendPacket("progress")) },
	"packet_wave": func(h *pushTest) {
		call[wire.SendPacketReply](h.t, h.testServer, h.owner, "send_packet", wire.SendPacketRequest{
			Room: h.room, Key: "rain", Total: 300, Count: new(3), Waves: new(3), OverS: new(int64(10)),
		})
	},
	"wallet": func(h *pushTest) { h.grab(h.sendPacket("wallet")) },
	"read": func(h *pushTest) {
		seq := h.say(h.t, h.me, h.room, "x").Seq
		call[wire.ReadReply](h.t, h.testServer, h.owner, "read", wire.ReadRequest{Room: h.room, Seq: seq})
	},
	"members": func(h *pushTest) {
		call[wire.JoinReply](h.t, h.testServer, h.signIn(h.t, "eve", 0), "join", wire.JoinRequest{Room: h.room})
	},
	"contacts": func(h *pushTest) {
		call[wire.BlockReply](h.t, h.testServer, h.me, "block", wire.BlockRequest{User: "bob"})
	},
	"join_requests": func(h *pushTest) {
		call[wire.SetRoleReply](h.t, h.testServer, h.owner, "set_role", wire.SetRoleRequest{Room: h.room, User: "ann", Role: "admin"})
		made := call[wire.CreateLinkReply](h.t, h.testServer, h.owner, "create_link", wire.CreateLinkRequest{Room: h.room, Approval: true})
		call[wire.JoinLinkReply](h.t, h.testServer, h.signIn(h.t, "eve", 0), "join_link", wire.JoinLinkRequest{Code: made.Code})
	},
	"join_refused": func(h *pushTest) {
		closed := call[wire.CreateRoomReply](h.t, h.testServer, h.owner, "create_room", wire.CreateRoomRequest{Key: "closed", Name: "Closed", Kind: "private"}).Room.ID
		made := call[wire.CreateLinkReply](h.t, h.testServer, h.owner, "create_link", wire.CreateLinkRequest{Room: closed, Approval: true})
		call[wire.JoinLinkReply](h.t, h.testServer, h.me, "join_link", wire.JoinLinkRequest{Code: made.Code})
		call[wire.AnswerRequestReply](h.t, h.testServer, h.owner, "answer_request", wire.AnswerRequestRequest{Room: closed, User: "ann"})
	},
	"report_decided": func(h *pushTest) {
		report := call[wire.ReportReply](h.t, h.testServer, h.owner, "report", wire.ReportRequest{Key: "report", Room: h.room, User: "ann", Reason: "spam"}).Report
		if _, err := h.chat.ResolveReport(h.t.Context(), chat.Resolution{Report: report, Outcome: "acted", Cause: "spam"}); err != nil {
			h.t.Fatal(err)
		}
	},
	"room_prefs": func(h *pushTest) {
		call[wire.SetRoomPrefsReply](h.t, h.testServer, h.me, "set_room_prefs", wire.SetRoomPrefsRequest{Room: h.room, Pinned: new(true)})
	},
	"left": func(h *pushTest) {
		call[wire.KickReply](h.t, h.testServer, h.owner, "kick", wire.KickRequest{Room: h.room, User: "ann"})
	},
}

func (h *pushTest) grab(packet string) {
	call[wire.GrabReply](h.t, h.testServer, h.me, "grab", wire.GrabRequest{Packet: packet})
}

// TestEveryPush causes each kind of entry and each push. A client must receive it in the form that the AsyncAPI
// document describes.
func TestEveryPush(t *testing.T) {
	t.Parallel()
	for _, k := range wire.Kinds {
		t.Run("entry-"+k.Kind, func(t *testing.T) {
			t.Parallel()
			bothEncodings(t, func(t *testing.T, e wire.Encoding) {
				newPushTest(t, e).mustPush(kinds[k.Kind], "#/components/schemas/Entry", "kind", k.Kind)
			})
		})
	}
	for _, p := range wire.Pushes() {
		t.Run("push-"+p.Name, func(t *testing.T) {
			t.Parallel()
			place := "#/components/messages/push." + p.Name + "/payload/properties/push/properties/message/properties/data"
			bothEncodings(t, func(t *testing.T, e wire.Encoding) { newPushTest(t, e).mustPush(told[p.Name], place, p.Name, "") })
		})
	}
}

// mustPush calls provoke and waits for a push in which the field has the value, and which matches the schema at that place of the
// document; "" matches any value.
func (h *pushTest) mustPush(provoke func(*pushTest), place, field, value string) {
	h.t.Helper()
	if provoke == nil {
		h.t.Fatal("no test provokes it")
	}
	provoke(h)
	h.ann.push(func(p *protocol.Push) bool {
		text := p.Message.GetData()
		if field == "kind" { // of an entry
			text = p.Pub.GetData()
		}
		var data object
		if len(text) == 0 || json.Unmarshal(text, &data) != nil || data[field] == nil || value != "" && data[field] != value {
			return false
		}
		if bad := h.spec.Mismatch(object{"$ref": place}, data); bad != "" {
			h.t.Errorf("%s is not as specified: %s", text, bad)
		}
		return true
	})
}

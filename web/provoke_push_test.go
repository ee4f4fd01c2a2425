package web

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// hall is a room of bob's, in which ann listens.
type hall struct {
	*testServer

	t         *testing.T
	addr      string
	e         wire.Encoding
	ann       *rawClient
	bob       *rawClient
	owner, me Caller // bob and ann
	room      string
	spec      spec
}

func newHall(t *testing.T, e wire.Encoding) *hall {
	t.Helper()
	house := newTestHouse(t)
	house.packets.PendingAfter = 10 * time.Millisecond
	h := &hall{t: t, e: e, testServer: house.open(t), spec: specs()["asyncapi"]}
	h.addr, h.owner, h.me = h.listen(t), h.signIn(t, "bob", 1000), h.signIn(t, "ann", 1000)
	h.room = h.testServer.room(t, h.owner, "hall").ID
	call[wire.JoinReply](t, h.testServer, h.me, "join", wire.JoinRequest{Room: h.room})
	h.ann, _ = connected(t, h.addr, e, "ann")
	h.bob, _ = connected(t, h.addr, e, "bob")
	h.ann.sees = true
	return h
}

func (h *hall) sendPacket(key string) string {
	request := wire.SendPacketRequest{Room: h.room, Key: key, Total: 10, Count: new(2)}
	return call[wire.SendPacketReply](h.t, h.testServer, h.owner, "send_packet", request).Packet.ID
}

// kinds make each kind of entry.
var kinds = map[string]func(h *hall){
	"text":   func(h *hall) { h.say(h.t, h.owner, h.room, "x") },
	"packet": func(h *hall) { h.sendPacket("packet") },
	"packet_done": func(h *hall) {
		call[wire.CancelPacketReply](h.t, h.testServer, h.owner, "cancel_packet", wire.CancelPacketRequest{Packet: h.sendPacket("done")})
	},
	"member": func(h *hall) {
		call[wire.MuteReply](h.t, h.testServer, h.owner, "mute", wire.MuteRequest{Room: h.room, User: "ann", Seconds: 1})
	},
	"edit": func(h *hall) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.SeqReply](h.t, h.testServer, h.owner, "edit", wire.EditRequest{Room: h.room, Seq: seq, Text: "y"})
	},
	"recall": func(h *hall) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.SeqReply](h.t, h.testServer, h.owner, "recall", wire.RecallRequest{Room: h.room, Seq: seq})
	},
	"react": func(h *hall) {
		seq := h.say(h.t, h.owner, h.room, "x").Seq
		call[wire.ReactReply](h.t, h.testServer, h.owner, "react", wire.ReactRequest{Room: h.room, Seq: seq, Emoji: "+", On: true})
	},
	"room": func(h *hall) {
		call[wire.UpdateRoomReply](h.t, h.testServer, h.owner, "update_room", wire.UpdateRoomRequest{Room: h.room, Name: new("other")})
	},
}

// told make each push without a place in a sequence.
var told = map[string]func(h *hall){
	"typing":          func(h *hall) { h.bob.send(`{"send":{"data":{"typing":{"room":"` + h.room + `"}}}}`) },
	"presence":        func(h *hall) { _ = h.bob.ws.Close() },
	"packet_progress": func(h *hall) { h.grab(h.sendPacket("progress")) },
	"wallet":          func(h *hall) { h.grab(h.sendPacket("wallet")) },
	"grab_result": func(h *hall) {
		packet := h.sendPacket("late")
		release := h.holdCommits(h.t)
		if early := rpc[wire.GrabReply](h.ann, 2, "grab", wire.GrabRequest{Packet: packet}); early.Outcome != "pending" {
			h.t.Errorf("while nothing is committed: %+v", early)
		}
		release()
	},
	"read": func(h *hall) {
		seq := h.say(h.t, h.me, h.room, "x").Seq
		call[wire.ReadReply](h.t, h.testServer, h.owner, "read", wire.ReadRequest{Room: h.room, Seq: seq})
	},
	"members": func(h *hall) {
		call[wire.JoinReply](h.t, h.testServer, h.signIn(h.t, "eve", 0), "join", wire.JoinRequest{Room: h.room})
	},
	"left": func(h *hall) {
		call[wire.KickReply](h.t, h.testServer, h.owner, "kick", wire.KickRequest{Room: h.room, User: "ann"})
	},
}

func (h *hall) grab(packet string) {
	call[wire.GrabReply](h.t, h.testServer, h.me, "grab", wire.GrabRequest{Packet: packet})
}

// TestEveryPush has each kind of entry and each push come over a socket, as the document says.
func TestEveryPush(t *testing.T) {
	for _, k := range wire.Kinds {
		t.Run("entry-"+k.Kind, func(t *testing.T) {
			t.Parallel()
			bothEncodings(t, func(t *testing.T, e wire.Encoding) { newHall(t, e).mustPush(kinds[k.Kind], "Entry", "kind", k.Kind) })
		})
	}
	for _, p := range wire.PushNames {
		t.Run("push-"+p.Name, func(t *testing.T) {
			t.Parallel()
			bothEncodings(t, func(t *testing.T, e wire.Encoding) { newHall(t, e).mustPush(told[p.Name], "Message", p.Name, "") })
		})
	}
}

// mustPush waits for what has a schema and, in it, a field with a value; "": any.
func (h *hall) mustPush(provoke func(*hall), schema, field, value string) {
	h.t.Helper()
	if provoke == nil {
		h.t.Fatal("nobody knows how it comes to that")
	}
	provoke(h)
	h.ann.push(func(p *protocol.Push) bool {
		text := p.Message.GetData()
		if schema == "Entry" {
			text = p.Pub.GetData()
		}
		var data object
		if len(text) == 0 || json.Unmarshal(text, &data) != nil || data[field] == nil || value != "" && data[field] != value {
			return false
		}
		if bad := h.spec.misfit(ref("schemas", schema), data, false); bad != "" {
			h.t.Errorf("%s is not as specified: %s", text, bad)
		}
		return true
	})
}

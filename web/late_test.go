package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// TestStuckGrab grabs while nothing can be committed. Other commands of the socket must be answered meanwhile, and the grab when its claim is
// committed. A repeated grab must be answered with the same share.
func TestStuckGrab(t *testing.T) {
	t.Parallel()
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		inBubble(t, func(t *testing.T) {
			engines, gate := newTestEngines(t), make(chan struct{})
			engines.ledger = stuckLedger{engines.ledger, gate}
			s := engines.open(t, func(o *Options) { o.Alone = true })
			addr := s.listen(t)
			ann, _, room := s.twoInARoom(t)
			p := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 100, Count: new(2)}).Packet
			c, _ := connected(t, addr, e, "u-bob")

			c.send(`{"id":7,"rpc":{"method":"grab","data":{"packet":"` + p.ID + `"}}}`)
			rpc[wire.SendReply](c, 8, "send", wire.SendRequest{Room: room, Key: "x", Text: "meanwhile"})
			close(gate)
			reply := c.reply(7)
			var won wire.GrabReply
			if err := json.Unmarshal(reply.Rpc.Data, &won); err != nil || won.Outcome != "won" || won.Rank != 1 || won.Balance == nil {
				t.Errorf("%+v, %v", won, err)
			}
			if again := rpc[wire.GrabReply](c, 9, "grab", wire.GrabRequest{Packet: p.ID}); again.Outcome != "already" || again.Amount != won.Amount {
				t.Errorf("asked again: %+v, won %+v", again, won)
			}
		})
	})
}

// TestPacketsForSome sends a packet for some members, and one with a passphrase. The room must see the recipients, and
// no reply may contain the passphrase.
func TestPacketsForSome(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ann, bob, room := s.twoInARoom(t)
	eve := s.signIn(t, "u-eve", 0)
	call[wire.JoinReply](t, s, eve, "join", wire.JoinRequest{Room: room})
	request := wire.SendPacketRequest{Room: room, Key: "k", Total: 100, To: []string{"u-bob", "u-ann"}, Passphrase: " Ｓｅｓａｍｅ "}
	p := call[wire.SendPacketReply](t, s, ann, "send_packet", request).Packet
	if p.Count != 2 || !p.Locked || len(p.To) != 2 || p.To[0] != "u-bob" {
		t.Errorf("packet %+v", p)
	}
	if again := call[wire.SendPacketReply](t, s, ann, "send_packet", request); !again.Dup || again.Packet.ID != p.ID {
		t.Errorf("again: %+v", again)
	}
	for _, x := range []struct {
		who        api.Caller
		passphrase string
		code       wire.Code
	}{{eve, "Sesame", wire.CodeNotRecipient}, {bob, "", wire.CodeWrongPassphrase}, {bob, "sesame", wire.CodeWrongPassphrase}} {
		if got := s.refused(t, x.who, "grab", encoded(t, wire.GrabRequest{Packet: p.ID, Passphrase: x.passphrase})); got.Code != x.code || got.Message != x.code.Word() {
			t.Errorf("%s with %q: %+v", x.who.User.ID, x.passphrase, got)
		}
	}
	if won := call[wire.GrabReply](t, s, bob, "grab", wire.GrabRequest{Packet: p.ID, Passphrase: "Sesame"}); won.Outcome != "won" {
		t.Errorf("grab: %+v", won)
	}
	for method, request := range map[string]any{
		"packet": wire.PacketRequest{Packet: p.ID}, "history": wire.HistoryRequest{Room: room},
		"packets": wire.PacketsRequest{Direction: "received"}, "room_packets": wire.RoomPacketsRequest{Room: room}, "send_packet": request, "wallet": wire.WalletRequest{},
	} {
		who := bob
		if method == "send_packet" {
			who = ann
		}
		reply, err := s.Call(t.Context(), who, method, encoded(t, request))
		if err != nil || strings.Contains(string(reply), "esame") {
			t.Errorf("%s: %s, %v", method, reply, err)
		}
	}
	for range 5 {
		if got := s.refused(t, ann, "grab", encoded(t, wire.GrabRequest{Packet: p.ID, Passphrase: "no"})); got.Code != wire.CodeWrongPassphrase {
			t.Errorf("a guess: %+v", got)
		}
	}
	var wait int
	if got := s.refused(t, ann, "grab", encoded(t, wire.GrabRequest{Packet: p.ID, Passphrase: "Sesame"})); got.Code != wire.CodeRateLimited {
		t.Errorf("one try too many: %+v", got)
	} else if _, err := fmt.Sscanf(got.Message, "rate_limited retry_after_ms=%d", &wait); err != nil || wait < 1 || wait > 12_000 {
		t.Errorf("one try too many: %+v, want a wait of at most 12 s", got)
	}
}

// TestTypingHasNoReply sends typing messages, also invalid ones. None may have a reply.
func TestTypingHasNoReply(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	addr := s.listen(t)
	_, _, room := s.twoInARoom(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		eve := "u-eve-" + t.Name()[len("TestTypingHasNoReply/"):]
		call[wire.JoinReply](t, s, s.signIn(t, eve, 0), "join", wire.JoinRequest{Room: room})
		listener, _ := connected(t, addr, e, "u-bob")
		c, _ := connected(t, addr, e, eve)
		c.send(
			`{"send":{}}`, `{"send":{"data":{}}}`, `{"send":{"data":{"typing":7}}}`, `{"send":{"data":{"typing":{"room":"nowhere"}}}}`,
			`{"id":5,"send":{"data":{"typing":{"room":"`+room+`"}}}}`, `{"id":5,"rpc":{"method":"wallet"}}`,
		)
		for {
			r := c.next()
			if r.Push != nil {
				continue
			}
			if r.Id != 5 || r.Error != nil || r.Rpc == nil {
				t.Errorf("got %v", r)
			}
			break
		}
		listener.push(func(p *protocol.Push) bool {
			return p.Message != nil && messageOf(t, p).Typing != nil && *messageOf(t, p).Typing == wire.TypingPush{Room: room, User: eve}
		})
	})
	silent := dial(t, addr, wire.JSON)
	silent.send(`{"send":{"data":{"typing":{"room":"` + room + `"}}}}`)
	silent.mustClose(wire.CloseProtocolError)
}

package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/api"
	"hongbao/web/wire"
)

// stuckServer returns a server that commits no grab until free is called, and that answers such grabs with "pending"
// soon.
func stuckServer(t *testing.T) (s *testServer, free func()) {
	engines, gate := newTestEngines(t), make(chan struct{})
	engines.ledger = stuckLedger{engines.ledger, gate}
	return engines.open(t, func(o *Options) { o.Alone, o.PendingAfter = true, 20*time.Millisecond }), func() { close(gate) }
}

// grabResult returns the grab_result in a push, or nil if the push is another one.
func grabResult(t *testing.T, p *protocol.Push) *wire.GrabReply {
	if p.Message == nil {
		return nil
	}
	return messageOf(t, p).GrabResult
}

// TestPendingGrab grabs while nothing can be committed. The grab must be answered "pending": its id is free and the
// next command starts. All sockets of the user must receive the outcome later.
func TestPendingGrab(t *testing.T) {
	t.Parallel()
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		inBubble(t, func(t *testing.T) {
			s, free := stuckServer(t)
			addr := s.listen(t)
			ann, _, room := s.twoInARoom(t)
			p := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "k", Total: 100, Count: new(2)}).Packet
			c, _ := connected(t, addr, e, "u-bob")
			other, _ := connected(t, addr, e, "u-bob")

			pending := rpc[wire.GrabReply](c, 7, "grab", wire.GrabRequest{Packet: p.ID})
			if pending != (wire.GrabReply{Packet: p.ID, Outcome: "pending", Claimed: 1, Count: 2}) {
				t.Errorf("pending: %+v", pending)
			}
			rpc[wire.SendReply](c, 7, "send", wire.SendRequest{Room: room, Key: "x", Text: "meanwhile"})
			s.eventually(t, "an idle session", func() bool { return s.sessionOf("u-bob").Idle() })
			free()
			var won wire.GrabReply
			for i, socket := range []*rawClient{c, other} {
				socket.push(func(p *protocol.Push) bool {
					r := grabResult(t, p)
					if r == nil {
						return false
					}
					if r.Outcome != "won" || r.Amount < 1 || r.Rank != 1 || r.At == 0 || r.Balance == nil || r.Packet != pending.Packet {
						t.Errorf("socket %d: %+v", i, r)
					}
					won = *r
					return true
				})
			}
			c.send(`{"id":9,"rpc":{"method":"wallet"}}`)
			for {
				if r := c.next(); r.Id == 9 {
					break
				} else if r.Id != 0 {
					t.Errorf("a second answer: %v", r)
				}
			}
			again := rpc[wire.GrabReply](c, 7, "grab", wire.GrabRequest{Packet: p.ID})
			for again.Outcome == "pending" { // on a busy machine
				again = rpc[wire.GrabReply](c, 7, "grab", wire.GrabRequest{Packet: p.ID})
			}
			if again.Outcome != "already" || again.Amount != won.Amount {
				t.Errorf("asked again: %+v, won %+v", again, won)
			}
		})
	})
}

// TestLateAnswersAreBounded sends more such grabs than a connection may have. Those over the limit must be answered
// only when they end.
func TestLateAnswersAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s, free := stuckServer(t)
		addr := s.listen(t)
		ann, _, room := s.twoInARoom(t)
		const grabs, first = maxEarly + maxRunning, 100
		var frames [2][]string
		for i := range grabs {
			p := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: fmt.Sprint("k", i), Total: 2, Count: new(2)}).Packet
			frames[i%2] = append(frames[i%2], fmt.Sprintf(`{"id":%d,"rpc":{"method":"grab","data":{"packet":"%s"}}}`, first+i, p.ID))
		}
		c, _ := connected(t, addr, wire.JSON, "u-bob")
		for _, frame := range frames {
			c.send(frame...)
		}
		replies, results := map[string]int{}, map[string]int{}
		hear := func() {
			r := c.next()
			switch {
			case r.Id >= first && r.Error == nil:
				var grabbed wire.GrabReply
				noError(t, json.Unmarshal(r.Rpc.Data, &grabbed))
				replies[grabbed.Outcome]++
			case r.Id != 0:
				t.Fatalf("got %v", r)
			case r.Push != nil && grabResult(t, r.Push) != nil:
				results[grabResult(t, r.Push).Outcome]++
			}
		}
		for replies["pending"] < maxEarly {
			hear()
		}
		s.eventually(t, "all others to be in flight", func() bool { return s.inFlight("u-bob") == maxRunning })
		free()
		for results["won"]+replies["won"] < grabs {
			hear()
		}
		// When one of them ends, another one may be answered early.
		if len(replies) > 2 || len(results) != 1 || replies["pending"] < maxEarly || replies["pending"] != results["won"] {
			t.Errorf("replies %v, late results %v", replies, results)
		}
		s.eventually(t, "all answers", func() bool { return s.inFlight("u-bob") == 0 })
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
		"packets": wire.PacketsRequest{Direction: "received"}, "send_packet": request, "wallet": wire.WalletRequest{},
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

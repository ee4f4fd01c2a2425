package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/redpacket"
	"hongbao/web/wire"
)

// stuckServer settles nothing until it is let, and tells winners soon that they wait.
func stuckServer(t *testing.T) (s *testServer, free func()) {
	house, gate := newTestHouse(t), make(chan struct{})
	house.ledger = stuckLedger{house.ledger, gate}
	house.packets = redpacket.Options{PendingAfter: 20 * time.Millisecond}
	return house.open(t, func(o *Options) { o.Alone = true }), func() { close(gate) }
}

// grabResult is the late answer in a push, if it is one.
func grabResult(t *testing.T, p *protocol.Push) *wire.GrabReply {
	if p.Message == nil {
		return nil
	}
	return messageOf(t, p).GrabResult
}

// A grab that storage keeps waiting is answered, and is in flight no more: its id is free and the next command goes on.
// All sockets of its user hear how it ended.
func TestPendingGrab(t *testing.T) {
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
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
		if again := rpc[wire.GrabReply](c, 7, "grab", wire.GrabRequest{Packet: p.ID}); again.Outcome != "already" || again.Amount != won.Amount {
			t.Errorf("asked again: %+v, won %+v", again, won)
		}
	})
}

// Beyond the bound nothing is told, and the command stays in flight.
func TestNoEarlyAnswerBeyondTheBound(t *testing.T) {
	p := &pending{started: true}
	s := &session{phase: open, late: maxLate, pending: []*pending{p}}
	if s.answerEarly(p, []byte("x")) || p.late || s.late != maxLate || len(s.pending) != 1 {
		t.Errorf("told, or not in flight any more: %+v", s.pending)
	}
}

// Only so many commands of a connection may go on after their answer; those beyond are answered when they end.
func TestLateAnswersAreBounded(t *testing.T) {
	s, free := stuckServer(t)
	addr := s.listen(t)
	ann, _, room := s.twoInARoom(t)
	const grabs, first = maxLate + maxRunning, 100
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
			if err := json.Unmarshal(r.Rpc.Data, &grabbed); err != nil {
				t.Fatal(err)
			}
			replies[grabbed.Outcome]++
		case r.Id != 0:
			t.Fatalf("got %v", r)
		case r.Push != nil && grabResult(t, r.Push) != nil:
			results[grabResult(t, r.Push).Outcome]++
		}
	}
	for replies["pending"] < maxLate {
		hear()
	}
	session := s.sessionOf("u-bob")
	s.eventually(t, "all others to be at work", func() bool {
		session.mu.Lock()
		defer session.mu.Unlock()
		return len(session.pending) == maxRunning && session.late == maxLate
	})
	free()
	for results["won"]+replies["won"] < grabs {
		hear()
	}
	// Where one has ended before another has its answer, that may yet be told early.
	if len(replies) > 2 || len(results) != 1 || replies["pending"] < maxLate || replies["pending"] != results["won"] {
		t.Errorf("replies %v, late results %v", replies, results)
	}
	s.eventually(t, "the end of all", func() bool {
		session.mu.Lock()
		defer session.mu.Unlock()
		return len(session.pending) == 0 && session.late == 0
	})
}

// Who may grab is said to the room, by what word is not: it is in no reply.
func TestPacketsForSome(t *testing.T) {
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
		who        Caller
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
	if got := s.refused(t, ann, "grab", encoded(t, wire.GrabRequest{Packet: p.ID, Passphrase: "Sesame"})); got.Code != wire.CodeRateLimited || !strings.HasPrefix(got.Message, "rate_limited retry_after_ms=1") {
		t.Errorf("one try too many: %+v", got)
	}
}

// Typing is sent, not asked: there is no reply, and faults are silent.
func TestTypingHasNoReply(t *testing.T) {
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

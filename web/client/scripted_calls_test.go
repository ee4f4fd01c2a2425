package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hongbao/store/enginetest"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// TestTemporary answers a call with temporary errors. The client must repeat it unchanged, and not before the time that
// the server names.
func TestTemporary(t *testing.T) {
	keys := make(chan string, 10)
	s := newScriptedServer(t, wire.ConnectData{}, func(_ string, data json.RawMessage) any {
		var r wire.SendRequest
		_ = json.Unmarshal(data, &r)
		keys <- r.Key
		switch {
		case r.Text == "never":
			return wire.NewError(wire.CodeRateLimited, "retry_after_ms", "60000")
		case len(keys) == 1:
			return wire.NewError(wire.CodeRateLimited, "retry_after_ms", "700")
		case len(keys) == 2:
			return wire.NewError(wire.CodeUnavailable)
		}
		return wire.SendReply{Seq: 1}
	})
	c := s.client()
	begun := time.Now()
	must[client.Sent](t)(c.Send(soon(t), client.Message{Room: "r", Text: "hello"}))
	if took := time.Since(begun); took < 700*time.Millisecond {
		t.Errorf("repeated after %v", took)
	}
	if a, b, c := <-keys, <-keys, <-keys; a == "" || b != a || c != a {
		t.Errorf("the keys were %q %q %q", a, b, c)
	}
	var err error
	for limit := 100 * time.Millisecond; limit < time.Minute && !errors.Is(err, client.ErrRateLimited); limit *= 4 { // until an answer came in time
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_, err = c.Send(ctx, client.Message{Room: "r", Text: "never"})
		cancel()
	}
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrRateLimited) {
		t.Errorf("%v", err)
	}
}

// conflictingServer has committed to c1 and refuses it. It names the packet p1, which it answers to the command packet, and then commits
// to c2.
func conflictingServer(t *testing.T, requested chan<- wire.SendPacketRequest, packet wire.PacketReply) *scriptedServer {
	return newScriptedServer(t, inRoom(0), func(method string, data json.RawMessage) any {
		if method == "packet" {
			return packet
		}
		var r wire.SendPacketRequest
		_ = json.Unmarshal(data, &r)
		requested <- r
		if r.Commitment != "c2" {
			return wire.NewError(wire.CodeConflict, "next_commitment", "c2", "packet", "p1")
		}
		return wire.SendPacketReply{NextCommitment: "c3", Balance: 5}
	})
}

// usedPacket is the packet of another device of the user that has used c1.
func usedPacket() wire.PacketReply {
	return wire.PacketReply{Packet: wire.Packet{ID: "p1", From: wire.User{ID: "ann"}, Key: "other", Commitment: "c1"}}
}

// TestConflictWithoutReason refuses a seed without showing the user's packet that has used it. The client must return the conflict, and
// must not draw again. A call after that uses the next commitment.
func TestConflictWithoutReason(t *testing.T) {
	for name, change := range map[string]func(*wire.PacketReply){
		"the packet is of another user":          func(p *wire.PacketReply) { p.Packet.From.ID = "bob" },
		"the packet has another commitment":      func(p *wire.PacketReply) { p.Packet.Commitment = "c0" },
		"the packet is another one":              func(p *wire.PacketReply) { p.Packet.ID = "p2" },
		"the packet has ended with another seed": func(p *wire.PacketReply) { p.Proof = &wire.Proof{Seed: "00", Commitment: "c1"} },
	} {
		t.Run(name, func(t *testing.T) {
			requested, packet := make(chan wire.SendPacketRequest, 10), usedPacket()
			change(&packet)
			c := conflictingServer(t, requested, packet).client()
			if _, err := c.SendPacket(soon(t), client.NewPacket{Room: "r", Total: 10, Count: 2}); !errors.Is(err, client.ErrConflict) || len(requested) != 1 {
				t.Errorf("%v, requested %d times", err, len(requested))
			}
			must[client.SentPacket](t)(c.SendPacket(soon(t), client.NewPacket{Room: "r", Total: 10, Count: 2}))
		})
	}
}

// TestConflictThatWasNone ends the packet that has used the seed with another seed. The client must say so.
func TestConflictThatWasNone(t *testing.T) {
	s := conflictingServer(t, make(chan wire.SendPacketRequest, 10), usedPacket())
	c := s.client()
	must[client.SentPacket](t)(c.SendPacket(soon(t), client.NewPacket{Room: "r", Total: 10, Count: 2}))
	s.entry("r", 1, "packet_done", wire.PacketDoneBody{Packet: "p1", Reason: "expired", Seed: strings.Repeat("11", 32)})
	if got := await(t, c, func(model.SeedMismatch) bool { return true }); got != (model.SeedMismatch{Packet: "p1", Commitment: "c1"}) {
		t.Errorf("the client says %+v", got)
	}
}

// TestConflict answers that another device has used the seed. The client must retry with a new key and the server's
// next commitment.
func TestConflict(t *testing.T) {
	requested := make(chan wire.SendPacketRequest, 10)
	c := conflictingServer(t, requested, usedPacket()).client()
	must[client.SentPacket](t)(c.SendPacket(soon(t), client.NewPacket{Room: "r", Total: 10, Count: 2}))
	if a, b := <-requested, <-requested; a.Commitment != "c1" || a.Key == "" || a.Key == b.Key {
		t.Errorf("requested %+v, then %+v", a, b)
	}
	if a := c.Account(); a.NextCommitment != "c3" || a.Balance != 5 {
		t.Errorf("%+v", a)
	}
	if _, err := c.SendPacket(soon(t), client.NewPacket{Key: "mine", Commitment: "c1"}); !errors.Is(err, client.ErrConflict) || len(requested) != 1 {
		t.Errorf("%v, requested %d times", err, len(requested))
	}
}

// TestConflictWithOwnTry answers a repeated try that the seed is used, because the client's first try has used it. The
// client must find its packet and not send it again.
func TestConflictWithOwnTry(t *testing.T) {
	requested := make(chan wire.SendPacketRequest, 10)
	s := newScriptedServer(t, inRoom(0), func(_ string, data json.RawMessage) any {
		var r wire.SendPacketRequest
		_ = json.Unmarshal(data, &r)
		requested <- r
		switch len(requested) {
		case 1:
			return wire.NewError(wire.CodeUnavailable) // the packet is committed all the same
		case 2:
			return wire.NewError(wire.CodeConflict, "next_commitment", "c2")
		}
		return wire.SendPacketReply{NextCommitment: "c2", Dup: true}
	})
	sent := must[client.SentPacket](t)(s.client().SendPacket(soon(t), client.NewPacket{Room: "r", Total: 10, Count: 2}))
	if !sent.Dup || len(requested) != 3 {
		t.Fatalf("%+v, requested %d times", sent, len(requested))
	}
	if a, b, c := <-requested, <-requested, <-requested; a.Key == "" || b.Key != a.Key || c.Key != a.Key {
		t.Errorf("the keys were %q %q %q", a.Key, b.Key, c.Key)
	}
}

// TestDeletedTwice loses the answer to a deletion. The repeated call then gets "not found", which must count as
// success.
func TestDeletedTwice(t *testing.T) {
	var s *scriptedServer
	s = newScriptedServer(t, inRoom(0), func(string, json.RawMessage) any {
		if s.count("delete_room") == 1 {
			return wire.NewError(wire.CodeInternal)
		}
		return wire.NewError(wire.CodeNotFound)
	})
	c := s.client()
	if err := c.DeleteRoom(soon(t), "r"); err != nil {
		t.Error(err)
	}
	if err := c.DeleteRoom(soon(t), "r"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestUnknown sends kinds and events of a newer server. The client must return them unchanged.
func TestUnknown(t *testing.T) {
	s := newScriptedServer(t, inRoom(4), nil)
	c := s.client()
	await[model.Connected](t, c, nil)
	s.push(map[string]any{"applause": map[string]any{"room": "r"}})
	if e := await[model.OtherEvent](t, c, nil); string(e.Raw) != `{"applause":{"room":"r"}}` {
		t.Errorf("%s", e.Raw)
	}
	s.entry("r", 5, "poll", map[string]any{"question": "?"})
	s.entry("r", 6, "text", "no object")
	s.entry("r", 7, "room", map[string]any{"announcement": "new rules"})
	if e := await[model.Entry](t, c, nil); e.Seq != 5 || e.Kind != "poll" || fmt.Sprintf("%s", e.Body.(model.Other).Raw) != `{"question":"?"}` {
		t.Errorf("%+v", e)
	}
	if e := await[model.Entry](t, c, nil); e.Seq != 6 || e.Kind != "text" {
		t.Errorf("%+v", e)
	}
	if e := await[model.Entry](t, c, nil); e.Seq != 7 || *e.Body.(model.RoomChanged).Announcement != "new rules" || c.Rooms()[0].Announcement != "new rules" {
		t.Errorf("%+v %+v", e, c.Rooms())
	}
}

// TestCrashRenumbered restarts the server from a backup, with another epoch and fewer entries. The client must continue
// with the new numbers.
func TestCrashRenumbered(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newScriptedServer(t, inRoom(10), nil)
	c := s.client()
	await[model.Connected](t, c, nil)
	s.entry("r", 11, "text", wire.TextBody{Text: "11"})
	wantTexts(t, c, "r", 11, 11)
	s.setConnect(inRoom(5), "f")
	s.closeSocket(3001)
	if e := await[model.Skipped](t, c, nil); e != (model.Skipped{Room: "r", Through: 5}) {
		t.Errorf("%+v", e)
	}
	s.entry("r", 6, "text", wire.TextBody{Text: "6"})
	wantTexts(t, c, "r", 6, 6)
}

// TestMissingEntries loses a push whose entry history does not have either. The client must name the entry as skipped.
func TestMissingEntries(t *testing.T) {
	s := newScriptedServer(t, inRoom(10), func(_ string, data json.RawMessage) any {
		var r wire.HistoryRequest
		_ = json.Unmarshal(data, &r)
		if *r.After != 10 && *r.After != 13 {
			t.Errorf("history was read after %d", *r.After)
		}
		if *r.After == 13 {
			return wire.NewError(wire.CodeNotMember)
		}
		return wire.HistoryReply{Entries: []wire.Entry{
			{Seq: 12, Kind: "text", Body: json.RawMessage(`{"text":"12","edited_at":5,"reactions":{"👍":2}}`)},
			{Seq: 13, Kind: "text", Body: json.RawMessage(`{"text":"of later"}`)},
		}}
	})
	c := s.client()
	await[model.Connected](t, c, nil)
	s.entry("r", 13, "text", wire.TextBody{Text: "13"})
	s.entry("r", 16, "text", wire.TextBody{Text: "16"})
	if e := await[model.Skipped](t, c, nil); e != (model.Skipped{Room: "r", After: 10, Through: 11}) {
		t.Errorf("%+v", e)
	}
	e := await[model.Entry](t, c, nil)
	if text := e.Body.(model.Text); e.Seq != 12 || text.Reactions["👍"] != 2 || text.EditedAt.UnixMilli() != 5 {
		t.Errorf("%+v", e)
	}
	wantTexts(t, c, "r", 13, 13)
	if e := await[model.Skipped](t, c, nil); e != (model.Skipped{Room: "r", After: 13, Through: 15}) {
		t.Errorf("%+v", e)
	}
	wantTexts(t, c, "r", 16, 16)
}

// TestEndedByTheServer ends the client by a close. Earlier events must be returned first. Then Events and calls must
// return the reason.
func TestEndedByTheServer(t *testing.T) {
	requested := make(chan string, 1)
	s := newScriptedServer(t, inRoom(10), func(method string, _ json.RawMessage) any { requested <- method; return nil })
	c := s.client()
	await[model.Connected](t, c, nil)
	waiting := make(chan error, 1)
	go func() { _, err := c.Wallet(soon(t)); waiting <- err }()
	select {
	case <-requested:
	case err := <-waiting:
		t.Fatalf("the wallet was not requested: %v", err)
	}
	s.entry("r", 11, "text", wire.TextBody{Text: "11"})
	s.closeSocket(wire.CloseRevoked)
	var closed *client.CloseError
	if err := <-waiting; !errors.As(err, &closed) || closed.Code != wire.CloseRevoked || !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("%v", err)
	}
	wantTexts(t, c, "r", 11, 11)
	if _, err := c.Next(soon(t)); !errors.As(err, &closed) || !errors.As(c.Err(), &closed) {
		t.Errorf("%v", err)
	}
}

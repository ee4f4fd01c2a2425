package redpacket_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestOnlyRecipientsGrab sends packets that name recipients. Only they may grab. The default count must be the number
// of recipients, each counted once. The sender may grab only if named.
func TestOnlyRecipientsGrab(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob", "eve")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 100, To: []string{"bob", "ann", "bob"}})
	if p.Count != 2 || !slices.Equal(p.To, []string{"bob", "ann"}) {
		t.Errorf("count %d, to %v", p.Count, p.To)
	}
	fresh := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now}) // reads the packet from storage
	for _, user := range []string{"boss", "eve"} {
		for _, s := range []*redpacket.Service{h.packets, fresh} {
			if r, err := s.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID}); !errors.Is(err, redpacket.ErrNotRecipient) {
				t.Errorf("%s: %v, %v", user, r.Outcome, err)
			}
		}
	}
	for _, user := range []string{"ann", "bob"} {
		if r := h.grab(t, user, p); r.Outcome != redpacket.OutcomeWon {
			t.Errorf("%s: %+v", user, r)
		}
	}
	h.published.waitFor(t, "packet_done", packetDone(p))
	if r := h.grab(t, "eve", p); r.Outcome != redpacket.OutcomeEmpty {
		t.Errorf("a user that was not named, after the end: %+v", r)
	}

	own := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1, To: []string{"boss", "ann"}})
	if r := h.grab(t, "boss", own); r.Outcome != redpacket.OutcomeWon || own.Count != 1 {
		t.Errorf("the sender, if named: %+v of %d", r, own.Count)
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// strictRooms is a Rooms that fails for an id that no user can have, because an engine may be unable to read such an
// id.
type strictRooms struct{ redpacket.Rooms }

func (r strictRooms) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if !chat.ValidUser(user) {
		return chat.Standing{}, chat.ErrUnavailable
	}
	return r.Rooms.Standing(ctx, room, user)
}

func TestRecipientsAndPassphraseAreChecked(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	h.packets = redpacket.New(h.store, h.pool, strictRooms{h.rooms}, h.published, redpacket.Options{Now: h.clock.now, GuessLimiter: h.tries})
	h.signIn(t, "stranger")
	h.signIn(t, "former")
	if _, err := h.rooms.Join(t.Context(), person("former"), h.room); err != nil {
		t.Fatal(err)
	}
	if err := h.rooms.Leave(t.Context(), person("former"), h.room); err != nil {
		t.Fatal(err)
	}
	many := make([]string, 201)
	for i := range many {
		many[i] = "u" + strconv.Itoa(i)
	}
	for what, c := range map[string]struct {
		r     redpacket.SendRequest
		err   error
		field string
	}{
		"a stranger":             {redpacket.SendRequest{To: []string{"ann", "stranger"}}, chat.ErrNotFound, "to"},
		"a former member":        {redpacket.SendRequest{To: []string{"former"}}, chat.ErrNotFound, "to"},
		"an unknown user":        {redpacket.SendRequest{To: []string{"nobody"}}, chat.ErrNotFound, "to"},
		"an impossible id":       {redpacket.SendRequest{To: []string{"a\x00b"}}, chat.ErrNotFound, "to"},
		"an empty id":            {redpacket.SendRequest{To: []string{""}}, chat.ErrNotFound, "to"},
		"too many":               {redpacket.SendRequest{To: many}, chat.ErrLimitExceeded, "to"},
		"more shares than users": {redpacket.SendRequest{To: []string{"ann", "bob", "ann"}, Count: 3}, chat.ErrBadRequest, "count"},
		"no count at all":        {redpacket.SendRequest{}, chat.ErrBadRequest, "count"},
		"a count below 1":        {redpacket.SendRequest{To: []string{"ann"}, Count: -1}, chat.ErrBadRequest, "count"},
		"spaces only":            {redpacket.SendRequest{Count: 1, Passphrase: " \u3000"}, chat.ErrBadRequest, "passphrase"},
		"U+0000":                 {redpacket.SendRequest{Count: 1, Passphrase: "a\x00b"}, chat.ErrBadRequest, "passphrase"},
		"33 characters":          {redpacket.SendRequest{Count: 1, Passphrase: strings.Repeat("红", 33)}, chat.ErrTooLong, "passphrase"},
		"36 when normalised":     {redpacket.SendRequest{Count: 1, Passphrase: "\ufdfa\ufdfa"}, chat.ErrTooLong, "passphrase"},
	} {
		c.r.Room, c.r.Key, c.r.Total = h.room, "key-of-"+strings.ReplaceAll(what, " ", "-"), 100
		_, err := h.packets.Send(t.Context(), person("boss"), c.r)
		var field *chat.FieldError
		if !errors.Is(err, c.err) || !errors.As(err, &field) || field.Field != c.field {
			t.Errorf("%s: got %v, want %v of %s", what, err, c.err, c.field)
		}
	}
	two := redpacket.SendRequest{Room: h.room, Key: "k", Total: 100, To: []string{"ann", "nobody"}}
	for sender, want := range map[string]error{"stranger": chat.ErrNotMember, "former": chat.ErrNotMember} {
		_, err := h.packets.Send(t.Context(), person(sender), two)
		var field *chat.FieldError
		if !errors.Is(err, want) || errors.As(err, &field) {
			t.Errorf("%s learns about members: %v", sender, err)
		}
	}
	if got := h.balance(t, "boss"); got != 1000 {
		t.Errorf("the balance is %d after refusals", got)
	}
}

// TestKeyOfAPacketForSome repeats a send with the same key. The same request must return the same packet, in whatever
// Unicode form its passphrase is, and even if recipients have left. A different request with this key must be refused.
func TestKeyOfAPacketForSome(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	first := redpacket.SendRequest{Room: h.room, Key: "k", Total: 100, To: []string{"ann", "bob"}, Passphrase: "caf\u00e9"}
	sent, err := h.packets.Send(t.Context(), person("boss"), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.rooms.Leave(t.Context(), person("ann"), h.room); err != nil {
		t.Fatal(err)
	}
	again := first
	again.To, again.Passphrase, again.Count = []string{"ann", "bob", "ann"}, " cafe\u0301 ", 2
	if dup, err := h.packets.Send(t.Context(), person("boss"), again); err != nil || !dup.Dup || dup.Packet.ID != sent.Packet.ID || dup.Packet.Passphrase != "café" {
		t.Errorf("again: %+v, %v", dup, err)
	}
	for what, change := range map[string]func(*redpacket.SendRequest){
		"others":             func(r *redpacket.SendRequest) { r.To = []string{"ann", "boss"} },
		"fewer":              func(r *redpacket.SendRequest) { r.To, r.Count = []string{"ann"}, 1 },
		"everybody":          func(r *redpacket.SendRequest) { r.To, r.Count = nil, 2 },
		"earlier members":    func(r *redpacket.SendRequest) { r.EarlierMembers = true },
		"another skin":       func(r *redpacket.SendRequest) { r.Skin = redpacket.Koi },
		"another passphrase": func(r *redpacket.SendRequest) { r.Passphrase = "cafe" },
		"none":               func(r *redpacket.SendRequest) { r.Passphrase = "" },
		"it as a recipient": func(r *redpacket.SendRequest) {
			r.To, r.Passphrase, r.Count = []string{"caf\u00e9", "ann", "bob"}, "", 2
		},
	} {
		other := first
		change(&other)
		if _, err := h.packets.Send(t.Context(), person("boss"), other); !errors.Is(err, chat.ErrKeyReused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.mustBalance(t)
}

package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// obstacle is one thing that can be in the way of a grab.
type obstacle uint

// The obstacles, in the order in which they are told.
const (
	stranger obstacle = 1 << iota
	hasShare          // no obstacle, but it is answered here
	deleted
	banned
	former
	sold
	excluded
	tired
	wrong
)

var obstacleNames = [...]string{"stranger", "has a share", "room deleted", "banned", "former", "sold out", "excluded", "tired", "wrong"}

func (o obstacle) String() string {
	var names []string
	for i, name := range obstacleNames {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// answer is what the first of the obstacles says.
func (o obstacle) answer() (redpacket.Outcome, error) {
	switch {
	case o&stranger != 0:
		return "", chat.ErrNotFound
	case o&hasShare != 0:
		return redpacket.OutcomeAlready, nil
	case o&deleted != 0:
		return "", chat.ErrNotFound
	case o&(banned|former) != 0:
		return "", chat.ErrNotMember
	case o&sold != 0:
		return redpacket.OutcomeEmpty, nil
	case o&excluded != 0:
		return "", redpacket.ErrNotRecipient
	case o&tired != 0:
		return "", chat.ErrRateLimited
	case o&wrong != 0:
		return "", redpacket.ErrWrongPassphrase
	}
	return redpacket.OutcomeWon, nil
}

func (o obstacle) standing() chat.Standing {
	switch {
	case o&stranger != 0:
		return chat.Standing{Visible: true}
	case o&deleted != 0:
		return chat.Standing{Ever: true, Gone: true, Banned: o&banned != 0}
	case o&banned != 0:
		return chat.Standing{Ever: true, Banned: true}
	case o&former != 0:
		return chat.Standing{Ever: true}
	}
	return chat.Standing{Ever: true, In: true, Role: chat.Plain}
}

// purse is a limiter that has tokens, or has none.
type purse struct{ empty bool }

func (p *purse) Take(_ context.Context, key string, _ chat.Rate) (time.Duration, error) {
	if p.empty && strings.HasPrefix(key, "passphrase:") {
		return time.Second, nil
	}
	return 0, nil
}

// TestOrderOfChecks: of all that is in the way of a grab the first is told, whether the packet's end is known from the
// Pool or from memory.
func TestOrderOfChecks(t *testing.T) {
	h := newHouse(t, "boss", "ann", "bob")
	h.credit(t, "boss", 10_000)
	rooms, purse := &saidRooms{Rooms: h.rooms, said: map[string]chat.Standing{}}, &purse{}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.heard, redpacket.Options{
		Now: h.clock.now, Log: slog.New(slog.DiscardHandler), Tries: purse,
	})
	check := func(o obstacle, p redpacket.Packet, how string) {
		t.Helper()
		rooms.said["ann"], purse.empty = o.standing(), o&tired != 0
		defer delete(rooms.said, "ann")
		try := redpacket.Try{User: "ann", Packet: p.ID, Passphrase: "sesame"}
		if o&wrong != 0 {
			try.Passphrase = "simsim"
		}
		r, err := h.packets.Grab(t.Context(), try)
		if outcome, refusal := o.answer(); r.Outcome != outcome || !errors.Is(err, refusal) {
			t.Errorf("%s (%s): %q, %v, want %q, %v", o, how, r.Outcome, err, outcome, refusal)
		}
	}
	for o := range obstacle(1 << len(obstacleNames)) {
		if wants(o) > 3 { // pairs, and those with a share besides
			continue
		}
		request := redpacket.SendRequest{Total: 2, Count: 2, Mode: redpacket.Equal, Passphrase: "sesame", To: []string{"ann", "bob"}}
		if o&excluded != 0 {
			request.To[0] = "boss"
		}
		p := h.send(t, "boss", request)
		var grants []redpacket.Attempt
		if o&hasShare != 0 {
			grants = append(grants, redpacket.Attempt{Ref: p.Ref, User: "ann"})
		}
		if o&sold != 0 {
			grants = append(grants, redpacket.Attempt{Ref: p.Ref, User: "bob"}, redpacket.Attempt{Ref: p.Ref, User: "boss"})
		}
		if _, err := h.pool.Grab(t.Context(), grants); err != nil {
			t.Fatal(err)
		}
		check(o, p, "from the pool")
		if o&sold == 0 {
			continue
		}
		h.clock.advance(redpacket.CloseLease)
		h.packets.Pass(t.Context())
		if d, err := h.packets.Details(t.Context(), "boss", p.ID, 0, 1); err != nil || d.State.Status != redpacket.Drained {
			t.Fatalf("%s: not ended: %v, %v", o, d.State.Status, err)
		}
		check(o, p, "from memory")
	}
	h.mustBalance(t)
}

// TestNoCancelInADeletedRoom: what was sent there runs to its deadline.
func TestNoCancelInADeletedRoom(t *testing.T) {
	h := newHouse(t, "boss")
	h.credit(t, "boss", 100)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1})
	rooms := &saidRooms{Rooms: h.rooms, said: map[string]chat.Standing{"boss": deleted.standing()}}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.heard, redpacket.Options{Now: h.clock.now})
	if _, _, err := h.packets.Cancel(t.Context(), "boss", p.ID); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("in a deleted room: %v", err)
	}
	rooms.said["boss"] = former.standing()
	if state, _, err := h.packets.Cancel(t.Context(), "boss", p.ID); err != nil || state.Status != redpacket.Cancelled {
		t.Errorf("by a sender who left: %+v, %v", state, err)
	}
}

// wants is how many obstacles these are.
func wants(o obstacle) (n int) {
	for ; o != 0; o &= o - 1 {
		n++
	}
	return n
}

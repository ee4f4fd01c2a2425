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

// obstacle is a set of reasons against a grab.
type obstacle uint

// The obstacles, in the order in which a grab is checked for them.
const (
	stranger obstacle = 1 << iota
	hasShare          // not an obstacle: at this point of the order, a user with a share gets it as the answer
	deleted
	banned
	former
	sold
	excluded
	late
	tired
	wrong
)

var obstacleNames = [...]string{"stranger", "has a share", "room deleted", "banned", "former", "sold out", "excluded", "joined later", "tired", "wrong"}

func (o obstacle) String() string {
	var names []string
	for i, name := range obstacleNames {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// answer returns what a grab with these obstacles must get: the answer for the first of them.
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
	case o&late != 0:
		return "", redpacket.ErrJoinedLater
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
		return chat.Standing{Ever: true, RoomDeleted: true, Banned: o&banned != 0}
	case o&banned != 0:
		return chat.Standing{Ever: true, Banned: true}
	case o&former != 0:
		return chat.Standing{Ever: true}
	}
	st := chat.Standing{Ever: true, In: true, Role: chat.Plain}
	if o&late != 0 {
		st.JoinedSeq = 1 << 40
	}
	return st
}

// switchedLimiter is a Limiter that refuses while empty is set, and otherwise allows everything.
type switchedLimiter struct{ empty bool }

func (l *switchedLimiter) Take(_ context.Context, key string, _ chat.Rate) (time.Duration, error) {
	if l.empty && strings.HasPrefix(key, "passphrase") {
		return time.Second, nil
	}
	return 0, nil
}

// TestOrderOfChecks grabs with each set of up to three obstacles. The first obstacle in the order must decide the
// answer, whether the Pool or memory answers.
func TestOrderOfChecks(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 10_000)
	rooms, limiter := &fixedRooms{Rooms: h.rooms, standings: map[string]chat.Standing{}}, &switchedLimiter{}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.published, redpacket.Options{
		Now: h.clock.now, Log: slog.New(slog.DiscardHandler), GuessLimiter: limiter,
	})
	check := func(o obstacle, p redpacket.Packet, how string) {
		t.Helper()
		rooms.standings["ann"], limiter.empty = o.standing(), o&tired != 0
		defer delete(rooms.standings, "ann")
		request := redpacket.GrabRequest{User: "ann", Packet: p.ID, Passphrase: "sesame"}
		if o&wrong != 0 {
			request.Passphrase = "simsim"
		}
		r, err := h.packets.Grab(t.Context(), request)
		if outcome, refusal := o.answer(); r.Outcome != outcome || !errors.Is(err, refusal) {
			t.Errorf("%s (%s): %q, %v, want %q, %v", o, how, r.Outcome, err, outcome, refusal)
		}
	}
	for o := range obstacle(1 << len(obstacleNames)) {
		if wants(o) > 3 { // larger sets would show no more
			continue
		}
		send := redpacket.SendRequest{Total: 2, Count: 2, Mode: redpacket.Equal, Passphrase: "sesame", To: []string{"ann", "bob"}, EarlierMembers: true}
		if o&excluded != 0 {
			send.To[0] = "boss"
		}
		p := h.send(t, "boss", send)
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

// TestNoCancelInADeletedRoom cancels a packet of a deleted room: the sender must be refused. A sender that has only
// left the room must succeed.
func TestNoCancelInADeletedRoom(t *testing.T) {
	h := newTestService(t, "boss")
	h.credit(t, "boss", 100)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1})
	rooms := &fixedRooms{Rooms: h.rooms, standings: map[string]chat.Standing{"boss": deleted.standing()}}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.published, redpacket.Options{Now: h.clock.now})
	if _, _, err := h.packets.Cancel(t.Context(), "boss", p.ID); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("in a deleted room: %v", err)
	}
	rooms.standings["boss"] = former.standing()
	if state, _, err := h.packets.Cancel(t.Context(), "boss", p.ID); err != nil || state.Status != redpacket.Cancelled {
		t.Errorf("by a sender that left: %+v, %v", state, err)
	}
}

// wants returns the number of obstacles in the set.
func wants(o obstacle) (n int) {
	for ; o != 0; o &= o - 1 {
		n++
	}
	return n
}

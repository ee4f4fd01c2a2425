package redpacket_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// awayRooms is a Rooms in which the test says which users are away.
type awayRooms struct {
	redpacket.Rooms
	away []string
}

func (r *awayRooms) Away(context.Context, string, string) ([]string, error) {
	return slices.Clone(r.away), nil
}

func TestHeldSharesWait(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob", "cyn", "dan", "eve")
	h.credit(t, "ann", 1000)
	p := h.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 3, HoldFor: []string{"eve", "dan", "eve"}, HoldTime: time.Minute})
	if !p.Hold.Until.Equal(p.CreatedAt.Add(time.Minute)) || p.Hold.ShareOf("dan") < 0 || p.Hold.ShareOf("eve") < 0 || p.Hold.ShareOf("bob") >= 0 {
		t.Fatalf("holds %+v", p.Hold)
	}
	if r := h.grab(t, "bob", p); r.Outcome != redpacket.OutcomeWon || slices.ContainsFunc(p.Hold.For, func(g redpacket.Grant) bool { return g.Share == r.Rank-1 }) {
		t.Errorf("the one that is not held: %+v of %+v", r, p.Hold)
	}
	h.published.mu.Lock()
	for _, e := range h.published.events {
		if told, is := e.(redpacket.Progress); is && told.Claimed != 1 {
			t.Errorf("one share is taken, and %d are told", told.Claimed)
		}
	}
	h.published.mu.Unlock()
	h.pool.Forget()
	if r := h.grab(t, "cyn", p); r.Outcome != redpacket.OutcomeEmpty || r.Waiting != 2 || r.Claimed != 1 {
		t.Errorf("only held ones are left: %+v", r)
	}
	h.packets.Idle()
	if s, err := h.packets.States(t.Context(), "cyn", []string{p.ID}); err != nil || s[0].Status != redpacket.Open {
		t.Errorf("it is not open: %+v, %v", s, err)
	}
	if r := h.grab(t, "eve", p); r.Outcome != redpacket.OutcomeWon || r.Rank != p.Hold.ShareOf("eve")+1 {
		t.Errorf("the own one: %+v of %+v", r, p.Hold)
	}
	h.clock.advance(time.Minute)
	if r := h.grab(t, "cyn", p); r.Outcome != redpacket.OutcomeWon || r.Rank != p.Hold.ShareOf("dan")+1 {
		t.Errorf("afterwards: %+v of %+v", r, p.Hold)
	}
	h.packets.Idle()
	if r := h.grab(t, "dan", p); r.Outcome != redpacket.OutcomeEmpty || r.Waiting != 0 {
		t.Errorf("too late: %+v", r)
	}
	h.mustBalance(t)
}

// Shares are held for members that are away, as many as there are shares. The sender learns only how many.
func TestSharesAreHeldForMembersThatAreAway(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob", "cyn", "dan", "eve")
	h.credit(t, "ann", 1000)
	rooms := &awayRooms{Rooms: h.rooms, away: []string{"eve", "dan", "cyn"}}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.published, redpacket.Options{Now: h.clock.now})
	users := func(p redpacket.Packet) (all []string) {
		for _, g := range p.Hold.For {
			all = append(all, g.User)
		}
		return all
	}
	r := redpacket.SendRequest{Total: 100, Count: 2, HoldAway: true, HoldTime: time.Minute}
	if got := users(h.send(t, "ann", r)); !slices.Equal(got, []string{"dan", "eve"}) {
		t.Errorf("held for %q: not for the most active ones", got)
	}
	r.To, r.OpensAt = []string{"bob", "cyn"}, h.clock.now().Add(time.Hour)
	if p := h.send(t, "ann", r); !slices.Equal(users(p), []string{"cyn"}) || !p.Hold.Until.Equal(r.OpensAt.Add(time.Minute)) {
		t.Errorf("held for %+v: not only for recipients, or not from the opening on", p.Hold)
	}
	rooms.away = nil
	if p := h.send(t, "ann", r); len(p.Hold.For) > 0 || !p.Hold.Until.IsZero() {
		t.Errorf("nobody is away, and %+v is held", p.Hold)
	}
}

func TestHoldRequests(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob", "cyn")
	h.credit(t, "ann", 1000)
	h.signIn(t, "stranger")
	for name, c := range map[string]struct {
		field string
		want  error
		r     redpacket.SendRequest
	}{
		"no users":          {"hold_s", chat.ErrBadRequest, redpacket.SendRequest{HoldTime: time.Minute}},
		"no time":           {"hold_s", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"bob"}}},
		"a negative time":   {"hold_s", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"bob"}, HoldTime: -1}},
		"after the end":     {"hold_s", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"bob"}, TTL: time.Minute, HoldTime: time.Minute + 1}},
		"both":              {"hold_away", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"bob"}, HoldAway: true, HoldTime: time.Minute}},
		"of a draw":         {"hold_for", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"bob"}, HoldTime: time.Minute, Window: time.Minute}},
		"away, of a draw":   {"hold_away", chat.ErrBadRequest, redpacket.SendRequest{HoldAway: true, HoldTime: time.Minute, Window: time.Minute}},
		"too many":          {"hold_for", chat.ErrBadRequest, redpacket.SendRequest{HoldFor: []string{"ann", "bob", "cyn"}, HoldTime: time.Minute}},
		"far too many":      {"hold_for", chat.ErrLimitExceeded, redpacket.SendRequest{Count: 1000, HoldTime: time.Minute}},
		"not in to":         {"hold_for", chat.ErrBadRequest, redpacket.SendRequest{To: []string{"ann", "bob"}, HoldFor: []string{"cyn"}, HoldTime: time.Minute}},
		"not in the room":   {"hold_for", chat.ErrNotFound, redpacket.SendRequest{HoldFor: []string{"stranger"}, HoldTime: time.Minute}},
		"not a user at all": {"hold_for", chat.ErrNotFound, redpacket.SendRequest{HoldFor: []string{"no user"}, HoldTime: time.Minute}},
	} {
		r := c.r
		if name == "far too many" {
			for i := range 201 {
				r.HoldFor = append(r.HoldFor, "u"+string(rune('a'+i%26))+string(rune('a'+i/26)))
			}
		}
		if r.Count == 0 {
			r.Count = 2
		}
		r.Room, r.Key, r.Total = h.room, h.key(), 1000
		_, err := h.packets.Send(t.Context(), person("ann"), r)
		var wrong *chat.FieldError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 10, Count: 2, HoldFor: []string{"bob"}, HoldTime: time.Minute}
	if _, err := h.packets.Send(t.Context(), person("ann"), r); err != nil {
		t.Fatal(err)
	}
	if again, err := h.packets.Send(t.Context(), person("ann"), r); err != nil || !again.Dup || again.Packet.Hold.ShareOf("bob") < 0 {
		t.Errorf("the same request again: %+v, %v", again, err)
	}
	for _, change := range []func(*redpacket.SendRequest){
		func(r *redpacket.SendRequest) { r.HoldFor = []string{"cyn"} },
		func(r *redpacket.SendRequest) { r.HoldTime = time.Hour },
		func(r *redpacket.SendRequest) { r.HoldFor, r.HoldAway = nil, true },
		func(r *redpacket.SendRequest) { r.HoldFor, r.HoldTime = nil, 0 },
	} {
		other := r
		change(&other)
		if _, err := h.packets.Send(t.Context(), person("ann"), other); !errors.Is(err, chat.ErrKeyReused) {
			t.Errorf("the same key for %+v: %v", other, err)
		}
	}
}

// A user for whom a share is held may leave: the share is free to all later.
func TestHeldShareOfAUserThatHasLeft(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob", "cyn")
	h.credit(t, "ann", 1000)
	p := h.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 1, HoldFor: []string{"bob"}, HoldTime: time.Minute})
	if err := h.rooms.Leave(t.Context(), person("bob"), h.room); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, "bob", p, chat.ErrNotMember, h.packets)
	if r := h.grab(t, "cyn", p); r.Outcome != redpacket.OutcomeEmpty || r.Waiting != 1 {
		t.Errorf("held: %+v", r)
	}
	h.clock.advance(time.Minute)
	if r := h.grab(t, "cyn", p); r.Outcome != redpacket.OutcomeWon || r.Amount != 100 {
		t.Errorf("free: %+v", r)
	}
	h.mustBalance(t)
}

package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// earlier is a request for a packet of two equal shares for earlier members.
func earlier() redpacket.SendRequest {
	return redpacket.SendRequest{Mode: redpacket.Equal, Total: 2, Count: 2, EarlierMembers: true}
}

func (h *testService) join(t *testing.T, rooms *chat.Service, users ...string) {
	t.Helper()
	for _, user := range users {
		h.signIn(t, user)
		if _, err := rooms.Join(t.Context(), person(user), h.room); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *testService) leave(t *testing.T, rooms *chat.Service, user string) {
	t.Helper()
	if err := rooms.Leave(t.Context(), person(user), h.room); err != nil {
		t.Fatal(err)
	}
}

// mustRefuse grabs for the user at each of the services. Each must return the error.
func mustRefuse(t *testing.T, user string, p redpacket.Packet, want error, services ...*redpacket.Service) {
	t.Helper()
	for i, s := range services {
		if r, err := s.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID}); !errors.Is(err, want) {
			t.Errorf("%s at service %d: %q, %v, want %v", user, i, r.Outcome, err, want)
		}
	}
}

// TestOnlyEarlierMembersGrab sends packets of each mode for earlier members. Users that join afterwards must get nothing,
// whether they come for the first time or come back.
func TestOnlyEarlierMembersGrab(t *testing.T) {
	for _, mode := range []redpacket.Mode{redpacket.Lucky, redpacket.Equal} {
		h := newTestService(t, "boss", "ann", "bob")
		h.credit(t, "boss", 1000)
		request := earlier()
		request.Mode, request.Total = mode, 100
		p, open := h.send(t, "boss", request), h.send(t, "boss", redpacket.SendRequest{Total: 10, Count: 4})
		fresh := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now}) // reads the packet from storage
		h.leave(t, h.rooms, "bob")
		h.join(t, h.rooms, "bob", "eve")
		for _, user := range []string{"bob", "eve"} {
			mustRefuse(t, user, p, redpacket.ErrJoinedLater, h.packets, fresh)
			if r := h.grab(t, user, open); r.Outcome != redpacket.OutcomeWon {
				t.Errorf("%s, a packet for all members: %+v", user, r)
			}
		}
		for _, user := range []string{"ann", "boss"} {
			if r := h.grab(t, user, p); r.Outcome != redpacket.OutcomeWon {
				t.Errorf("%s: %+v", user, r)
			}
		}
		h.published.waitFor(t, "packet_done", packetDone(p))
		if r := h.grab(t, "eve", p); r.Outcome != redpacket.OutcomeEmpty {
			t.Errorf("after the end: %+v", r)
		}
		if r := h.grab(t, "bob", h.send(t, "boss", earlier())); r.Outcome != redpacket.OutcomeWon {
			t.Errorf("a packet that was sent after the return: %+v", r)
		}
		h.packets.Idle()
		h.mustBalance(t)
	}
}

// TestEarlierMemberThatLeavesKeepsTheShare leaves the room after a grab and comes back. The grab must still be answered.
func TestEarlierMemberThatLeavesKeepsTheShare(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 100)
	p := h.send(t, "boss", earlier())
	h.grab(t, "ann", p)
	h.leave(t, h.rooms, "ann")
	for _, what := range []string{"after leaving", "after the return"} {
		if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeAlready || r.Amount != 1 {
			t.Errorf("%s: %+v", what, r)
		}
		h.join(t, h.rooms, "ann")
	}
	h.mustBalance(t)
}

// TestReturnByAnotherInstance lets users leave by another instance, whose notices never arrive, so that the standings
// in the cache are old. A user that comes back after the packet must be refused, as must one that stays away.
func TestReturnByAnotherInstance(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 100)
	other := chat.New(h.store, &recorder{}, chat.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	for _, user := range []string{"ann", "bob"} {
		h.grab(t, user, h.send(t, "boss", redpacket.SendRequest{Total: 10, Count: 2})) // the standing is cached
		h.leave(t, other, user)
	}
	p := h.send(t, "boss", earlier())
	h.join(t, other, "ann")
	if st, ok := h.rooms.CachedStanding(h.room, "ann"); !ok || !st.JoinedBefore(p.Seq) {
		t.Fatalf("the cache has %+v, %v: it is not old", st, ok)
	}
	mustRefuse(t, "ann", p, redpacket.ErrJoinedLater, h.packets)
	mustRefuse(t, "bob", p, chat.ErrNotMember, h.packets)
	h.mustBalance(t)
}

// storedReads counts reads of standings past the cache, and can make them fail.
type storedReads struct {
	redpacket.Rooms
	n   atomic.Int64
	err error
}

func (r *storedReads) StoredStanding(ctx context.Context, room, user string) (chat.Standing, error) {
	r.n.Add(1)
	if r.err != nil {
		return chat.Standing{}, r.err
	}
	return r.Rooms.StoredStanding(ctx, room, user)
}

// TestStandingIsConfirmedOnlyIfItDecides counts reads past the cache: none for a packet for all members, none to refuse
// users that joined later, one for each grab of an earlier member. If that read fails, nothing may be granted.
func TestStandingIsConfirmedOnlyIfItDecides(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 100)
	rooms := &storedReads{Rooms: h.rooms}
	h.packets = redpacket.New(h.store, h.pool, rooms, h.published, redpacket.Options{Now: h.clock.now})
	plain, p := h.send(t, "boss", redpacket.SendRequest{Total: 10, Count: 2}), h.send(t, "boss", earlier())
	h.join(t, h.rooms, "eve")
	h.grab(t, "ann", plain)
	for range 10 {
		mustRefuse(t, "eve", p, redpacket.ErrJoinedLater, h.packets)
	}
	if n := rooms.n.Load(); n != 0 {
		t.Errorf("%d reads past the cache, want none", n)
	}
	rooms.err = chat.ErrUnavailable
	mustRefuse(t, "ann", p, chat.ErrUnavailable, h.packets)
	rooms.err = nil
	if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeWon || r.Claimed != 1 || rooms.n.Load() != 2 {
		t.Errorf("%+v after %d reads", r, rooms.n.Load())
	}
}

// TestGrabAfterWaitingLooksAtTheStandingAgain has a user leave the room while Admit waits. The user must get no share.
func TestGrabAfterWaitingLooksAtTheStandingAgain(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 10, Count: 2})
	leaves := func(context.Context, string) (bool, error) {
		h.leave(t, h.rooms, "ann")
		return true, nil
	}
	if r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID, Admit: leaves}); !errors.Is(err, chat.ErrNotMember) {
		t.Errorf("%q, %v, want %v", r.Outcome, err, chat.ErrNotMember)
	}
}

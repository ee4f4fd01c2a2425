package redpacket_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// mustBeEarly checks that the packet has not opened for the user.
func (h *testService) mustBeEarly(t *testing.T, user string, p redpacket.Packet, passphrase string) {
	t.Helper()
	_, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID, Passphrase: passphrase})
	var early *redpacket.NotYetError
	if !errors.As(err, &early) || !errors.Is(err, redpacket.ErrNotYet) || !early.OpensAt.Equal(p.OpensAt) {
		t.Errorf("%s grabs early: %v", user, err)
	}
}

func TestPacketOpensLater(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob", "cyn")
	h.credit(t, "ann", 1000)
	opens := h.clock.now().Add(time.Hour)
	p := h.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 2, TTL: time.Minute, OpensAt: opens})
	if !p.OpensAt.Equal(opens) || !p.ExpiresAt.Equal(opens.Add(time.Minute)) || h.balance(t, "ann") != 900 {
		t.Errorf("opens %v, expires %v, and leaves %d", p.OpensAt, p.ExpiresAt, h.balance(t, "ann"))
	}
	h.mustBeEarly(t, "bob", p, "")
	h.pool.Forget()
	h.clock.advance(time.Hour - time.Millisecond)
	h.mustBeEarly(t, "bob", p, "")
	h.clock.advance(time.Millisecond)
	if r := h.grab(t, "bob", p); r.Outcome != redpacket.OutcomeWon || r.Rank != 1 {
		t.Errorf("the first grab in time: %+v", r)
	}
	h.mustBalance(t)
}

func TestPacketIsCancelledBeforeItOpens(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob")
	h.credit(t, "ann", 1000)
	for name, r := range map[string]redpacket.SendRequest{"first come": {}, "draw": {Window: 10 * time.Second}} {
		r.Total, r.Count, r.OpensAt = 100, 2, h.clock.now().Add(time.Hour) // the database's clock is behind
		p := h.send(t, "ann", r)
		if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "bob", Packet: p.ID}); !errors.Is(err, redpacket.ErrNotYet) {
			t.Errorf("%s: %v", name, err)
		}
		if s, _, err := h.packets.Cancel(t.Context(), "ann", p.ID); err != nil || s.Status != redpacket.Cancelled || s.Refunded != 100 {
			t.Errorf("%s: cancelled as %+v, %v", name, s, err)
		}
	}
	h.mustBalance(t)
}

// A try at the passphrase of a packet that has not opened would tell whether it is right.
func TestPassphraseIsNotTriedBeforeThePacketOpens(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann", "bob")
	h.credit(t, "ann", 1000)
	p := h.send(t, "ann", redpacket.SendRequest{Total: 100, Count: 2, Passphrase: "sesame", OpensAt: h.clock.now().Add(time.Hour)})
	for range 20 {
		h.mustBeEarly(t, "bob", p, "open")
		h.mustBeEarly(t, "bob", p, "sesame")
	}
	h.clock.advance(time.Hour)
	mustRefuse(t, "bob", p, redpacket.ErrWrongPassphrase, h.packets)
	if r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "bob", Packet: p.ID, Passphrase: "sesame"}); err != nil || r.Outcome != redpacket.OutcomeWon {
		t.Errorf("with the passphrase: %+v, %v", r, err)
	}
}

func TestDrawOpensLater(t *testing.T) {
	t.Parallel()
	inBubble(t, users(3), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 100, Count: 1, Window: drawWindow, OpensAt: time.Now().Add(time.Hour)})
		idle := h.send(t, "u00", redpacket.SendRequest{Total: 100, Count: 1, Window: drawWindow, OpensAt: time.Now().Add(time.Hour)})
		if !p.ExpiresAt.Equal(p.OpensAt.Add(drawWindow)) {
			t.Errorf("opens %v, ends %v", p.OpensAt, p.ExpiresAt)
		}
		h.mustBeEarly(t, "u01", p, "")
		if err := h.rooms.Leave(t.Context(), person("u02"), h.room); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, "u02", p, chat.ErrNotMember, h.packets)
		time.Sleep(time.Hour)
		if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeEntered {
			t.Errorf("in the window: %+v", r)
		}
		time.Sleep(2 * drawWindow)
		synctest.Wait()
		if h.ended() != 2 {
			t.Errorf("%d of 2 draws have ended", h.ended())
		}
		if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeAlready {
			t.Errorf("after the draw: %+v", r)
		}
		if r := h.grab(t, "u01", idle); r.Outcome != redpacket.OutcomeExpired {
			t.Errorf("a draw that nobody entered: %+v", r)
		}
	})
}

func TestOpeningRequests(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "ann")
	h.credit(t, "ann", 1000)
	now := h.clock.now()
	r := redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 10, Count: 2}
	for opens, want := range map[time.Time]error{
		now: chat.ErrBadRequest, time.UnixMilli(0): chat.ErrBadRequest, now.Add(7*24*time.Hour + time.Millisecond): chat.ErrLimitExceeded,
		time.UnixMilli(1 << 62): chat.ErrLimitExceeded, time.UnixMilli(-1 << 62): chat.ErrBadRequest,
	} {
		r.OpensAt = opens
		_, err := h.packets.Send(t.Context(), person("ann"), r)
		var wrong *chat.FieldError
		if !errors.As(err, &wrong) || wrong.Field != "opens_at" || !errors.Is(err, want) {
			t.Errorf("opens at %v: %v", opens, err)
		}
	}
	r.OpensAt = now.Add(7 * 24 * time.Hour)
	first, err := h.packets.Send(t.Context(), person("ann"), r)
	if err != nil {
		t.Fatal(err)
	}
	h.clock.advance(8 * 24 * time.Hour) // a late retry
	if again, err := h.packets.Send(t.Context(), person("ann"), r); err != nil || !again.Dup || again.Packet.ID != first.Packet.ID {
		t.Errorf("the same request again: %+v, %v", again, err)
	}
	r.OpensAt = r.OpensAt.Add(time.Millisecond)
	if _, err := h.packets.Send(t.Context(), person("ann"), r); !errors.Is(err, chat.ErrKeyReused) {
		t.Errorf("the same key for another time: %v", err)
	}
}

package redpacket_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// limitedService is a service whose users may receive so much a day.
func limitedService(t *testing.T, received int64, users ...string) *testService {
	t.Helper()
	h := newTestService(t, users...)
	h.packets = redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{
		Now: h.clock.now, GuessLimiter: h.tries, DayLimits: redpacket.DayLimits{Received: redpacket.Limit{On: true, Usual: received}},
	})
	return h
}

// TestReceivedLimitRefusesGrabs checks that a user that has received the limit of the day gets no more shares, but keeps those that are
// granted, and may grab again on the next day.
func TestReceivedLimitRefusesGrabs(t *testing.T) {
	h := limitedService(t, 100, "boss", "ann", "bob")
	h.credit(t, "boss", 10_000)
	send := func() redpacket.Packet {
		return h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 180, Count: 3, TTL: 48 * time.Hour})
	}
	over := func(p redpacket.Packet, user string) {
		t.Helper()
		_, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID})
		var field *chat.FieldError
		if !errors.Is(err, chat.ErrLimitExceeded) || !errors.As(err, &field) || field.Field != "day_received" || field.Limit != 100 {
			t.Errorf("%s: %v, want the limit of the day", user, err)
		}
	}
	first, second, third := send(), send(), send()
	h.grab(t, "ann", first)
	if r := h.grab(t, "ann", second); r.Outcome != redpacket.OutcomeWon || r.Amount != 60 {
		t.Errorf("the share that crosses the limit: %+v, want it whole", r)
	}
	over(third, "ann")
	if r := h.grab(t, "ann", first); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a share that ann has: %+v", r)
	}
	h.grab(t, "bob", third)
	if _, err := h.packets.SetOwnLimits(t.Context(), "bob", redpacket.OwnLimits{Received: new(int64(100))}); err != nil {
		t.Fatal(err)
	}
	h.grab(t, "bob", first)
	over(second, "bob")
	if _, err := h.packets.SetOwnLimits(t.Context(), "bob", redpacket.OwnLimits{Received: new(redpacket.NoLimit)}); err != nil {
		t.Fatal(err)
	}
	h.grab(t, "bob", second)
	h.clock.advance(24 * time.Hour)
	if r := h.grab(t, "ann", third); r.Outcome != redpacket.OutcomeWon {
		t.Errorf("on the next day: %+v", r)
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// TestReceivedLimitHoldsWhileAUserGrabsAtOnce grabs many packets at the same moment. One share may cross the limit, and no other is
// granted after it.
func TestReceivedLimitHoldsWhileAUserGrabsAtOnce(t *testing.T) {
	h := limitedService(t, 95, "boss", "ann")
	h.credit(t, "boss", 10_000)
	packets := make([]redpacket.Packet, 40)
	for i := range packets {
		packets[i] = h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 20, Count: 2})
	}
	var won atomic.Int64
	var grabs sync.WaitGroup
	for _, p := range packets {
		grabs.Go(func() {
			r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: "ann", Packet: p.ID})
			switch {
			case err == nil && r.Outcome == redpacket.OutcomeWon:
				won.Add(1)
			case !errors.Is(err, chat.ErrLimitExceeded):
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	grabs.Wait()
	if won.Load() != 10 || h.balance(t, "ann") != 100 {
		t.Errorf("%d shares and a balance of %d, want 10 shares of 10", won.Load(), h.balance(t, "ann"))
	}
}

// TestDaysOfLimits checks when a day begins and ends.
func TestDaysOfLimits(t *testing.T) {
	at := time.Date(2026, 11, 25, 16, 0, 0, 0, time.UTC)
	for offset, from := range map[time.Duration]string{
		0: "2026-11-25T00:00:00Z", 8 * time.Hour: "2026-11-25T16:00:00Z", 7 * time.Hour: "2026-11-24T17:00:00Z", -5 * time.Hour: "2026-11-25T05:00:00Z",
	} {
		day := redpacket.DayLimits{Offset: offset}.Day(at)
		if got := day.From.Format(time.RFC3339); got != from || day.To.Sub(day.From) != 24*time.Hour {
			t.Errorf("offset %v: from %s to %v, want from %s", offset, got, day.To, from)
		}
	}
}

// TestReceivedLimitCountsItsLastUnit has a user receive exactly the limit of the day. The next grab must be refused.
func TestReceivedLimitCountsItsLastUnit(t *testing.T) {
	h := limitedService(t, 120, "boss", "ann")
	h.credit(t, "boss", 10_000)
	for i, want := range []error{nil, nil, chat.ErrLimitExceeded} {
		p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 180, Count: 3})
		if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID}); !errors.Is(err, want) {
			t.Errorf("grab %d of 60 each, with a limit of 120: %v, want %v", i+1, err, want)
		}
	}
	h.packets.Idle()
}

package redpacket_test

import (
	"errors"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestSelfLimitChanges changes a limit at several times. Lowering it must hold at once and cancel what was pending, and each raise must
// take a day.
func TestSelfLimitChanges(t *testing.T) {
	start := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	hours := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	const none = redpacket.NoLimit
	for name, c := range map[string]struct {
		asked []int64 // one change an hour, from the start on
		want  map[int]int64
	}{
		"a first limit":              {[]int64{100}, map[int]int64{0: 100, 100: 100}},
		"lower":                      {[]int64{100, 50}, map[int]int64{0: 100, 1: 50, 100: 50}},
		"raise":                      {[]int64{100, 200}, map[int]int64{1: 100, 24: 100, 25: 200}},
		"remove":                     {[]int64{100, none}, map[int]int64{24: 100, 25: none}},
		"lower after a raise":        {[]int64{100, 200, 99}, map[int]int64{2: 99, 100: 99}},
		"the present one":            {[]int64{100, 200, 100}, map[int]int64{2: 100, 100: 100}},
		"more than what is pending":  {[]int64{100, 200, 201}, map[int]int64{25: 100, 26: 201}},
		"less than what is pending":  {[]int64{100, 200, 150}, map[int]int64{24: 100, 25: 150}},
		"the same again":             {[]int64{100, 200, 200}, map[int]int64{24: 100, 25: 200}},
		"a number instead of none":   {[]int64{100, none, 300}, map[int]int64{24: 100, 25: 300}},
		"none instead of a number":   {[]int64{100, 300, none}, map[int]int64{25: 100, 26: none}},
		"nothing at all":             {[]int64{0}, map[int]int64{0: 0}},
		"no limit where there is no": {[]int64{none}, map[int]int64{0: none}},
	} {
		var l redpacket.SelfLimits
		for i, asked := range c.asked {
			l = l.Change(redpacket.SelfLimitsChange{Sent: &asked}, hours(i))
		}
		for hour, want := range c.want {
			if hour < len(c.asked)-1 {
				continue // the limits here are those after the last change
			}
			got := none
			if most := l.At(hours(hour)).Sent.Most; most != nil {
				got = *most
			}
			if got != want {
				t.Errorf("%s: %d after %d hours, want %d", name, got, hour, want)
			}
		}
		if l.Received != (redpacket.SelfLimit{}) {
			t.Errorf("%s: the other limit is %+v", name, l.Received)
		}
	}
}

func (h *testService) selfLimit(t *testing.T, user string, c redpacket.SelfLimitsChange) {
	t.Helper()
	if err := h.packets.SetSelfLimits(t.Context(), user, c); err != nil {
		t.Fatal(err)
	}
}

// refusedDay checks that an error is the refusal of a limit per day.
func refusedDay(t *testing.T, err error, field string, limit int) {
	t.Helper()
	var f *chat.FieldError
	if !errors.Is(err, chat.ErrLimitExceeded) || !errors.As(err, &f) || f.Field != field || f.Limit != limit {
		t.Errorf("%v, want %s over %d", err, field, limit)
	}
}

// TestSelfLimitsHoldAtOnce sets limits of users in a service without limits. They must hold for the next grab, although the standing of the
// user is cached, and be gone a day after their removal.
func TestSelfLimitsHoldAtOnce(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 10_000)
	h.credit(t, "ann", 10_000)
	send := func() redpacket.Packet {
		return h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 180, Count: 3, TTL: 48 * time.Hour})
	}
	grab := func(user string, p redpacket.Packet) error {
		_, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID})
		return err
	}
	first, second := send(), send()
	h.grab(t, "ann", first)
	h.selfLimit(t, "ann", redpacket.SelfLimitsChange{Received: new(int64(0)), Sent: new(int64(0))})
	refusedDay(t, grab("ann", second), "day_received", 0)
	h.rooms.Forget("", "ann")
	if _, err := h.rooms.Rooms(t.Context(), "ann"); err != nil { // caches the standings in all rooms
		t.Fatal(err)
	}
	refusedDay(t, grab("ann", second), "day_received", 0)
	if r := h.grab(t, "ann", first); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a share that ann has: %+v", r)
	}
	h.grab(t, "bob", second)
	draw := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1, Window: time.Minute})
	refusedDay(t, grab("ann", draw), "day_received", 0)
	_, err := h.packets.Send(t.Context(), chat.User{ID: "ann"}, redpacket.SendRequest{Room: h.room, Key: "k", Total: 1, Count: 1})
	refusedDay(t, err, "day_sent", 0)

	h.selfLimit(t, "ann", redpacket.SelfLimitsChange{Received: new(redpacket.NoLimit)})
	h.clock.advance(redpacket.SelfLimitDelay - time.Second)
	refusedDay(t, grab("ann", second), "day_received", 0)
	h.clock.advance(time.Second)
	if err := grab("ann", second); err != nil {
		t.Error(err)
	}
	_, err = h.packets.Send(t.Context(), chat.User{ID: "ann"}, redpacket.SendRequest{Room: h.room, Key: "k", Total: 1, Count: 1})
	refusedDay(t, err, "day_sent", 0) // only the other limit was removed
	h.packets.Idle()
}

// TestSelfLimitsNeverAllowMore sets a limit that is larger than that of the service.
func TestSelfLimitsNeverAllowMore(t *testing.T) {
	h := limitedService(t, 60, "boss", "ann")
	h.credit(t, "boss", 10_000)
	h.selfLimit(t, "ann", redpacket.SelfLimitsChange{Received: new(int64(500))})
	p, q := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 180, Count: 3}), h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 180, Count: 3})
	h.grab(t, "ann", p)
	_, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: q.ID})
	refusedDay(t, err, "day_received", 60)
}

func TestBadSelfLimitsChangeNothing(t *testing.T) {
	h := newTestService(t, "ann")
	for _, c := range []redpacket.SelfLimitsChange{{}, {Sent: new(int64(-2))}, {Sent: new(int64(5)), Received: new(int64(redpacket.MaxMoney) + 1)}} {
		if err := h.packets.SetSelfLimits(t.Context(), "ann", c); !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	used, _, err := h.packets.Today(t.Context(), "ann")
	if err != nil || used.Self != (redpacket.SelfLimits{}) {
		t.Errorf("%+v, %v", used.Self, err)
	}
}

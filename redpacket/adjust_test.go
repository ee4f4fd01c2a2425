package redpacket_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestAdjustLeavesATrace credits a wallet and repeats the request. The log has one line, with the actor and the
// reason of the credit.
func TestAdjustLeavesATrace(t *testing.T) {
	h := newTestService(t, "ann")
	var log bytes.Buffer
	packets := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	request := redpacket.AdjustRequest{User: "ann", Amount: 500, Key: "refill", Note: "a gift", Actor: "ops", RequestID: "ticket-7", Reason: "lost packet"}
	for i, wantDup := range []bool{false, true} {
		if _, dup, err := packets.Adjust(t.Context(), request); err != nil || dup != wantDup {
			t.Errorf("call %d: dup = %t, %v", i, dup, err)
		}
	}
	const want = `msg="wallet adjusted" user=ann amount=500 key=refill actor=ops request=ticket-7 reason="lost packet"`
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
		t.Errorf("log: %s, want one line with %s", got, want)
	}
}

// TestAdjustBoundsItsTexts sends texts that are too long or that Postgres cannot store.
func TestAdjustBoundsItsTexts(t *testing.T) {
	h := newTestService(t, "ann")
	for _, test := range []struct {
		change func(r *redpacket.AdjustRequest)
		want   error
	}{
		{func(r *redpacket.AdjustRequest) { r.Note = strings.Repeat("福", 201) }, chat.ErrTooLong},
		{func(r *redpacket.AdjustRequest) { r.Reason = strings.Repeat("福", 201) }, chat.ErrTooLong},
		{func(r *redpacket.AdjustRequest) { r.RequestID = strings.Repeat("x", 65) }, chat.ErrTooLong},
		{func(r *redpacket.AdjustRequest) { r.Reason = "a\x00b" }, chat.ErrBadRequest},
		{func(r *redpacket.AdjustRequest) {
			r.Note, r.Reason, r.RequestID = strings.Repeat("福", 200), strings.Repeat("福", 200), strings.Repeat("x", 64)
		}, nil},
	} {
		r := redpacket.AdjustRequest{User: "ann", Amount: 5, Key: h.key()}
		test.change(&r)
		if _, _, err := h.packets.Adjust(t.Context(), r); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v, want %v", r, err, test.want)
		}
	}
}

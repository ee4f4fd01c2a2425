package web

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// TestCreditStoresItsActor credits a wallet. The actor is the user of the token, whatever the request says.
func TestCreditStoresItsActor(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	ops := api.Caller{Admin: true, User: chat.User{ID: "ops"}}
	for method, id := range map[string]string{"credit": "a", "debit": "b"} {
		if method == "debit" {
			s.admin(t, "credit", wire.AdjustRequest{User: "ann", Amount: 5, Key: "money"})
		}
		request := encoded(t, wire.AdjustRequest{User: "ann", Amount: 5, Key: id, Note: "note", RequestID: "ticket-" + id, Reason: "reason " + id})
		if _, err := s.callAdmin(t.Context(), ops, method, request); err != nil {
			t.Fatal(err)
		}
		var actor, requestID, reason string
		err := s.db.QueryRowContext(t.Context(), `select actor, request_id, reason from transfers where key = ?`, id).Scan(&actor, &requestID, &reason)
		if err != nil || actor != "ops" || requestID != "ticket-"+id || reason != "reason "+id {
			t.Errorf("%s: %q, %q, %q, %v", method, actor, requestID, reason, err)
		}
	}
}

// TestHeadsChangeWithEachWrite asks for the heads of the hash chains before and after a credit. What is answered is what
// the database has, in the form that redpacket.ParseHead reads.
func TestHeadsChangeWithEachWrite(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	heads := func() (texts []string) {
		t.Helper()
		var reply wire.HeadsReply
		noError(t, json.Unmarshal(s.admin(t, "heads", nil), &reply))
		stored, err := s.packets.Heads(t.Context())
		if err != nil || len(stored) != len(reply.Heads) {
			t.Fatalf("%d heads are stored, %d answered, %v", len(stored), len(reply.Heads), err)
		}
		for i, text := range reply.Heads {
			if h, err := redpacket.ParseHead(text); err != nil || h != stored[i] {
				t.Errorf("%s is answered for %v, %v", text, stored[i], err)
			}
		}
		return reply.Heads
	}
	s.admin(t, "credit", wire.AdjustRequest{User: "ann", Amount: 5, Key: "first"})
	before := heads()
	s.admin(t, "credit", wire.AdjustRequest{User: "ann", Amount: 5, Key: "second"})
	after := heads()
	if len(before) == 0 || slices.Equal(before, after) {
		t.Errorf("heads %v, then %v", before, after)
	}
	s.admin(t, "credit", wire.AdjustRequest{User: "ann", Amount: 5, Key: "second"})
	if again := heads(); !slices.Equal(after, again) {
		t.Errorf("a repeated request changes the heads: %v, then %v", after, again)
	}
}

// TestHeadsAreMetrics stops the service, which reads the heads at its end. The metrics have the time and the first 48 bits
// of the head.
func TestHeadsAreMetrics(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	s.admin(t, "credit", wire.AdjustRequest{User: "ann", Amount: 5, Key: "first"})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	noError(t, s.packets.Run(stopped))
	stored, err := s.packets.Heads(t.Context())
	if err != nil || len(stored) != 1 {
		t.Fatalf("heads %v, %v", stored, err)
	}
	first, err := strconv.ParseUint(hex.EncodeToString(stored[0].Hash[:6]), 16, 64)
	noError(t, err)
	want := map[string]float64{
		"hongbao_chain_head_seconds": float64(stored[0].Link>>20) / 1000, "hongbao_chain_head_hash": float64(first),
	}
	families, err := s.metrics.Registry.Gather()
	noError(t, err)
	for _, f := range families {
		if value, ok := want[f.GetName()]; ok {
			delete(want, f.GetName())
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != value {
				t.Errorf("%s is %f, want %f", f.GetName(), got, value)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no metrics %v", want)
	}
}

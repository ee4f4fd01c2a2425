package redpacket_test

import (
	"slices"
	"testing"
	"time"

	"hongbao/redpacket"
)

// TestWaitingPacketsAreForTheUser sends packets that bob may grab before many that bob may not grab, or not yet. Those that wait for bob are the former,
// however small the page is.
func TestWaitingPacketsAreForTheUser(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 100_000)
	send := func(r redpacket.SendRequest) string {
		r.Mode, r.Total, r.Count = redpacket.Equal, 2, 2
		h.clock.advance(time.Second)
		return h.send(t, "boss", r).ID
	}
	want := []string{send(redpacket.SendRequest{}), send(redpacket.SendRequest{To: []string{"ann", "bob"}}), send(redpacket.SendRequest{EarlierMembers: true})}
	for range 12 {
		send(redpacket.SendRequest{To: []string{"ann", "boss"}})
	}
	send(redpacket.SendRequest{OpensAt: h.clock.now().Add(time.Hour)})
	slices.Reverse(want)
	for limit := 1; limit <= 4; limit++ {
		page, err := h.packets.Packets(t.Context(), redpacket.PacketsQuery{Of: "bob", Direction: redpacket.DirWaiting, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range page.Packets {
			got = append(got, p.Packet.ID)
		}
		if !slices.Equal(got, want[:min(limit, 3)]) {
			t.Errorf("at most %d that wait: %q, want %q", limit, got, want[:min(limit, 3)])
		}
	}
}

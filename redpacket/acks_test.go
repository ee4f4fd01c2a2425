package redpacket

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// slowPool takes a call's claims when it is let.
type slowPool struct {
	Pool
	calls chan int // how many claims there were
}

func (p slowPool) Ack(_ context.Context, claims []Claim) error {
	p.calls <- len(claims)
	return nil
}

// TestAcksGather: nobody waits for his own ack; what comes during a call goes with the next one.
func TestAcksGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slowPool{calls: make(chan int)}
		var running closers
		acks := &laterAcks{Pool: pool, closers: &running}
		ack := func() {
			if err := acks.Ack(t.Context(), []Claim{{}}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		var calls []int
		for range 3 { // over again when there was nothing to do
			for range 5 {
				ack()
			}
			calls = append(calls, <-pool.calls, <-pool.calls)
			synctest.Wait()
		}
		if !slices.Equal(calls, []int{1, 4, 1, 4, 1, 4}) {
			t.Errorf("calls of %v claims", calls)
		}
		running.stop() // does not wait for anybody
	})
}

// TestAcksOfOnesOwn: when the service has stopped, and when too many wait, who has settled acks.
func TestAcksOfOnesOwn(t *testing.T) {
	pool := slowPool{calls: make(chan int, 1)}
	var running closers
	crowded := &laterAcks{Pool: pool, closers: &running, busy: true, waiting: make([]Claim, maxAcks)}
	stopped := &laterAcks{Pool: pool, closers: &closers{stopped: true}}
	for name, acks := range map[string]*laterAcks{"crowded": crowded, "stopped": stopped} {
		if err := acks.Ack(t.Context(), make([]Claim, 7)); err != nil || len(pool.calls) != 1 {
			t.Fatalf("%s: %v, %d calls", name, err, len(pool.calls))
		}
		if n := <-pool.calls; n != 7 {
			t.Errorf("%s: %d claims", name, n)
		}
	}
}

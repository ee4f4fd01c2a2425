package redpacket

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// slowPool blocks in Ack until the test receives the call.
type slowPool struct {
	Pool
	calls chan int // for each call of Ack: its number of claims
}

func (p slowPool) Ack(_ context.Context, claims []Claim) error {
	p.calls <- len(claims)
	return nil
}

// TestAcksAreBatched acks claims while the Pool is slow. Ack must not block, and claims that are queued during one
// call of the Pool must go together in its next call.
func TestAcksAreBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slowPool{calls: make(chan int)}
		var running background
		acks := &asyncAcks{Pool: pool, background: &running}
		ack := func() {
			if err := acks.Ack(t.Context(), []Claim{{}}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		var calls []int
		for range 3 { // the second and third time start with a queue that was emptied
			for range 5 {
				ack()
			}
			calls = append(calls, <-pool.calls, <-pool.calls)
			synctest.Wait()
		}
		if !slices.Equal(calls, []int{1, 4, 1, 4, 1, 4}) {
			t.Errorf("calls of %v claims", calls)
		}
		running.stop() // must not block
	})
}

// TestAckCallsThePoolItself acks claims after the service has stopped, and while the queue is full. In both cases Ack
// must call the Pool itself.
func TestAckCallsThePoolItself(t *testing.T) {
	pool := slowPool{calls: make(chan int, 1)}
	var running background
	crowded := &asyncAcks{Pool: pool, background: &running, busy: true, waiting: make([]Claim, maxAcks)}
	stopped := &asyncAcks{Pool: pool, background: &background{stopped: true}}
	for name, acks := range map[string]*asyncAcks{"crowded": crowded, "stopped": stopped} {
		if err := acks.Ack(t.Context(), make([]Claim, 7)); err != nil || len(pool.calls) != 1 {
			t.Fatalf("%s: %v, %d calls", name, err, len(pool.calls))
		}
		if n := <-pool.calls; n != 7 {
			t.Errorf("%s: %d claims", name, n)
		}
	}
}

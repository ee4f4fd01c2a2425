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

// TestAcksAreBatched adds claims while the Pool is slow. add must not block, and claims that are queued during one
// call of the Pool must go together in its next call.
func TestAcksAreBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slowPool{calls: make(chan int)}
		var running background
		acks := &acks{pool: pool, background: &running}
		ack := func() {
			acks.add(t.Context(), []Claim{{}})
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

// TestAckCallsThePoolItself adds claims after the service has stopped, and while the queue is full. In both cases add
// must call the Pool itself.
func TestAckCallsThePoolItself(t *testing.T) {
	pool := slowPool{calls: make(chan int, 1)}
	var running background
	crowded := &acks{pool: pool, background: &running, busy: true, waiting: make([]Claim, maxAcks)}
	stopped := &acks{pool: pool, background: &background{stopped: true}}
	for name, acks := range map[string]*acks{"crowded": crowded, "stopped": stopped} {
		if acks.add(t.Context(), make([]Claim, 7)); len(pool.calls) != 1 {
			t.Fatalf("%s: %d calls", name, len(pool.calls))
		}
		if n := <-pool.calls; n != 7 {
			t.Errorf("%s: %d claims", name, n)
		}
	}
}

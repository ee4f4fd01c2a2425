package redpacket

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	closesAtOnce  = 32 // closes of one partition that run at the same time
	joinsAtOnce   = 16 // tasks that runParallel runs at the same time
	pausedCloses  = 10_000
	leastReclose  = CloseLease
	mostReclose   = 30 * time.Second
	recountPeriod = time.Second // in each period one partition is recounted in turn, and every partition that has answered Busy
)

// closeSlots bounds how many closes of one partition run at the same time. So closes that hang, on a dead node or a
// locked row, do not use up the goroutines that other partitions need.
type closeSlots struct {
	mu sync.Mutex
	// guarded by mu
	used [Partitions]int
	lost [Partitions]bool // the Pool failed the last close; until a close succeeds, only one may run at a time
}

// acquire takes a slot of the partition. It reports false if none is free.
func (p *closeSlots) acquire(partition int) bool {
	at := uint(partition) % Partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used[at] >= closesAtOnce || p.lost[at] && p.used[at] > 0 {
		return false
	}
	p.used[at]++
	return true
}

// release gives a slot of the partition back. poolFailed says whether the close failed in the Pool.
func (p *closeSlots) release(partition int, poolFailed bool) {
	at := uint(partition) % Partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[at]--
	p.lost[at] = poolFailed
}

// sweep starts to close the packets whose due date has come. Many closes run at the same time, so a close that hangs
// delays no other. sweep asks the Pool for one page of packets, plus as many packets as have failed lately. So packets
// that keep failing do not crowd others out of the page.
func (s *Service) sweep(ctx context.Context) {
	if s.clocks.err() != nil {
		return // no clock can be trusted to say what is due
	}
	due, err := s.pool.Due(ctx, pageOfWork+s.recloses.count()+s.poolTries.count())
	s.recordTask("sweep", &s.counts.sweep, err)
	for _, p := range due {
		if s.closeSoon(p) {
			s.counts.swept.Add(1)
		}
	}
	s.recloses.expire(s.o.Now())
	s.poolTries.expire(s.o.Now())
}

// closeSoon starts to close the packet in the background, and reports whether the close has started. A close that did
// not start or has failed is tried again when the due index or the backstop lists the packet again.
func (s *Service) closeSoon(p Ref) bool {
	if !s.mayClose(p) {
		return false
	}
	started := s.background.start(func() { s.closeNow(p, CloseDue) })
	if !started {
		s.closeSlots.release(p.Partition, false)
	}
	return started
}

// mayClose acquires a slot for a close of the packet. It reports false if the partition has no free slot, or if a
// close of the packet failed a moment ago. It also does while the ledger is out of reach, or the clocks are too far
// apart.
func (s *Service) mayClose(p Ref) bool {
	now := s.o.Now()
	return s.ledger.OutOfReach() == nil && s.clocks.err() == nil && !s.recloses.paused(p.ID, now) && !s.poolTries.paused(p.ID, now) &&
		s.closeSlots.acquire(p.Partition)
}

// closeNow closes a packet and releases the slot that mayClose has acquired for it. It counts and logs a failure.
func (s *Service) closeNow(p Ref, why CloseReason) {
	ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
	defer cancel()
	err := s.closeOne(ctx, p, why)
	var pool poolError
	s.closeSlots.release(p.Partition, errors.As(err, &pool))
	switch {
	case err == nil:
		s.recloses.forget(p.ID)
		s.poolTries.forget(p.ID)
	case pool.error != nil: // lets the partition try another packet next: perhaps only this one's keys are bad
		s.poolTries.fail(p.ID, s.o.Now())
	case s.ledger.OutOfReach() == nil: // both engines work, so the packet itself is at fault
		s.recloses.fail(p.ID, s.o.Now())
	}
	if err != nil {
		err = fmt.Errorf("packet %s: %w", p.ID, err)
	}
	s.recordTask("close", &s.counts.close, err)
}

func (s *Service) closeOne(ctx context.Context, p Ref, why CloseReason) error {
	key := p.ID + string('0'+rune(why)) // with the reason: only a close for the same reason may share the result
	_, err, _ := s.closing.Do(key, func() (any, error) {
		_, err := s.flow.close(ctx, p, why)
		return nil, err
	})
	if errors.Is(err, errNotDue) {
		return nil // the Pool lists the packet again at its deadline
	}
	return err
}

// runParallel runs the tasks, at most joinsAtOnce at the same time, and returns when all have ended.
func runParallel(tasks []func()) {
	var all sync.WaitGroup
	turn := make(chan struct{}, joinsAtOnce)
	for _, task := range tasks {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			task()
		})
	}
	all.Wait()
}

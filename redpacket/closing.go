package redpacket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/redpacket/crashpoint"
)

const (
	closesAtOnce  = 32 // most closes of one partition that run at the same time, not counting cancels
	tasksAtOnce   = 16 // most tasks that one call of runParallel runs at the same time
	pausedCloses  = 10_000
	leastReclose  = CloseLease
	mostReclose   = 30 * time.Second
	busyReclose   = 100 * time.Millisecond // pause of a close that has waited for the whole patience of the Ledger: see isBusy
	recountPeriod = time.Second            // in each period the next partition is recounted, and each that has answered Busy since the last recount
)

// closeSlots bounds how many closes of one partition run at the same time. Each partition has slots of its own, so closes
// that hang, on a dead node or a locked row, prevent none of another partition. A cancel by the sender takes no slot.
type closeSlots struct {
	mu sync.Mutex
	// guarded by mu
	used [Partitions]int
	lost [Partitions]bool // the last close failed in the Pool; while true, only one close of the partition may run at a time
}

// slotsOf returns the slots for a close of the packet, and their partition. Draws have slots of their own, because they need no Pool.
func (s *Service) slotsOf(p Ref) (slots *closeSlots, partition int) {
	if p.IsDraw() {
		return &s.drawSlots, partitionOf(p.ID)
	}
	return &s.closeSlots, p.Partition
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

// sweep starts to close the packets whose due date has come. Many closes run at the same time, so few of them wait for one
// that hangs (closeSlots). sweep asks the Pool for one page of packets, plus one packet for each whose close has failed
// lately. So packets whose closes keep failing do not crowd others out of the page.
func (s *Service) sweep(ctx context.Context) {
	if s.clocks.err() != nil {
		return // no clock can be trusted to say what is due
	}
	due, err := s.pool.Due(ctx, pageOfWork+s.recloses.count()+s.poolTries.count()+s.busyCloses.count())
	s.recordTask("sweep", &s.counts.sweep, err)
	// If many packets end together, each instance begins with other ones: otherwise all wait for the same rows.
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	for _, p := range due {
		if s.closeSoon(p) {
			s.counts.swept.Add(1)
		}
	}
	s.recloses.expire(s.o.Now())
	s.poolTries.expire(s.o.Now())
	s.busyCloses.expire(s.o.Now())
}

// closeSoon starts to close the packet in the background, and reports whether the close has started. A close that did
// not start or has failed is tried again when the due index or the backstop lists the packet again.
func (s *Service) closeSoon(p Ref) bool { return s.closeThen(p, func() {}) }

// closeThen does what closeSoon does, and calls then when the close has ended.
func (s *Service) closeThen(p Ref, then func()) bool {
	if !s.mayClose(p) {
		return false
	}
	started := s.background.start(func() {
		defer then()
		s.closeNow(p, CloseDue)
	})
	if !started {
		slots, partition := s.slotsOf(p)
		slots.release(partition, false)
	}
	return started
}

// mayClose acquires a slot for a close of the packet. It returns false, without a slot, if the partition has no free slot,
// while the packet is paused after a failed close, while the ledger is out of reach, and while the clocks are too far apart.
func (s *Service) mayClose(p Ref) bool {
	now := s.o.Now()
	slots, partition := s.slotsOf(p)
	return s.ledger.OutOfReach() == nil && s.clocks.err() == nil && !s.recloses.paused(p.ID, now) && !s.poolTries.paused(p.ID, now) &&
		!s.busyCloses.paused(p.ID, now) && slots.acquire(partition)
}

// isBusy reports whether a call may succeed soon: other calls kept it from its rows, or no answer came in time. That says nothing about the
// packet.
func isBusy(err error) bool {
	var busy interface{ Busy() bool }
	return errors.As(err, &busy) && busy.Busy() || errors.Is(err, context.DeadlineExceeded)
}

// closeNow closes a packet and releases the slot that mayClose has acquired for it. It counts and logs a failure, and
// reports whether there was none.
func (s *Service) closeNow(p Ref, why CloseReason) bool {
	ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
	defer cancel()
	err := s.closeOne(ctx, p, why)
	var pool poolError
	slots, partition := s.slotsOf(p)
	slots.release(partition, errors.As(err, &pool))
	switch {
	case err == nil:
		s.recloses.forget(p.ID)
		s.poolTries.forget(p.ID)
		s.busyCloses.forget(p.ID)
	case pool.error != nil: // pauses this packet, so that the partition tries another one next: perhaps only its keys are bad
		s.poolTries.fail(p.ID, s.o.Now())
	case errors.Is(err, errUnpaid): // the next wave must not wait
	case isBusy(err): // for example because other packets of the room end at the same time
		s.busyCloses.fail(p.ID, s.o.Now())
	case s.ledger.OutOfReach() == nil: // both engines seem to work, so the packet itself is at fault
		s.recloses.fail(p.ID, s.o.Now())
	}
	if err != nil {
		err = fmt.Errorf("packet %s: %w", p.ID, err)
	}
	s.recordTask("close", &s.counts.close, err)
	return err == nil
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

// runParallel runs the tasks, at most tasksAtOnce at the same time, and returns when all have ended.
func runParallel(tasks []func()) {
	var all sync.WaitGroup
	turn := make(chan struct{}, tasksAtOnce)
	for _, task := range tasks {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			task()
		})
	}
	all.Wait()
}

// The packets of a deleted room are closed early. The instance that deletes the room begins as soon as the deletion is
// committed (RoomDeleted). If the instance dies or a close fails, a background task of every instance finds the
// packets that are still open in SQL (closeDeletedRooms). Nothing can be sent into a deleted room, so one pass over
// its packets sees all of them. The same list (Ledger.DeletedRooms) removes the members of large rooms in steps.

const (
	roomsPerPass = 200 // deleted rooms that one pass of closeDeletedRooms examines
	closesOfRoom = 8   // most packets of one list, such as those of a deleted room, that are closed at the same time
)

// RoomDeleted starts to close the open packets of a room whose deletion was committed by this instance. It does not
// block.
func (s *Service) RoomDeleted(room string) {
	crashpoint.Here("delete.after-commit")
	s.closeRoom(room)
}

// closeRoom closes the open packets of a deleted room in the background. It does nothing if this instance is already
// closing them.
func (s *Service) closeRoom(room string) {
	if !s.deleted.begin(room) {
		return
	}
	if !s.background.start(func() {
		defer s.deleted.end(room)
		err := s.flow.closeRoom(context.Background(), room, func(packets []Ref) bool { return s.closeAll(packets, nil) })
		if err != nil {
			err = fmt.Errorf("room %s: %w", room, err)
		}
		s.recordTask("deleted rooms", &s.counts.deleted, err)
	}) {
		s.deleted.end(room)
	}
}

// closeDeletedRooms examines the next deleted rooms and starts to close their open packets. Each room has a goroutine
// of its own, so a room whose packets cannot be closed delays no other room.
func (s *Service) closeDeletedRooms(ctx context.Context) {
	rooms, next, err := s.ledger.DeletedRooms(ctx, s.deleted.next, roomsPerPass)
	s.deleted.next = next // empty after the last room and if the list cannot be read: the next pass starts at the first room
	for _, room := range rooms {
		s.closeRoom(room)
	}
	s.recordTask("deleted rooms", &s.counts.deleted, err)
}

// closeAll closes the given packets early and blocks until each close has ended. A packet that mayClose refuses, or whose
// close fails, is left to the next pass. If closed is not nil, it counts the packets that were closed. closeAll returns
// false if the service is stopping: other instances close the rest.
func (s *Service) closeAll(packets []Ref, closed *atomic.Int64) bool {
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, closesOfRoom)
	for _, p := range packets {
		slots <- struct{}{}
		if s.background.stopping() {
			return false
		}
		all.Go(func() {
			defer func() { <-slots }()
			if s.mayClose(p) && s.closeNow(p, CloseEarly) && closed != nil {
				closed.Add(1)
			}
		})
	}
	return true
}

// closeRoom closes the open packets of a deleted room.
func (f *flow) closeRoom(ctx context.Context, room string, closeAll func([]Ref) bool) error {
	return eachPage(ctx, closeAll, func(ctx context.Context, after string) ([]Ref, error) {
		return f.ledger.OpenInDeleted(ctx, room, after, pageOfWork)
	})
}

// eachPage lists packets page by page, and calls closeAll with each page. It continues if packets of a page could not be
// closed. It ends early when closeAll returns false.
func eachPage(ctx context.Context, closeAll func([]Ref) bool, list func(ctx context.Context, after string) ([]Ref, error)) error {
	after := ""
	for {
		page, err := listPage(ctx, after, list)
		if err != nil {
			return err
		}
		if !closeAll(page) || len(page) < pageOfWork {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

func listPage(ctx context.Context, after string, list func(ctx context.Context, after string) ([]Ref, error)) ([]Ref, error) {
	ctx, cancel := context.WithTimeout(ctx, detachedTimeout)
	defer cancel()
	return list(ctx, after)
}

// deletedRooms holds the deleted rooms whose packets this instance is closing now.
type deletedRooms struct {
	next string // only closeDeletedRooms uses it: its next pass examines the rooms after this one

	mu   sync.Mutex
	busy map[string]struct{} // guarded by mu
}

// begin marks the room and returns true, unless a goroutine of this instance is already closing the room's packets.
// After true the caller must call end.
func (d *deletedRooms) begin(room string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, busy := d.busy[room]; busy {
		return false
	}
	if d.busy == nil {
		d.busy = map[string]struct{}{}
	}
	d.busy[room] = struct{}{}
	return true
}

func (d *deletedRooms) end(room string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, room)
}

// A new epoch of the database begins when the database has lost commits. Among these may be the end of a packet, which
// revealed its seed. Then the packet is open again, and its shares are known. So the packets that were open when the
// epoch began are ended early: the grants that the Pool knows are paid, and the rest is refunded.

// Forget drops the cached packets, the ids without a packet, and the accounts that were published last. Call it when the database has lost commits.
// Forget drops them once more after detachedTimeout: reads that are under way now may cache what they read before the loss.
func (s *Service) Forget() {
	s.forget()
	time.AfterFunc(detachedTimeout, s.forget)
}

// ForgetSender drops the cached packets of a user whose name and words are erased, and once more after detachedTimeout, as Forget does.
func (s *Service) ForgetSender(user string) {
	forget := func() {
		s.memory.dropOf(user)
		s.lastCampaign.Store(nil)
	}
	forget()
	time.AfterFunc(detachedTimeout, forget)
}

func (s *Service) forget() {
	s.memory.clear()
	s.unknown.clear()
	s.wallets.clear()
	s.lastCampaign.Store(nil)
	s.rains.forget(func(*rain) bool { return false })
}

// endFromBefore ends early the open packets that were sent before the epoch began. Every instance does so. A packet that
// two instances close at the same time is still closed once.
func (s *Service) endFromBefore(ctx context.Context) {
	before := s.flow.settledAtClose.Load()
	var closed atomic.Int64
	err := eachPage(ctx, func(packets []Ref) bool { return s.closeAll(packets, &closed) }, func(ctx context.Context, after string) ([]Ref, error) {
		return s.ledger.OpenFromBefore(ctx, after, pageOfWork)
	})
	if ended := closed.Load(); ended > 0 {
		s.counts.endedEarly.Add(ended)
		s.o.Log.Warn("packets ended early, because the database has lost commits", "packets", ended,
			"claims_paid_again", s.flow.settledAtClose.Load()-before)
	}
	s.recordTask("packets from before the epoch", &s.counts.fromBefore, err)
}

package hub

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A hierarchical timer wheel: four levels of 64 slots, a tick of 50 ms, so about nine days; what lies further is put
// at the horizon and asked again there. Arming, disarming and firing cost O(1), an idle tick nothing.
const (
	tick       = 50 * time.Millisecond
	wheelBits  = 6
	wheelSlots = 1 << wheelBits
	wheelDepth = 4
	horizon    = 1<<(wheelBits*wheelDepth) - 1 // ticks
)

// timed is what a timer belongs to. fire runs on the clock's goroutine without the wheel's lock, and must not block; who
// has something to write joins the round. A timer may fire although it was moved or disarmed a moment before: fire looks
// for itself whether anything is due.
type timed interface {
	fire(now int64, next *round) *round
}

// timer is embedded in its owner; a zero next means not armed.
type timer struct {
	prev, next *timer
	due        int64  // tick
	owner      timed  // static after deal
	wheel      *wheel // static after deal
}

// wheels are the hub's timers on as many wheels as shall be armed at a time without waiting for each other. They turn
// together.
type wheels struct {
	start time.Time
	dealt atomic.Uint32
	all   [16]wheel
}

// wheel keeps a part of the timers.
type wheel struct {
	mu    sync.Mutex
	done  int64 // the last tick that was fired
	armed int
	slots [wheelDepth][wheelSlots]timer // heads of circular lists
}

func (w *wheels) init() {
	w.start = time.Now()
	for i := range w.all {
		w.all[i].init()
	}
}

// deal gives the owner's timer one of the wheels, in turn.
func (w *wheels) deal(t *timer, owner timed) {
	t.owner, t.wheel = owner, &w.all[w.dealt.Add(1)%uint32(len(w.all))]
}

func (w *wheel) init() {
	for level := range w.slots {
		for i := range w.slots[level] {
			head := &w.slots[level][i]
			head.prev, head.next = head, head
		}
	}
}

// now is the current tick.
func (w *wheels) now() int64 { return int64(time.Since(w.start) / tick) }

// at is the first tick not before t.
func (w *wheels) at(t time.Time) int64 {
	wait := t.Sub(w.start) // the longest Duration for what is further off: nothing may be added to it
	ticks := int64(wait / tick)
	if wait%tick > 0 {
		ticks++
	}
	return ticks
}

// after is the first tick at which d has passed.
func (w *wheels) after(d time.Duration) int64 { return w.at(time.Now().Add(d)) }

// arm sets or moves the timer.
func (t *timer) arm(due int64) {
	w := t.wheel
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(t)
	t.due = max(due, w.done+1)
	w.place(t)
	w.armed++
}

// disarm takes the timer out.
func (t *timer) disarm() {
	w := t.wheel
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(t)
}

func (w *wheel) unlink(t *timer) {
	if t.next == nil {
		return
	}
	t.prev.next, t.next.prev = t.next, t.prev
	t.prev, t.next = nil, nil
	w.armed--
}

// place links the timer into the slot of its due tick, seen from the tick done.
func (w *wheel) place(t *timer) {
	due := min(t.due, w.done+horizon)
	level := 0
	for level < wheelDepth-1 && due-w.done >= 1<<(wheelBits*(level+1)) {
		level++
	}
	head := &w.slots[level][due>>(wheelBits*level)&(wheelSlots-1)]
	t.prev, t.next = head.prev, head
	head.prev.next, head.prev = t, t
}

// advance moves the wheel to the tick now and appends the owners of all due timers.
func (w *wheel) advance(now int64, due []timed) []timed {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.done < now {
		if w.armed == 0 {
			w.done = now
			break
		}
		w.done++
		for level := 1; level < wheelDepth && w.done&(1<<(wheelBits*level)-1) == 0; level++ {
			w.cascade(&w.slots[level][w.done>>(wheelBits*level)&(wheelSlots-1)])
		}
		head := &w.slots[0][w.done&(wheelSlots-1)]
		for head.next != head {
			t := head.next
			w.unlink(t)
			due = append(due, t.owner)
		}
	}
	return due
}

// cascade spreads a slot of a higher level over the lower ones, when its time has come near.
func (w *wheel) cascade(head *timer) {
	first := head.next
	head.prev.next = nil
	head.prev, head.next = head, head
	for t := first; t != nil && t != head; {
		next := t.next
		w.place(t)
		t = next
	}
}

// runClock turns the wheels.
func (h *Hub) runClock(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var due []timed
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := h.wheels.now()
		var pings *round
		for i := range h.wheels.all {
			due = h.wheels.all[i].advance(now, due[:0])
			for i, owner := range due {
				pings = owner.fire(now, pings)
				due[i] = nil
			}
		}
		pings.start()
		h.flushLate()
	}
}

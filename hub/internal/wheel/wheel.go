package wheel

import (
	"sync"
	"sync/atomic"
	"time"
)

// Tick is a time: the number of Intervals since the wheels were started.
type Tick int64

// Interval is the duration of a tick.
const Interval = 50 * time.Millisecond

const (
	slotBits = 6
	slots    = 1 << slotBits
	levels   = 4
	horizon  = 1<<(slotBits*levels) - 1 // number of ticks that all levels cover together
)

// Owner is the object that a timer belongs to and whose Fire it calls.
type Owner interface {
	// Fire is called when the timer is due, on the goroutine that calls Advance. It must not block. Another goroutine
	// may have moved or stopped the timer a moment before, so Fire must check whether anything is due.
	Fire(now Tick)
}

// Timer is one timer, a field of its owner. Call Wheels.Assign before arming it.
type Timer struct {
	prev, next *Timer // nil: not armed
	due        Tick
	owner      Owner  // static after Assign
	wheel      *wheel // static after Assign
}

// Wheels holds the timers of a hub. They are distributed over several wheels, so that goroutines that arm timers
// concurrently seldom wait for each other.
type Wheels struct {
	start    time.Time
	assigned atomic.Uint32 // number of timers assigned so far
	all      [16]wheel
	fired    []Owner // owned by Advance
}

// wheel holds some of the timers.
type wheel struct {
	mu    sync.Mutex
	done  Tick // the last tick whose timers were fired
	armed int
	slots [levels][slots]Timer // heads of circular lists
}

// New starts the wheels at tick 0.
func New() *Wheels {
	w := &Wheels{start: time.Now()}
	for i := range w.all {
		w.all[i].init()
	}
	return w
}

func (w *wheel) init() {
	for level := range w.slots {
		for i := range w.slots[level] {
			head := &w.slots[level][i]
			head.prev, head.next = head, head
		}
	}
}

// Assign assigns the timer to the owner and to one of the wheels, in round-robin order.
func (w *Wheels) Assign(t *Timer, owner Owner) {
	t.owner, t.wheel = owner, &w.all[w.assigned.Add(1)%uint32(len(w.all))]
}

// Start returns the time of tick 0.
func (w *Wheels) Start() time.Time { return w.start }

// Now returns the current tick.
func (w *Wheels) Now() Tick { return Tick(time.Since(w.start) / Interval) }

// At returns the first tick that is not before t.
func (w *Wheels) At(t time.Time) Tick {
	wait := t.Sub(w.start) // Sub saturates for a distant t, so nothing may be added to the result
	ticks := Tick(wait / Interval)
	if wait%Interval > 0 {
		ticks++
	}
	return ticks
}

// After returns the first tick that is at least d from now.
func (w *Wheels) After(d time.Duration) Tick { return w.At(time.Now().Add(d)) }

// Arm starts or moves the timer. If due is in the past, the timer fires at the next tick.
func (t *Timer) Arm(due Tick) {
	w := t.wheel
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(t)
	t.due = max(due, w.done+1)
	w.link(t)
	w.armed++
}

// Disarm stops the timer.
func (t *Timer) Disarm() {
	w := t.wheel
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(t)
}

func (w *wheel) unlink(t *Timer) {
	if t.next == nil {
		return
	}
	t.prev.next, t.next.prev = t.next, t.prev
	t.prev, t.next = nil, nil
	w.armed--
}

// link puts the timer into the slot for its due tick. The slot depends on the distance from the last fired tick.
func (w *wheel) link(t *Timer) {
	due := min(t.due, w.done+horizon)
	level := 0
	for level < levels-1 && due-w.done >= 1<<(slotBits*(level+1)) {
		level++
	}
	head := &w.slots[level][due>>(slotBits*level)&(slots-1)]
	t.prev, t.next = head.prev, head
	head.prev.next, head.prev = t, t
}

// Advance fires all timers that are due by the current tick. Only one goroutine may call it.
func (w *Wheels) Advance() {
	now := w.Now()
	for i := range w.all {
		w.fired = w.all[i].advance(now, w.fired[:0])
		for j, owner := range w.fired {
			owner.Fire(now)
			w.fired[j] = nil
		}
	}
}

// advance moves the wheel to the tick now. It appends the owners of all due timers to due and returns the result.
func (w *wheel) advance(now Tick, due []Owner) []Owner {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.done < now {
		if w.armed == 0 {
			w.done = now
			break
		}
		w.done++
		for level := 1; level < levels && w.done&(1<<(slotBits*level)-1) == 0; level++ {
			w.cascade(&w.slots[level][w.done>>(slotBits*level)&(slots-1)])
		}
		head := &w.slots[0][w.done&(slots-1)]
		for head.next != head {
			t := head.next
			w.unlink(t)
			due = append(due, t.owner)
		}
	}
	return due
}

// cascade places the timers of a slot of a higher level again, when the slot's time range begins. They go to lower levels, or to
// the last level again if they are still beyond the horizon.
func (w *wheel) cascade(head *Timer) {
	first := head.next
	head.prev.next = nil
	head.prev, head.next = head, head
	for t := first; t != nil && t != head; {
		next := t.next
		w.link(t)
		t = next
	}
}

package wheel

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is the owner of a timer. It records the ticks at which the timer fired.
type recorder struct {
	timer Timer
	due   Tick
	fired []Tick
}

func (r *recorder) Fire(now Tick) { r.fired = append(r.fired, now) }

func newWheel() *wheel {
	w := &wheel{}
	w.init()
	return w
}

// assign assigns the recorder's timer to the wheel.
func (r *recorder) assign(w *wheel) { r.timer.owner, r.timer.wheel = r, w }

// step advances the wheel by one tick and returns how many timers fired.
func (w *wheel) step() int {
	owners := w.advance(w.done+1, nil)
	for _, owner := range owners {
		owner.Fire(w.done)
	}
	return len(owners)
}

// TestTimersFireExactlyAtTheirTick arms, moves and stops timers at random. At each tick exactly the timers that are due
// must fire.
func TestTimersFireExactlyAtTheirTick(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWheel()
	recorders := make([]recorder, 200)
	byTick := map[Tick]map[int]bool{} // the recorders that are due at each tick
	for range 300_000 {
		i := random.IntN(len(recorders))
		r := &recorders[i]
		r.assign(w)
		switch random.IntN(20) {
		case 0:
			delete(byTick[r.timer.due], i)
			// Distances of all magnitudes, so that every level and its borders are used.
			due := w.done + 1 + Tick(random.Int64N(1<<random.IntN(18)))
			r.timer.Arm(due)
			if byTick[due] == nil {
				byTick[due] = map[int]bool{}
			}
			byTick[due][i] = true
		case 1:
			delete(byTick[r.timer.due], i)
			r.timer.Disarm()
		}
		fired := w.step()
		if fired != len(byTick[w.done]) {
			t.Fatalf("tick %d: %d timers fired, %d are due", w.done, fired, len(byTick[w.done]))
		}
		for i := range byTick[w.done] {
			if n := len(recorders[i].fired); n == 0 || recorders[i].fired[n-1] != w.done {
				t.Fatalf("tick %d: timer %d is due and fired at %v", w.done, i, recorders[i].fired)
			}
		}
		delete(byTick, w.done)
	}
}

func TestTimerBeyondTheHorizonFiresAtItsTick(t *testing.T) {
	w := newWheel()
	var r recorder
	r.assign(w)
	const due = horizon + 12345
	r.timer.Arm(due)
	// Nothing else is armed, so the ticks before the slot that holds the timer can be skipped.
	const slot = 1 << (slotBits * (levels - 1))
	w.done = horizon/slot*slot - 1
	for w.done < due {
		w.step()
	}
	if len(r.fired) != 1 || r.fired[0] != due {
		t.Errorf("fired at %v, want once at %d", r.fired, due)
	}
}

func TestTimerOfThePastFiresAtTheNextTick(t *testing.T) {
	w := newWheel()
	w.advance(1000, nil)
	var r recorder
	r.assign(w)
	r.timer.Arm(3)
	w.step()
	if len(r.fired) != 1 {
		t.Errorf("fired %d times at the next tick, want once", len(r.fired))
	}
}

// TestFarFutureIsNotThePast arms a timer for a time that is further away than a time.Duration can hold, as for a token
// that never expires. The timer must not fire.
func TestFarFutureIsNotThePast(t *testing.T) {
	w := New()
	never := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if at := w.At(never); at <= w.Now()+horizon {
		t.Errorf("the year 9999 is tick %d, and tick %d is now", at, w.Now())
	}
}

// TestConcurrentArming has many goroutines arm, move and stop timers concurrently. Each armed timer must fire once, not
// before its tick. A timer that was stopped before its tick must not fire.
func TestConcurrentArming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New()
		const goroutines, each = 8, 200
		recorders := make([]recorder, goroutines*each)
		var arming sync.WaitGroup
		for g := range goroutines {
			arming.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(g)))
				for i := range each {
					r := &recorders[g*each+i]
					w.Assign(&r.timer, r)
					r.timer.Arm(w.Now() + 1 + Tick(random.Int64N(50)))
					r.due = w.Now() + 60 + Tick(random.Int64N(500))
					r.timer.Arm(r.due)
					if i%3 == 0 {
						r.due = 0
						r.timer.Disarm()
					}
				}
			})
		}
		arming.Wait()
		used := map[*wheel]int{}
		for i := range recorders {
			used[recorders[i].timer.wheel]++
		}
		if len(used) != len(w.all) {
			t.Errorf("%d of %d wheels are used", len(used), len(w.all))
		}
		for range 600 {
			time.Sleep(Interval)
			w.Advance()
		}
		for i := range recorders {
			r := &recorders[i]
			if r.due != 0 && (len(r.fired) != 1 || r.fired[0] != r.due) || r.due == 0 && len(r.fired) != 0 {
				t.Fatalf("timer %d, due at %d (0: never), fired at %v", i, r.due, r.fired)
			}
		}
	})
}

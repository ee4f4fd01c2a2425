package hub

import (
	"math/rand/v2"
	"testing"
	"time"
)

// alarm is a timer that remembers when it fired.
type alarm struct {
	timer timer
	fired []int64
}

func (a *alarm) fire(now int64) { a.fired = append(a.fired, now) }

func newWheel() *wheel {
	w := &wheel{}
	w.init()
	return w
}

// turn advances the wheel one tick, and tells how many timers fired.
func (w *wheel) turn() int {
	owners := w.advance(w.done+1, nil)
	for _, owner := range owners {
		owner.fire(w.done)
	}
	return len(owners)
}

// TestWheelProperty arms, moves and disarms at random; each timer fires at its tick exactly.
func TestWheelProperty(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWheel()
	alarms := make([]alarm, 200)
	byTick := map[int64]map[int]bool{} // which alarms are due
	for range 300_000 {
		i := random.IntN(len(alarms))
		a := &alarms[i]
		a.timer.owner = a
		switch random.IntN(20) {
		case 0:
			delete(byTick[a.timer.due], i)
			// Steps of all sizes, so that every level and its borders are used.
			due := w.done + 1 + random.Int64N(1<<random.IntN(18))
			w.arm(&a.timer, due)
			if byTick[due] == nil {
				byTick[due] = map[int]bool{}
			}
			byTick[due][i] = true
		case 1:
			delete(byTick[a.timer.due], i)
			w.disarm(&a.timer)
		}
		fired := w.turn()
		if fired != len(byTick[w.done]) {
			t.Fatalf("tick %d: %d timers fired, %d are due", w.done, fired, len(byTick[w.done]))
		}
		for i := range byTick[w.done] {
			if n := len(alarms[i].fired); n == 0 || alarms[i].fired[n-1] != w.done {
				t.Fatalf("tick %d: alarm %d is due and fired at %v", w.done, i, alarms[i].fired)
			}
		}
		delete(byTick, w.done)
	}
}

func TestWheelBeyondItsHorizon(t *testing.T) {
	w := newWheel()
	var a alarm
	a.timer.owner = &a
	const due = horizon + 12345
	w.arm(&a.timer, due)
	// Nothing else is armed: the ticks up to the slot that holds the timer can be left out.
	const slot = 1 << (wheelBits * (wheelDepth - 1))
	w.done = horizon/slot*slot - 1
	for w.done < due {
		w.turn()
	}
	if len(a.fired) != 1 || a.fired[0] != due {
		t.Errorf("fired at %v, want %d", a.fired, due)
	}
}

func TestWheelPastIsNext(t *testing.T) {
	w := newWheel()
	w.advance(1000, nil)
	var a alarm
	a.timer.owner = &a
	w.arm(&a.timer, 3)
	w.turn()
	if len(a.fired) != 1 {
		t.Error("a timer of the past did not fire at the next tick")
	}
}

// A token may be good for ever: a time further off than a Duration reaches is not over at once.
func TestWheelFarFuture(t *testing.T) {
	w := newWheel()
	never := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if at := w.at(never); at <= w.now()+horizon {
		t.Errorf("the year 9999 comes at tick %d, now is %d", at, w.now())
	}
}

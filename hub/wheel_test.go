package hub

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// alarm is a timer that remembers when it fired.
type alarm struct {
	timer timer
	fired []int64
}

func (a *alarm) fire(now int64, next *round) *round {
	a.fired = append(a.fired, now)
	return next
}

func newWheel() *wheel {
	w := &wheel{}
	w.init()
	return w
}

// give puts the alarm's timer on the wheel.
func (a *alarm) give(w *wheel) { a.timer.owner, a.timer.wheel = a, w }

// turn advances the wheel one tick, and tells how many timers fired.
func (w *wheel) turn() int {
	owners := w.advance(w.done+1, nil)
	for _, owner := range owners {
		owner.fire(w.done, nil)
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
		a.give(w)
		switch random.IntN(20) {
		case 0:
			delete(byTick[a.timer.due], i)
			// Steps of all sizes, so that every level and its borders are used.
			due := w.done + 1 + random.Int64N(1<<random.IntN(18))
			a.timer.arm(due)
			if byTick[due] == nil {
				byTick[due] = map[int]bool{}
			}
			byTick[due][i] = true
		case 1:
			delete(byTick[a.timer.due], i)
			a.timer.disarm()
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
	a.give(w)
	const due = horizon + 12345
	a.timer.arm(due)
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
	a.give(w)
	a.timer.arm(3)
	w.turn()
	if len(a.fired) != 1 {
		t.Error("a timer of the past did not fire at the next tick")
	}
}

// A token may be good for ever: a time further off than a Duration reaches is not over at once.
func TestWheelFarFuture(t *testing.T) {
	var w wheels
	w.init()
	never := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if at := w.at(never); at <= w.now()+horizon {
		t.Errorf("the year 9999 comes at tick %d, now is %d", at, w.now())
	}
}

// TestWheelsTogether: timers that are armed, moved and disarmed by many at a time fire once each, none too early, and none that
// was disarmed before its tick.
func TestWheelsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Ping: func(Encoding) []byte { return nil }})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = h.Run(ctx) }()
		const hands, each = 8, 200
		bells := make([]bell, hands*each)
		var arming sync.WaitGroup
		for hand := range hands {
			arming.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(hand)))
				for i := range each {
					b := &bells[hand*each+i]
					h.wheels.deal(&b.timer, b)
					b.timer.arm(h.wheels.now() + 1 + random.Int64N(50))
					b.due = h.wheels.now() + 60 + random.Int64N(500)
					b.timer.arm(b.due)
					if i%3 == 0 {
						b.due = 0
						b.timer.disarm()
					}
				}
			})
		}
		arming.Wait()
		used := map[*wheel]int{}
		for i := range bells {
			used[bells[i].timer.wheel]++
		}
		if len(used) != len(h.wheels.all) {
			t.Errorf("%d of %d wheels are used", len(used), len(h.wheels.all))
		}
		time.Sleep(600 * tick)
		synctest.Wait()
		for i := range bells {
			if b := &bells[i]; b.due != 0 && (b.rung != 1 || b.at != b.due) || b.due == 0 && b.rung != 0 {
				t.Fatalf("bell %d, due at %d, has rung %d times, last at %d", i, b.due, b.rung, b.at)
			}
		}
		stop()
	})
}

// bell is a timer that counts how often it fires.
type bell struct {
	timer   timer
	due, at int64
	rung    int
}

func (b *bell) fire(now int64, next *round) *round {
	b.rung, b.at = b.rung+1, now
	return next
}

package push

import (
	"testing"
	"time"
)

// TestWaitsOfManyEndTheBudgetOnce has a hundred callers wait at once while the store is slow. Afterwards the budget must come back as
// soon as after one caller.
func TestWaitsOfManyEndTheBudgetOnce(t *testing.T) {
	var b waitBudget
	began := time.Now()
	for range 100 {
		if left := b.left(began); left != mostWait {
			t.Fatalf("%v are left before the first wait has ended, want %v", left, mostWait)
		}
	}
	for range 100 {
		b.spend(mostWait)
	}
	if left := b.left(began); left > 0 {
		t.Errorf("%v are left after the waits, want nothing", left)
	}
	if left := b.left(began.Add(5 * time.Second)); left < mostWait/3 {
		t.Errorf("%v are left 5s later, want a third of %v at least", left, mostWait)
	}
}

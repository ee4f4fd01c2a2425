package keylock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLocks locks a key, which a second caller waits for. Other keys must be free, the wait must end with its context, and nothing may be left.
func TestLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks Locks
		take := func(key string, wait time.Duration) (func(), error) {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			return locks.Lock(ctx, key)
		}
		unlock, err := take("ann", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := take("ann", time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a locked key: %v, want that the wait ends", err)
		}
		other, err := take("bob", time.Second)
		if err != nil {
			t.Fatalf("another key: %v", err)
		}
		other()
		time.AfterFunc(time.Second, unlock)
		unlock, err = take("ann", time.Minute)
		if err != nil {
			t.Fatalf("after the first caller: %v", err)
		}
		unlock()
		synctest.Wait() // the first caller may still be in its unlock
		if len(locks.locks) > 0 {
			t.Errorf("left: %v", locks.locks)
		}
	})
}

// TestHolders lets two callers hold a key. A third one must wait for one of them.
func TestHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := Locks{Holders: 2}
		for range 2 {
			unlock, err := locks.Lock(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, unlock)
		}
		began := time.Now()
		unlock, err := locks.Lock(t.Context(), "ann")
		if err != nil || time.Since(began) != time.Second {
			t.Fatalf("the third caller: %v after %s, want success after a second", err, time.Since(began))
		}
		unlock()
	})
}

// TestLateCallerGetsAFreeKey asks often with a context that has ended: the verdict must not hang on which of two ready things Go chooses.
func TestLateCallerGetsAFreeKey(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var locks Locks
	for range 100 {
		unlock, err := locks.Lock(ctx, "ann")
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
}

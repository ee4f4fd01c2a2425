package hook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneUserHoldsFewPlaces lets one user ask 100 questions that get no answer. The questions of other users must get places.
func TestOneUserHoldsFewPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(4, 2, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan func(), 100)
		for range 100 {
			go func() {
				if release, err := p.take(ctx, "ann"); err == nil {
					ends <- release
				}
			}()
		}
		synctest.Wait()
		if len(ends) != 2 {
			t.Fatalf("a user has %d places, want 2", len(ends))
		}
		for range 2 {
			release, err := p.take(t.Context(), "bob")
			if err != nil {
				t.Fatalf("another user: %v", err)
			}
			defer release()
		}
		(<-ends)() // a place of ann is free for her next question
		synctest.Wait()
		if len(ends) != 2 {
			t.Errorf("a user has %d places after one has become free, want 2", len(ends))
		}
		cancel()
		synctest.Wait()
		(<-ends)()
		(<-ends)()
	})
}

// TestQuestionWaitsForAPlace fills all places. The next question must wait, get the first place that becomes free, and else end after its
// wait.
func TestQuestionWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1, 1, time.Second)
		release, err := p.take(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := p.take(t.Context(), "bob"); !errors.Is(err, errFull) || time.Since(began) != time.Second {
			t.Errorf("no place became free: %v after %s, want %v after a second", err, time.Since(began), errFull)
		}
		time.AfterFunc(time.Second/2, release)
		if release, err = p.take(t.Context(), "cem"); err != nil {
			t.Errorf("a place became free: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.take(ctx, "dee"); !errors.Is(err, context.Canceled) {
			t.Errorf("the client has gone: %v, want %v", err, context.Canceled)
		}
		release()
		for _, user := range []string{"ann", "bob", "cem", "dee"} { // no question has kept a place
			release, err := p.take(t.Context(), user)
			if err != nil {
				t.Fatalf("%s at the end: %v", user, err)
			}
			release()
		}
	})
}

package redpacket

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// slowImages is a Ledger whose images take four seconds, or until their context ends. No other method works.
type slowImages struct {
	Ledger
	reads *atomic.Int32
}

func (l slowImages) Image(ctx context.Context, _ string) (Image, error) {
	l.reads.Add(1)
	select {
	case <-time.After(4 * time.Second):
		return Image{}, nil
	case <-ctx.Done():
		return Image{}, ctx.Err()
	}
}

// TestImageEndsWithItsContext reads more images of a slow ledger than may be read at once. Each caller must return when its context ends, whether it
// waits for the ledger or for its turn.
func TestImageEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newImages(slowImages{reads: &atomic.Int32{}})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		errs := make(chan error)
		for i := range 2*imagesAtOnce + 1 {
			go func() {
				_, err := s.read(ctx, fmt.Sprint(i))
				errs <- err
			}()
		}
		for range 2*imagesAtOnce + 1 {
			if err := <-errs; !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("got %v, want unavailable", err)
			}
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("the last of the callers, which had 100 ms, returned after %v", took)
		}
		time.Sleep(time.Minute) // the reads end
	})
}

// TestSharedImageOutlivesItsFirstCaller has the first of two callers give up. The other one must get the image from the same read.
func TestSharedImageOutlivesItsFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := slowImages{reads: &atomic.Int32{}}
		s := newImages(ledger)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := make(chan error), make(chan error)
		go func() { _, err := s.read(ctx, "p"); first <- err }()
		synctest.Wait()
		go func() { _, err := s.read(t.Context(), "p"); second <- err }()
		if err := <-first; !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("the caller that gave up got %v, want unavailable", err)
		}
		if err := <-second; err != nil || ledger.reads.Load() != 1 {
			t.Errorf("the other caller got %v after %d reads, want the image of one read", err, ledger.reads.Load())
		}
	})
}

// TestQueuedImageEnds has more reads wait for their turn than a slow ledger can serve within detachedTimeout. Those that get no turn must end, although
// their callers would wait longer.
func TestQueuedImageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newImages(slowImages{reads: &atomic.Int32{}})
		began := time.Now()
		const callers = 4 * imagesAtOnce
		errs := make(chan error, callers)
		for i := range callers {
			go func() {
				_, err := s.read(t.Context(), fmt.Sprint(i))
				errs <- err
			}()
		}
		failed := 0
		for range callers {
			if <-errs != nil {
				failed++
			}
		}
		if took := time.Since(began); took > detachedTimeout || failed != 2*imagesAtOnce {
			t.Errorf("%d of %d reads failed, the last ended after %v; want %d within %v", failed, callers, took, 2*imagesAtOnce, detachedTimeout)
		}
	})
}

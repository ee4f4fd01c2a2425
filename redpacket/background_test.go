package redpacket

import (
	"sync/atomic"
	"testing"
)

// TestBackgroundStop calls stop while other goroutines call start. stop must wait for every goroutine that was
// started, and start must refuse afterwards.
func TestBackgroundStop(t *testing.T) {
	var c background
	var running, ran atomic.Int32
	asked := make(chan struct{})
	for range 4 {
		go func() {
			for range 1000 {
				c.start(func() { running.Add(1); ran.Add(1); running.Add(-1) })
			}
			asked <- struct{}{}
		}()
	}
	c.stop()
	after := ran.Load()
	if n := running.Load(); n != 0 {
		t.Errorf("%d are at work after the stop", n)
	}
	for range 4 {
		<-asked
	}
	c.stop()
	if n := ran.Load(); n != after {
		t.Errorf("%d were started after the stop", n-after)
	}
}

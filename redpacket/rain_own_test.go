package redpacket

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestOwnRainThatAListHasHadFirst lets a list of open rains come before the sending has returned. The instance must still draw the waves at once.
func TestOwnRainThatAListHasHadFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rains{now: func() time.Time { return time.Time{} }, stopped: func() bool { return false }, open: map[string]*rain{}}
		plan := RainPlan{Ref: Ref{ID: "p"}, Opens: []time.Time{time.Now().Add(time.Minute)}}
		r.follow(plan, false, 1)
		r.follow(plan, true, 0)
		if end := r.end(r.open["p"]); !end.Equal(plan.Opens[0].Add(WaveWindow)) {
			t.Errorf("the wave is drawn at %v, want %v", end, plan.Opens[0].Add(WaveWindow))
		}
		r.forget(func(*rain) bool { return false })
	})
}

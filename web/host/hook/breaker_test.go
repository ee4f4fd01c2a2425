package hook

import (
	"testing"
	"time"
)

// TestOneQuestionIsOnTrial asks while the question on trial has no answer yet.
func TestOneQuestionIsOnTrial(t *testing.T) {
	var b breaker
	now := time.Unix(1000, 0)
	for range breakerFailures {
		b.admit(now)
		b.record(now, true)
	}
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {breakerPause - 1, false}, {breakerPause, true}, {breakerPause, false}, {2*breakerPause - 1, false}, {2 * breakerPause, true}} {
		if got := b.admit(now.Add(step.after)); got != step.want {
			t.Errorf("after %v: admitted %t, want %t", step.after, got, step.want)
		}
	}
}

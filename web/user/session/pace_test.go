package session

import (
	"testing"
	"time"
)

func TestPaceOfAConnection(t *testing.T) {
	var b bucket
	now := time.Minute
	take := func(most int) (passed int, wait time.Duration, abuse bool) {
		for range most {
			if wait, abuse = b.take(now); wait > 0 {
				return passed, wait, abuse
			}
			passed++
		}
		return passed, 0, false
	}
	if n, wait, abuse := take(1000); n != 100 || wait != 20*time.Millisecond || abuse {
		t.Errorf("%d commands at once, then wait %v, abuse %t", n, wait, abuse)
	}
	now += time.Second
	if n, _, _ := take(1000); n != 50 {
		t.Errorf("%d commands after a second", n)
	}
	for i := 3; i < 200; i++ { // two commands were refused before
		if _, abuse := b.take(now); abuse {
			t.Fatalf("refused %d times: abuse", i)
		}
	}
	now += 2*time.Second - 20*time.Millisecond // the bucket is not quite full
	if n, _, abuse := take(1000); n != 99 || !abuse {
		t.Errorf("%d commands after too short a pause, abuse %t", n, abuse)
	}
	now += 2 * time.Second
	if n, _, abuse := take(1000); n != 100 || abuse {
		t.Errorf("%d commands after a pause, abuse %t", n, abuse)
	}
}

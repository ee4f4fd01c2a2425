package redisstore

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentPeer: everything is suspected at once and every half minute, what is in sequence is compared in between,
// and after two minutes once more everything, for the last time. One who is heard again begins anew.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bus{peers: map[uint64]peer{}}
		b.heardPeer(1)
		var suspects, compares int
		look := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
				suspect, compare := b.missPeers()
				if suspect {
					suspects++
				}
				if compare {
					compares++
				}
			}
		}
		want := func(what string, s, c int) {
			t.Helper()
			if suspects != s || compares != c {
				t.Errorf("%s: %d times suspected, %d compared; want %d and %d", what, suspects, compares, s, c)
			}
		}
		look(silence)
		want("not silent yet", 0, 0)
		look(2 * time.Second)
		want("silent", 1, 0)
		look(25 * time.Second)
		want("for a while", 1, 6)
		look(30 * time.Second)
		want("for longer", 2, 13)
		b.heardPeer(1)
		look(silence)
		want("heard again", 2, 13)
		look(mournFor)
		want("lost for good", 7, 40)
		look(time.Hour)
		want("forgotten", 7, 40)
		if len(b.peers) > 0 {
			t.Error("it is remembered for ever")
		}
	})
}

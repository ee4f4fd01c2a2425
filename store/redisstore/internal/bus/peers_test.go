package bus

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentPeer checks when calls are due because another instance is silent: Suspect at once and every half minute,
// Compare in between, and a last Suspect after two minutes. A peer that is heard again starts anew.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bus{peers: map[uint64]peer{}}
		b.heardPeer(1)
		var suspects, compares int
		check := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
				suspect, compare := b.checkPeers()
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
		check(silentAfter)
		want("not silent yet", 0, 0)
		check(2 * time.Second)
		want("silent", 1, 0)
		check(25 * time.Second)
		want("for a while", 1, 6)
		check(30 * time.Second)
		want("for longer", 2, 13)
		b.heardPeer(1)
		check(silentAfter)
		want("heard again", 2, 13)
		check(silentPeerLimit)
		want("lost for good", 7, 40)
		check(time.Hour)
		want("forgotten", 7, 40)
		if len(b.peers) > 0 {
			t.Error("the peer is never forgotten")
		}
	})
}

// TestSilentPeerStaysSilentThroughAnOutage resets the peers after a time in which this instance received nothing. A peer that
// was silent before goes on to count as silent.
func TestSilentPeerStaysSilentThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bus{peers: map[uint64]peer{}}
		b.heardPeer(1)
		time.Sleep(silentAfter + time.Second)
		if suspect, _ := b.checkPeers(); !suspect {
			t.Error("not silent")
		}
		b.heardPeer(2)
		time.Sleep(silentAfter + time.Second)
		b.resetPeers()
		time.Sleep(time.Millisecond)
		if suspect, compare := b.checkPeers(); suspect || !compare {
			t.Errorf("after the outage: suspect %t, compare %t; want only a comparison, because of the first peer", suspect, compare)
		}
	})
}

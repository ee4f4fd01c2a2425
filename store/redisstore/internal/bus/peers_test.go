package bus

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentPeer checks when calls are due because another instance is silent: Suspect at once and every half minute,
// Compare in between, and a last Suspect after two minutes. A peer that is heard again starts anew.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bus{silentAfter: silentAfter, peers: map[uint64]peer{}}
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

// TestLinkMonitorWaitsForASlowReceiver handles one payload for a minute, during which no heartbeat can be read. The link
// is not silent then. It is silent when nothing is heard for silentAfter after the payload.
func TestLinkMonitorWaitsForASlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &link{shard: &shard{bus: &Bus{silentAfter: silentAfter}}, began: time.Now()}
		w := linkMonitor{link: l}
		check := func(d time.Duration) (err error) {
			for end := time.Now().Add(d); err == nil && time.Now().Before(end); {
				time.Sleep(checkEvery)
				err = w.check(t.Context())
			}
			return err
		}
		if err := check(silentAfter); err != nil {
			t.Error("silent too early:", err)
		}
		l.markHeard()
		l.deliveries.Add(1)
		if err := check(time.Minute); err != nil {
			t.Error("a slow receiver:", err)
		}
		l.deliveries.Add(1)
		if err := check(silentAfter); err != nil {
			t.Error("silent too early after the payload:", err)
		}
		if err := check(checkEvery); !errors.Is(err, errSilent) {
			t.Errorf("nothing was heard for %v: %v", silentAfter+checkEvery, err)
		}
	})
}

// TestSilentPeerStaysSilentThroughAnOutage resets the peers after a time in which this instance received nothing. A peer that
// was silent before goes on to count as silent.
func TestSilentPeerStaysSilentThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Bus{silentAfter: silentAfter, peers: map[uint64]peer{}}
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

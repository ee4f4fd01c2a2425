package browser

import (
	"fmt"
	"testing"
	"time"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserDemonstration is TestDemonstration with ten users, each on a page of its own.
func TestBrowserDemonstration(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	ann := f.newUser("Ann", webtest.Screen{})
	room := ann.createRoom("New Year's Eve")
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprint("Guest ", i+1))
	}
	guests := f.newUsers(room, webtest.Screen{Phone: true}, names...)
	moreGrabbersThanShares(t, ann, guests)
	moreSharesThanGrabbers(t, ann, guests)
	f.server.MustBalance()
}

// moreGrabbersThanShares: nine users open a packet of 10.00 in 5 shares at once.
func moreGrabbersThanShares(t *testing.T, ann *browserUser, guests []*browserUser) {
	t.Helper()
	before := ann.balance()
	ann.sendPacket(packet{"10", "5", "Eat well, sleep well"})
	ann.Has("button", fmt.Sprintf("Wallet, ¥%d.%02d", (before-1000)/100, before%100))
	atOnce(guests, func(_ int, u *browserUser) { u.showEnvelope("Eat well") })
	won := make([]int64, len(guests))
	atOnce(guests, func(i int, u *browserUser) { won[i] = u.tapOpen() })

	var lucky int
	var sum int64
	for i, amount := range won {
		sum += amount
		if amount > 0 {
			lucky++
			continue
		}
		guests[i].Sees("So close!", "All 5 shares were gone after")
		guests[i].Press("button", "Provably fair")
	}
	if lucky != 5 || sum != 1000 {
		t.Errorf("nine users open 10.00 in 5 shares: they won %v, %d together; want 5 winners, 1000 together", won, sum)
	}
	atOnce(guests, func(i int, u *browserUser) {
		u.Press("button", "Verify")
		u.Sees("The secret is the one that was promised before", "The shares add up to the total", "Every share follows from the secret")
		shown := webtest.Ask[[]string](u.Tab, `[...document.querySelectorAll('.claim-amount')].map((e) => e.textContent)`)
		var all int64
		for _, text := range shown {
			all += cents(text)
		}
		if len(shown) != 5 || all != 1000 {
			t.Errorf("the page of guest %d shows claims %q, want 5 claims with 1000 together", i+1, shown)
		}
		u.Press("button", "Close")
		u.Sees("All opened · ", "👑")
		if got := u.balance(); got != before+won[i] {
			t.Errorf("the wallet of guest %d shows %d after a win of %d, want %d", i+1, got, won[i], before+won[i])
		}
	})
}

// moreSharesThanGrabbers: three users open a packet of 10.00 in 5 shares, and it expires.
func moreSharesThanGrabbers(t *testing.T, ann *browserUser, guests []*browserUser) {
	t.Helper()
	before := ann.balance()
	short := int64(60)
	sent := commandAs[wire.SendPacketReply](ann.fixture, ann.token(), "send_packet", wire.SendPacketRequest{
		Room: ann.room(), Key: newKey(), Total: 1000, Count: new(5), TTLS: &short, Greeting: "Quick, quick",
	})
	three := guests[:3]
	won := make([]int64, len(three))
	atOnce(three, func(i int, u *browserUser) { won[i] = u.openPacket("Quick, quick") })
	left := int64(1000)
	for _, amount := range won {
		left -= amount
	}
	ann.Sees("opened yours · 3/5")
	time.Sleep(time.Until(time.UnixMilli(sent.Packet.ExpiresAt))) // sleeps: the packet must expire
	ann.Sees(fmt.Sprintf("Expired · ¥%d.%02d returned", left/100, left%100), "Your red packet has expired")
	three[0].Sees(fmt.Sprintf("¥%d.%02d went back to Ann.", left/100, left%100))
	guests[8].Press("button", "Quick, quick")
	guests[8].Sees("Its time is over.")

	after := before - 1000 + left // in the sender's wallet
	ann.Has("button", fmt.Sprintf("Wallet, ¥%d.%02d", after/100, after%100))
	ann.Press("button", "Wallet")
	ann.Sees("Rest of your red packet", fmt.Sprintf("+¥%d.%02d", left/100, left%100))
}

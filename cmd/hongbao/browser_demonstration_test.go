package main

import (
	"fmt"
	"testing"
	"time"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserDemonstration is the demonstration, clicked: ten people each before a page of their own.
func TestBrowserDemonstration(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	ann := s.comes("Ann", webtest.Screen{})
	room := ann.makesRoom("New Year's Eve")
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprint("Guest ", i+1))
	}
	guests := s.crowd(room, webtest.Screen{Phone: true}, names...)
	moreHandsThanShares(t, ann, guests)
	moreSharesThanHands(t, ann, guests)
	s.node.mustBalance()
}

// moreHandsThanShares: 10.00 in 5 shares, nine people tap at once.
func moreHandsThanShares(t *testing.T, ann *visitor, guests []*visitor) {
	t.Helper()
	before := ann.balance()
	ann.sends(packet{"10", "5", "Eat well, sleep well"})
	ann.Has("button", fmt.Sprintf("Wallet, ¥%d.%02d", (before-1000)/100, before%100))
	together(guests, func(_ int, v *visitor) { v.takesUp("Eat well") })
	won := make([]int64, len(guests))
	together(guests, func(i int, v *visitor) { won[i] = v.taps() })

	var lucky int
	var sum int64
	for i, amount := range won {
		sum += amount
		if amount > 0 {
			lucky++
			continue
		}
		guests[i].Sees("So close!", "All 5 shares were gone after")
		guests[i].Press("button", "See who got what")
	}
	if lucky != 5 || sum != 1000 {
		t.Errorf("nine open 10.00 in 5: %v, %d together", won, sum)
	}
	together(guests, func(i int, v *visitor) {
		v.Press("button", "Verify")
		v.Sees("The secret is the one that was promised before", "The shares add up to the total", "Every share follows from the secret")
		shown := webtest.Ask[[]string](v.Tab, `[...document.querySelectorAll('.claim-amount')].map((e) => e.textContent)`)
		var all int64
		for _, text := range shown {
			all += cents(text)
		}
		if len(shown) != 5 || all != 1000 {
			t.Errorf("guest %d is shown %q", i+1, shown)
		}
		v.Press("button", "Close")
		v.Sees("got the most")
		if got := v.balance(); got != before+won[i] {
			t.Errorf("who has won %d has %d, and had %d", won[i], got, before)
		}
	})
}

// moreSharesThanHands: 10.00 in 5 shares, three open theirs, and the time runs out.
func moreSharesThanHands(t *testing.T, ann *visitor, guests []*visitor) {
	t.Helper()
	before := ann.balance()
	short := int64(20)
	sent := mustDo[wire.SendPacketReply](ann.salon, ann.token(), "send_packet", wire.SendPacketRequest{
		Room: ann.room(), Key: newKey(), Total: 1000, Count: new(5), TTLS: &short, Greeting: "Quick, quick",
	})
	three := guests[:3]
	won := make([]int64, len(three))
	together(three, func(i int, v *visitor) { won[i] = v.opens("Quick, quick") })
	left := int64(1000)
	for _, amount := range won {
		left -= amount
	}
	ann.Sees("3 of 5 opened")
	time.Sleep(time.Until(time.UnixMilli(sent.Packet.ExpiresAt)))
	ann.Sees(fmt.Sprintf("Expired · ¥%d.%02d returned", left/100, left%100), "Your red packet has expired")
	three[0].Sees(fmt.Sprintf("¥%d.%02d went back to Ann.", left/100, left%100))
	guests[8].Press("button", "Quick, quick")
	guests[8].Sees("Its time is over.")

	if got := ann.balance(); got != before-1000+left {
		t.Errorf("after the refund the sender has %d, and had %d", got, before)
	}
	ann.Press("button", "Wallet")
	ann.Sees("Rest of your red packet", fmt.Sprintf("+¥%d.%02d", left/100, left%100))
}

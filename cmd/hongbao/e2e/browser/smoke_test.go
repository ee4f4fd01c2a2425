package browser

import (
	"testing"

	"hongbao/web/webtest"
)

// TestBrowserSmoke is the only test of the page that make test has: in two browsers, two guests sign in, one sends a text and a packet,
// the other grabs, and both still see it after a reload.
func TestBrowserSmoke(t *testing.T) {
	f := newFixture(t)
	ann := f.newUser("Ann", webtest.Screen{})
	room := ann.createRoom("Tea house")
	f.browser = webtest.Browser(t)
	bob := f.newUser("Bob", webtest.Screen{Phone: true})
	bob.join(room)
	ann.say("one pot or two?")
	bob.Sees("one pot or two?")
	ann.sendPacket(packet{"8", "2", "For the tea"})
	won := bob.openPacket("For the tea")
	if won <= 0 || won >= 800 {
		t.Errorf("the first of two shares of 8.00 is %d", won)
	}
	bob.Press("button", "Close")
	ann.Sees("opened yours · 1/2")
	for _, u := range []*browserUser{ann, bob} {
		u.Reload()
		u.Sees("one pot or two?", "For the tea")
	}
	bob.Sees("You got ¥")
	if a, b := ann.balance(), bob.balance(); a != 100_000-800 || b != 100_000+won {
		t.Errorf("after a reload the wallets show %d and %d, want %d and %d", a, b, 100_000-800, 100_000+won)
	}
	f.server.MustBalance()
}

package browser

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserTwoTabs opens two tabs of one user. What is read and which packets are opened in one tab must show in the
// other.
func TestBrowserTwoTabs(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	one := f.newUser("Ann", webtest.Screen{})
	room := one.createRoom("Rowing club")
	bob := f.newAPIUser("Bob")
	bob.join(room)
	other := &browserUser{Visitor: one.Again(t, f.page, webtest.Screen{Phone: true}), fixture: f, words: one.words}
	other.Sees("Ann", "Rowing club")

	one.Press("button", "Find") // a room under a sheet does not count as read
	one.Has("dialog", "")
	one.Key("\x1b")
	one.Lacks("dialog", "")
	one.goTo("#/")
	one.Lacks("textbox", "Message")
	bob.say(room, "who has the key to the boathouse?")
	atOnce([]*browserUser{one, other}, func(_ int, u *browserUser) {
		u.Has("link", "Rowing club")
		u.Sees("who has the key to the boathouse?")
		u.Has("link", "1 new message")
	})
	one.Press("link", "Rowing club")
	one.Has("textbox", "Message")
	other.Lacks("link", "1 new message")
	one.say("me, I bring it")
	other.Sees("me, I bring it")

	sent := command[wire.SendPacketReply](bob, "send_packet", wire.SendPacketRequest{Room: room, Key: newKey(), Total: 900, Count: new(3), Greeting: "Thanks"})
	other.Press("link", "Rowing club")
	other.Has("button", "Thanks")
	won := one.openPacket("Thanks")
	other.Sees("You got ¥")
	other.Press("button", "Thanks")
	other.Sees("Red packet from Bob", "in your wallet")
	if a, b := one.balance(), 100_000+won; a != b {
		t.Errorf("after %d won from packet %s the wallet shows %d, want %d", won, sent.Packet.ID, a, b)
	}
	other.Reload()
	other.Sees("Red packet from Bob", "in your wallet")
	if a, b := one.token(), other.token(); a != b || a == "" {
		t.Errorf("after a reload the tabs have tokens %q and %q, want the same", a, b)
	}
	one.Reload()
	one.Sees("me, I bring it", "You got ¥")
	if one.balance() != 100_000+won {
		t.Errorf("after a reload the wallet shows %d, want %d", one.balance(), 100_000+won)
	}
}

package main

import (
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserTwoTabs: two tabs are one person, who has read what he has read, and opened what he has opened.
func TestBrowserTwoTabs(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	one := s.comes("Ann", webtest.Screen{})
	room := one.makesRoom("Rowing club")
	bob := s.afar("Bob")
	bob.joins(room)
	other := &visitor{Visitor: one.Again(t, s.page, webtest.Screen{Phone: true}), salon: s, words: one.words}
	other.Sees("Ann", "Rowing club")

	one.Press("button", "Find") // what is under a sheet is not looked at for long, but it is looked at
	one.Key("\x1b")
	one.goes("#/")
	one.Misses("Write something")
	bob.says(room, "who has the key to the boathouse?")
	together([]*visitor{one, other}, func(_ int, v *visitor) {
		v.Has("link", "Rowing club")
		v.Sees("who has the key to the boathouse?")
		v.Has("link", "1 new message")
	})
	one.Press("link", "Rowing club")
	one.Has("textbox", "Message")
	other.Lacks("link", "1 new message")
	one.says("me, I bring it")
	other.Sees("me, I bring it")

	sent := does[wire.SendPacketReply](bob, "send_packet", wire.SendPacketRequest{Room: room, Key: newKey(), Total: 900, Count: new(3), Greeting: "Thanks"})
	other.Press("link", "Rowing club")
	other.Has("button", "Thanks")
	won := one.opens("Thanks")
	other.Sees("You got ¥")
	other.Press("button", "Thanks")
	other.Sees("Red packet from Bob", "in your wallet")
	if a, b := one.balance(), 100_000+won; a != b {
		t.Errorf("after %d of %s there are %d", won, sent.Packet.ID, a)
	}
	other.Reload()
	other.Sees("Red packet from Bob", "in your wallet")
	if a, b := one.token(), other.token(); a != b || a == "" {
		t.Error("after a reload it is somebody else")
	}
	one.Reload()
	one.Sees("me, I bring it", "You got ¥")
	if one.balance() != 100_000+won {
		t.Errorf("after a reload there are %d", one.balance())
	}
}

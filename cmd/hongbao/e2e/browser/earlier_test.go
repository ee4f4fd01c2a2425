package browser

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserEarlierMembers sends a packet for the members that are in the room already. Its envelope says so, a user that joins
// later is told why it stays shut, in Chinese, and an earlier member opens it.
func TestBrowserEarlierMembers(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	ann := f.newUser("Ann", webtest.Screen{})
	room := ann.createRoom("Old friends")
	bob := f.newUsers(room, webtest.Screen{Phone: true}, "Bob")[0]
	ann.Press("button", "Send a red packet")
	ann.Fill("Total", "6")
	ann.Fill("How many shares", "2")
	ann.Fill("Greeting", "For old friends")
	ann.Press("DisclosureTriangle", "More")
	ann.Press("radio", "Chosen people")
	ann.Lacks("switch", "Only for members who are here already")
	ann.Press("radio", "Everyone here")
	ann.Press("switch", "Only for members who are here already")
	ann.Press("DisclosureTriangle", "More")
	ann.Sees("members here already")
	ann.Press("button", "Send ¥6")
	ann.Lacks("dialog", "")
	ann.Sees("For earlier members")

	yu := f.newUsers(room, webtest.Screen{Phone: true, Language: "zh-CN"}, "小雨")[0]
	yu.Sees("仅老成员可领")
	yu.Press("button", "For old friends")
	yu.Press("button", "开")
	yu.Sees("这个红包发出时你还没进群，领不了")
	if won := bob.openPacket("For old friends"); won <= 0 {
		t.Errorf("the earlier member won %d", won)
	}
	f.server.MustBalance()
}

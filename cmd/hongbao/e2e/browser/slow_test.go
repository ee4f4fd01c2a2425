package browser

import (
	"fmt"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserSlow uses a slow network whose connections are cut now and then. The page must load, and no message may
// be lost or doubled.
func TestBrowserSlow(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	network := e2e.StartBalancer(t)
	network.Slow = &e2e.SlowLink{Latency: 150 * time.Millisecond, PerSecond: 40_000}
	network.Only(f.server)
	bob := f.newUser("Bob", webtest.Screen{})
	room := bob.createRoom("Night train")

	f.page = network.Front.URL.String()
	began := time.Now()
	ann := f.openPage(webtest.Screen{Phone: true})
	ann.Expect("WebSocket connection to")
	ann.Expect("ERR_")
	ann.Has("textbox", "What may we call you?")
	t.Logf("the sign-in field is there after %v", time.Since(began).Round(10*time.Millisecond))
	ann.signInAs("Ann")
	t.Logf("signed in after %v", time.Since(began).Round(10*time.Millisecond))
	ann.join(room)

	var sent []string
	for i := range 8 {
		for _, u := range []*browserUser{ann, bob} {
			text := fmt.Sprintf("Line %d of %s.", i, map[bool]string{true: "Ann", false: "Bob"}[u == ann])
			sent = append(sent, text)
			u.say(text)
		}
		if i%3 == 1 {
			network.Cut(1)
		}
	}
	ann.sendPacket(packet{"3.00", "2", "From the train"})
	network.Cut(1)
	sent = append(sent, "From the train")
	both := []*browserUser{ann, bob}
	atOnce(both, func(_ int, u *browserUser) {
		u.Sees("Line 7 of Ann.", "Line 7 of Bob.", "From the train")
		u.Misses("Sending…")
		u.Lacks("image", "Being sent")
	})
	won := make([]int64, 2)
	atOnce(both, func(i int, u *browserUser) { won[i] = u.openPacket("From the train") })
	if won[0]+won[1] != 300 || won[0]*won[1] == 0 {
		t.Errorf("two users open 3.00 in 2 shares and win %v, want two amounts with 300 together", won)
	}
	atOnce(both, func(_ int, u *browserUser) { mustShowOnce(t, u, sent) })
	mustStoreOnce(t, &apiUser{f, wire.GuestReply{Token: bob.token()}}, room, sent)
	f.server.MustBalance()
}

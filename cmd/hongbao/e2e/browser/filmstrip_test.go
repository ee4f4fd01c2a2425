package browser

import (
	"fmt"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserPicturesOfMotion saves frames of the arrival and of the opening of envelopes for a review by eye: make nightly PART=page. The page stops
// its animations at set times, so the frames are the same on a slow machine.
func TestBrowserPicturesOfMotion(t *testing.T) {
	enginetest.Nightly(t, "page")
	for _, how := range []struct {
		name  string
		skins []string
		webtest.Screen
	}{
		{"phone", []string{"", "koi", "lantern"}, webtest.Screen{Phone: true}},
		{"desktop dark", []string{"cloud", "plum", "moon"}, webtest.Screen{Dark: true}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ann := f.newUser("Ann", how.Screen)
			room := ann.createRoom("Old friends")
			bob := f.newAPIUser("Bob")
			bob.join(room)
			ann.Sees("2 members")
			webtest.Ask[int](ann.Tab, `performance.now = () => 0, 0`) // an envelope drops in however late it is drawn
			for _, skin := range how.skins {
				dropping := ".envelope.drops"
				if skin != "" {
					dropping += ".skin-" + skin
				}
				ann.freezeWhen(dropping)
				bob.sendPacket(wire.SendPacketRequest{Room: room, Total: 888, Count: new(1), Skin: skin, Greeting: "Good luck " + skin})
				ann.frames(how.name+" arrival "+skin, 0, 130, 260, 390, 520)
				ann.play()
				ann.showEnvelope("Good luck " + skin)
				ann.freezeWhen(".opening[data-open=yes]")
				ann.Press("button", "Open")
				ann.frames(how.name+" opening "+skin, 60, 200, 320, 450, 600, 780, 1000, 1300)
				ann.freezeWhen(".opening[data-amount-shown=yes]")
				ann.play()
				ann.frames(how.name+" told "+skin, 0, 120, 250, 500, 900)
				ann.play()
				ann.Sees("in your wallet")
				ann.Press("button", "Close")
				ann.Lacks("dialog", "")
			}
		})
	}
}

func (a *apiUser) sendPacket(p wire.SendPacketRequest) {
	a.fixture.t.Helper()
	p.Key = newKey()
	command[wire.SendPacketReply](a, "send_packet", p)
}

// freezeWhen makes the page stop its animations as soon as an element appears.
func (u *browserUser) freezeWhen(selector string) {
	u.fixture.t.Helper()
	webtest.Ask[int](u.Tab, fmt.Sprintf(`window.frozen = new Promise((done) => {
		const watch = new MutationObserver(() => {
			if (!document.querySelector(%q)) return;
			watch.disconnect();
			const all = document.getAnimations();
			all.forEach((a) => a.pause());
			done(all.length);
		});
		watch.observe(document.body, { subtree: true, childList: true, attributes: true });
	}), 0`, selector))
}

// frames saves a picture of the stopped animations at each of the times, in milliseconds.
func (u *browserUser) frames(name string, times ...int) {
	u.fixture.t.Helper()
	if n := webtest.Ask[int](u.Tab, `frozen`); n == 0 {
		u.fixture.t.Errorf("%s: nothing moves", name)
	}
	for _, at := range times {
		webtest.Ask[int](u.Tab, fmt.Sprintf(`document.getAnimations().forEach((a) => { a.pause(); a.currentTime = %d; }), 0`, at))
		u.Screenshot(fmt.Sprintf("%s %04d ms", name, at))
	}
}

// play lets the stopped animations go on.
func (u *browserUser) play() {
	u.fixture.t.Helper()
	webtest.Ask[int](u.Tab, `document.getAnimations().forEach((a) => a.play()), 0`)
}

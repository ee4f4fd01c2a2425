package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserAccessible runs axe-core on every view, on a phone and on a desktop, each in light and dark, and in English and Chinese: it finds
// nothing.
func TestBrowserAccessible(t *testing.T) {
	enginetest.Nightly(t, "page")
	axe, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []struct {
		name string
		in   language
		webtest.Screen
	}{
		{"desktop, light, English", english, webtest.Screen{Calm: true}},
		{"phone, dark, English", english, webtest.Screen{Phone: true, Dark: true, Calm: true}},
		{"desktop, dark, Chinese", chinese, webtest.Screen{Dark: true, Calm: true, Language: "zh-CN"}},
		{"phone, light, Chinese", chinese, webtest.Screen{Phone: true, Calm: true, Language: "zh-CN"}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.addPublicRoom(how.in)
			a := &audience{fixture: f, axe: string(axe), screen: how.Screen, in: how.in}
			u := a.open(f.page)
			a.check(u, "sign-in")
			u.signInAs(how.in.me)
			u.Sees(how.in.noRooms)
			a.check(u, "no rooms")
			s := f.populate(u, how.in)
			for _, view := range s.views() {
				u.goToView(view)
				a.check(u, view.name)
			}
			a.checkLinks(u, s)
			a.checkAccount(u)
			u.goTo("#/room/" + s.room)
			u.Press("button", how.in.emojis)
			u.Press("button", how.in.faces)
			u.Has("button", "😶")
			a.check(u, "emojis")
			u.Press("button", how.in.emojis)
			u.Press("button", how.in.open)
			u.Sees(how.in.look)
			u.Press("button", how.in.coin)
			u.Sees(how.in.kept, how.in.you)
			a.check(u, "opened card")
		})
	}
}

// audience checks views in one language on one kind of screen.
type audience struct {
	fixture *fixture
	axe     string
	screen  webtest.Screen
	in      language
}

// open opens an address as a new user.
func (a *audience) open(address string) *browserUser {
	a.fixture.t.Helper()
	u := &browserUser{Visitor: a.fixture.browser.Visit(a.fixture.t, address, a.screen), fixture: a.fixture, words: wordsOf(a.screen)}
	u.Do(chromedp.Evaluate[chromedp.Void](a.axe)) // through the debugger: the page's policy would refuse the script
	return u
}

func (a *audience) check(u *browserUser, where string) {
	a.fixture.t.Helper()
	mustBeAccessible(a.fixture.t, u, where)
}

// checkLinks checks what a visitor sees that comes by an invite link, and how the owner lets the visitor in.
func (a *audience) checkLinks(owner *browserUser, s *sample) {
	a.fixture.t.Helper()
	owner.goToView(view{hash: "#/room/" + s.room + "/links", shows: a.in.working})
	owner.Has("image", a.in.qr)
	a.check(owner, "QR code")
	made := command[wire.CreateLinkReply](s.me, "create_link", wire.CreateLinkRequest{Room: s.room, Approval: true})
	visitor := a.open(a.fixture.page + "#/link/" + made.Code + "/packet/" + s.open)
	visitor.Sees(a.in.open, a.in.accepts)
	a.check(visitor, "invitation to a packet")
	visitor.Fill(visitor.words.name, a.in.people[0])
	visitor.Key("\r")
	visitor.Sees(a.in.waits)
	a.check(visitor, "approval waiting")
	owner.goToView(view{hash: "#/room/" + s.room + "/info", shows: a.in.comes})
	a.check(owner, "request to enter")
}

// checkAccount checks the profile, the link for another device, and what that device shows.
func (a *audience) checkAccount(u *browserUser) {
	a.fixture.t.Helper()
	u.goToView(view{hash: "#/settings", shows: a.in.makeDevice})
	u.Press("button", a.in.makeDevice)
	u.Press("button", a.in.profile)
	u.Has("radio", a.in.tiger)
	a.check(u, "profile and device link")
	status, answer, err := a.fixture.server.Post(u.token(), "guests/device_code", struct{}{})
	var made wire.DeviceCodeReply
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err != nil || status != 200 {
		a.fixture.t.Fatalf("a device code: status %d: %s, error %v, want 200", status, answer, err)
	}
	device := a.open(a.fixture.page + "#/device/" + made.Code)
	device.Sees(a.in.arrives)
	a.check(device, "device link")
}

func mustBeAccessible(t *testing.T, u *browserUser, where string) {
	t.Helper()
	u.WaitForAnimations()
	type finding struct{ ID, Impact, Help, Where string }
	for _, f := range webtest.Ask[[]finding](u.Tab, axeRun) {
		t.Errorf("%s: axe finds %s (%s): %s: %s", where, f.ID, f.Impact, f.Help, f.Where)
	}
}

const axeRun = `(async () => {
	const { violations } = await axe.run(document, {
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'],
	});
	return violations.flatMap(({ id, impact, help, nodes }) => nodes.slice(0, 4).map((n) => ({
		id, impact, help, where: n.html.slice(0, 160) + ' ' + n.any.map((a) => a.message).join('; ').slice(0, 300),
	})));
})()`

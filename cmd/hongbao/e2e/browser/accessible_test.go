package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
)

// TestBrowserAccessible runs axe-core on every view, in light and dark, on a phone and on a desktop: it finds nothing serious.
func TestBrowserAccessible(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.addPublicRoom(english)
	axe, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	var both []*browserUser
	for _, screen := range []webtest.Screen{{Calm: true}, {Phone: true, Dark: true, Calm: true}} {
		u := f.openPage(screen)
		u.Do(chromedp.Evaluate[chromedp.Void](string(axe))) // through the debugger: the page's policy would refuse the script
		both = append(both, u)
	}
	atOnce(both, func(i int, u *browserUser) {
		how := []string{"desktop, light", "phone, dark"}[i]
		mustBeAccessible(t, u, how+": sign-in")
		u.signInAs(english.me)
		u.Sees("No rooms yet")
		mustBeAccessible(t, u, how+": no rooms")
		s := f.populate(u, english)
		for _, view := range s.views() {
			u.goToView(view)
			mustBeAccessible(t, u, how+": "+view.name)
		}
		u.goToView(view{name: "settings", hash: "#/settings", shows: "Make a link"})
		u.Press("button", "Make a link")
		u.Press("button", "Change name and picture")
		u.Has("radio", "Tiger")
		mustBeAccessible(t, u, how+": profile and device link")
		u.goTo("#/room/" + s.room)
		u.Press("button", english.open)
		u.Press("button", english.coin)
		u.Sees(english.kept, "You")
		mustBeAccessible(t, u, how+": opened card")
	})
}

func mustBeAccessible(t *testing.T, u *browserUser, where string) {
	t.Helper()
	u.WaitForAnimations()
	type finding struct{ ID, Impact, Help, Where string }
	for _, f := range webtest.Ask[[]finding](u.Tab, axeRun) {
		message := fmt.Sprintf("%s: axe finds %s (%s): %s: %s", where, f.ID, f.Impact, f.Help, f.Where)
		if f.Impact == "serious" || f.Impact == "critical" {
			t.Error(message)
		} else {
			t.Log(message)
		}
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

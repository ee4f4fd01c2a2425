package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserKeyboard signs in, chats, sends and opens a packet without a mouse. A dialog takes the focus when it opens, and
// returns it when it closes.
func TestBrowserKeyboard(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	ann := f.openPage(webtest.Screen{})
	ann.Sees("What may we call you?")
	ann.mustBeOn("What may we call you?")
	ann.Key("Ann")
	ann.Key("\r")
	ann.Sees("No rooms yet")
	ann.tabsTo("New room")
	ann.Key("\r")
	ann.mustBeOn("Name")
	ann.Key("Quiet room")
	ann.Key("\r")
	ann.mustBeOn("Message")
	ann.Key("no mouse here")
	ann.Key("\r")
	ann.Sees("no mouse here")
	ann.Lacks("image", "Being sent")
	ann.mustBeOn("Message")

	ann.tabsBackTo("Send a red packet")
	ann.Key("\r")
	ann.mustBeOn("Total")
	ann.Key("\x1b")
	ann.Lacks("dialog", "Send a red packet")
	ann.mustBeOn("Send a red packet")
	ann.Key(" ")
	ann.mustBeOn("Total")
	ann.Key("5")
	ann.tabsTo("How many shares")
	ann.Key("1")
	ann.Key("\r")
	ann.Lacks("dialog", "Send a red packet")
	ann.mustBeOn("Send a red packet")

	ann.Has("button", "Good luck and good fortune!")
	ann.tabsBackTo("Good luck and good fortune!")
	ann.Key("\r")
	ann.mustBeOn("Open")
	ann.Key("\r")
	ann.mustBeOn("Red packet")               // the card
	ann.Sees("You got ¥5.00 in your wallet") // one sentence for screen readers only
	ann.tabsTo("Provably fair")
	ann.Key("\r")
	ann.Has("button", "Verify")
	ann.Key("\x1b")
	ann.Lacks("button", "Verify")
	ann.mustBeOn("Good luck and good fortune!")

	ann.tabsBackTo("Wallet")
	ann.Key("\r")
	ann.Sees("From your own red packet")
	ann.tabsTo("Close")
	ann.Key("\r")
	ann.mustBeOn("Wallet")
}

// focused evaluates to the name of the element that has the focus.
const focused = `(() => {
	const e = document.activeElement;
	return e === document.body ? '' : (e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? e.innerText ?? '').replaceAll('\u00a0', ' ');
})()`

// mustBeOn waits until the focus is on the element of a name.
func (u *browserUser) mustBeOn(name string) {
	u.fixture.t.Helper()
	if on := webtest.Ask[string](u.Tab, fmt.Sprintf(`(async () => {
		for (let n = 0; n < 400 && !%[1]s.includes(%[2]q); n++) await new Promise((r) => setTimeout(r, 50));
		return %[1]s;
	})()`, focused, name)); !strings.Contains(on, name) {
		u.fixture.t.Fatalf("the focus is on %q, want %q", on, name)
	}
}

func (u *browserUser) tabsTo(name string) {
	u.fixture.t.Helper()
	u.pressTab(name)
}

func (u *browserUser) tabsBackTo(name string) {
	u.fixture.t.Helper()
	u.pressTab(name, chromedp.ModifierShift)
}

// pressTab presses the key until the element of a name has the focus, and the focus is visible.
func (u *browserUser) pressTab(name string, modifiers ...chromedp.Modifier) {
	u.fixture.t.Helper()
	var passed []string
	for range 60 {
		u.Key("\t", modifiers...)
		on := webtest.Ask[string](u.Tab, focused)
		if strings.Contains(on, name) {
			if !webtest.Ask[bool](u.Tab, `document.activeElement.matches(':focus-visible')`) {
				u.fixture.t.Errorf("%q has the focus, but the page does not show it", on)
			}
			return
		}
		passed = append(passed, on)
	}
	u.fixture.t.Fatalf("60 presses of Tab did not reach %q, but %q", name, passed)
}

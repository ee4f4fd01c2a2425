package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
)

// TestBrowserKeyboard does all that one comes for without a mouse. The focus goes into what opens, and back to what has opened it.
func TestBrowserKeyboard(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	ann := s.visits(webtest.Screen{})
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
	ann.Key("\t")
	ann.mustBeOn("How many shares")
	ann.Key("1")
	ann.Key("\r")
	ann.Lacks("dialog", "Send a red packet")
	ann.mustBeOn("Send a red packet")

	ann.Has("button", "Good luck and good fortune!")
	ann.tabsBackTo("Good luck and good fortune!")
	ann.Key("\r")
	ann.mustBeOn("Open")
	ann.Key("\r")
	ann.mustBeOn("See who got what")
	ann.Sees("You got ¥5.00 in your wallet") // in one piece it is only to be heard
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

// focused is what has the focus, as it is called.
const focused = `(() => {
	const e = document.activeElement;
	return e === document.body ? '' : (e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? e.innerText ?? '').replaceAll('\u00a0', ' ');
})()`

// mustBeOn waits until the focus is on something.
func (v *visitor) mustBeOn(name string) {
	v.salon.t.Helper()
	if on := webtest.Ask[string](v.Tab, fmt.Sprintf(`(async () => {
		for (let n = 0; n < 400 && !%[1]s.includes(%[2]q); n++) await new Promise((r) => setTimeout(r, 50));
		return %[1]s;
	})()`, focused, name)); !strings.Contains(on, name) {
		v.salon.t.Fatalf("the focus is on %q, not on %q", on, name)
	}
}

func (v *visitor) tabsTo(name string) {
	v.salon.t.Helper()
	v.tabs(name)
}

func (v *visitor) tabsBackTo(name string) {
	v.salon.t.Helper()
	v.tabs(name, chromedp.ModifierShift)
}

// tabs presses the key until the focus, which must be seen, is on something.
func (v *visitor) tabs(name string, modifiers ...chromedp.Modifier) {
	v.salon.t.Helper()
	var passed []string
	for range 60 {
		v.Key("\t", modifiers...)
		on := webtest.Ask[string](v.Tab, focused)
		if strings.Contains(on, name) {
			if !webtest.Ask[bool](v.Tab, `document.activeElement.matches(':focus-visible')`) {
				v.salon.t.Errorf("that the focus is on %q is not to be seen", on)
			}
			return
		}
		passed = append(passed, on)
	}
	v.salon.t.Fatalf("no way leads to %q: %q", name, passed)
}

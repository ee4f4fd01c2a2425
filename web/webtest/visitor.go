package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Screen describes the device and settings of a visitor. The zero Screen is a laptop with light colours, in English.
type Screen struct {
	Phone    bool // 360 by 740 pixels, with touch
	Dark     bool
	Calm     bool   // the user prefers reduced motion
	Language string // such as "en-US", the default
}

// Visitor is a user of a page. It finds elements as users do: by role and name, or by visible text. When its test ends,
// each unexpected fault on the page fails the test.
type Visitor struct {
	*Tab

	faults *faults
	screen Screen
}

// Visit opens a page as a new user.
func (c *Chromium) Visit(tb testing.TB, url string, screen Screen) *Visitor {
	tb.Helper()
	f := newFaults(tb)
	v := &Visitor{Tab: c.NewUserTab(tb, f.note), faults: f}
	v.open(url, screen)
	return v
}

// Again opens a page in another tab, with the same cookies and storage.
func (v *Visitor) Again(tb testing.TB, url string, screen Screen) *Visitor {
	tb.Helper()
	f := newFaults(tb)
	again := &Visitor{Tab: v.NewTab(tb, f.note), faults: f}
	again.open(url, screen)
	return again
}

// Expect allows faults whose text contains part, such as console errors after the server was killed.
func (v *Visitor) Expect(part string) { v.faults.expect(part) }

func (v *Visitor) open(url string, s Screen) {
	v.tb.Helper()
	mustCall(v, log.Enable, cdp.Empty{})
	v.SetScreen(s)
	v.Do(chromedp.Navigate(url))
}

// SetScreen changes the device and settings of the visitor.
func (v *Visitor) SetScreen(s Screen) {
	v.tb.Helper()
	v.screen = s
	size := desktop
	if s.Phone {
		size = emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true}
	}
	v.resize(size)
	mustCall(v, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: s.Phone})
	choose := func(yes bool, one, other string) string {
		if yes {
			return one
		}
		return other
	}
	mustCall(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: choose(s.Dark, "dark", "light")},
		{Name: "prefers-reduced-motion", Value: choose(s.Calm, "reduce", "no-preference")},
	}})
	mustCall(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: Ask[string](v.Tab, `navigator.userAgent`), AcceptLanguage: choose(s.Language != "", s.Language, "en-US"),
	})
}

// Reload reloads the page.
func (v *Visitor) Reload() {
	v.tb.Helper()
	v.Do(chromedp.Reload())
}

// Back goes back in the browser's history.
func (v *Visitor) Back() {
	v.tb.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
}

// InjectScript runs a script on each page that is opened from now on, before the page's own scripts.
func (v *Visitor) InjectScript(script string) {
	v.tb.Helper()
	mustCall(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// WaitForAnimations waits until all animations that run fewer than 9 times have ended. It gives up after about 10 s, without a
// failure of the test.
func (v *Visitor) WaitForAnimations() {
	v.tb.Helper()
	Ask[int](v.Tab, `(async () => {
		const move = () => document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getComputedTiming().iterations < 9);
		for (let n = 0; n < 100 && move().length; n++) await Promise.race([Promise.allSettled(move().map((a) => a.finished)), new Promise((r) => setTimeout(r, 100))]);
		return 0;
	})()`)
}

// Text returns all visible text of the page.
func (v *Visitor) Text() string {
	v.tb.Helper()
	return strings.ReplaceAll(Ask[string](v.Tab, `document.body?.innerText ?? ''`), "\u00a0", " ")
}

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

// Screen is what a visitor sits before. The zero Screen is that of a laptop, light, in English.
type Screen struct {
	Phone    bool // 360 by 740, with touch
	Dark     bool
	Calm     bool   // reduced motion
	Language string // "en-US"
}

// Visitor is a person before a page. He finds things as people do: by what they are and what they are called, and by what
// is written. When his test ends, nothing may have gone wrong on the page that he did not expect.
type Visitor struct {
	*Tab

	faults *faults
	screen Screen
}

// Visit opens a page as a person whom it has never seen.
func (c *Chromium) Visit(tb testing.TB, url string, screen Screen) *Visitor {
	tb.Helper()
	f := newFaults(tb)
	v := &Visitor{Tab: c.Stranger(tb, f.note), faults: f}
	v.open(url, screen)
	return v
}

// Again opens a page in one more tab of the same person.
func (v *Visitor) Again(tb testing.TB, url string, screen Screen) *Visitor {
	tb.Helper()
	f := newFaults(tb)
	again := &Visitor{Tab: v.Another(tb, f.note), faults: f}
	again.open(url, screen)
	return again
}

// Expect names a fault, by a part of its text, that is none: what a killed server leaves in the console, say.
func (v *Visitor) Expect(part string) { v.faults.expect(part) }

func (v *Visitor) open(url string, s Screen) {
	v.tb.Helper()
	tell(v, log.Enable, cdp.Empty{})
	v.Wear(s)
	v.Do(chromedp.Navigate(url))
}

// Wear changes the screen.
func (v *Visitor) Wear(s Screen) {
	v.tb.Helper()
	v.screen = s
	size := emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1}
	if s.Phone {
		size = emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true}
	}
	tell(v, emulation.SetDeviceMetricsOverride, size)
	tell(v, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: s.Phone})
	choose := func(yes bool, one, other string) string {
		if yes {
			return one
		}
		return other
	}
	tell(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: choose(s.Dark, "dark", "light")},
		{Name: "prefers-reduced-motion", Value: choose(s.Calm, "reduce", "no-preference")},
	}})
	tell(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: Ask[string](v.Tab, `navigator.userAgent`), AcceptLanguage: choose(s.Language != "", s.Language, "en-US"),
	})
}

// Reload opens the page anew.
func (v *Visitor) Reload() {
	v.tb.Helper()
	v.Do(chromedp.Reload())
}

// Back is the browser's own button.
func (v *Visitor) Back() {
	v.tb.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
}

// Beforehand has a script run on each page that is opened from now on, before all that is the page's own.
func (v *Visitor) Beforehand(script string) {
	v.tb.Helper()
	tell(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Rest waits until nothing moves any more of what comes to rest by itself.
func (v *Visitor) Rest() {
	v.tb.Helper()
	Ask[int](v.Tab, `(async () => {
		const move = () => document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getComputedTiming().iterations < 9);
		for (let n = 0; n < 100 && move().length; n++) await Promise.race([Promise.allSettled(move().map((a) => a.finished)), new Promise((r) => setTimeout(r, 100))]);
		return 0;
	})()`)
}

// Text is all that is written on the page, as it is seen.
func (v *Visitor) Text() string {
	v.tb.Helper()
	return strings.ReplaceAll(Ask[string](v.Tab, `document.body?.innerText ?? ''`), "\u00a0", " ")
}

package webtest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// stepTimeout limits one action in the browser, such as a step of Tab.Do.
const stepTimeout = time.Minute

// Tab is a page of the browser. One goroutine may use it at a time.
type Tab struct {
	tb      testing.TB
	context context.Context
}

// Tab opens an empty page, which is closed when the test ends. All tabs opened by this method share cookies and
// storage. Each listener is called with each event of the page, in order, one at a time. A listener must not use the
// tab.
func (c *Chromium) Tab(tb testing.TB, listeners ...func(event any)) *Tab {
	tb.Helper()
	return openTab(c.context, tb, listeners)
}

// NewUserTab opens a tab with cookies and storage of its own, empty at first, as for another user.
func (c *Chromium) NewUserTab(tb testing.TB, listeners ...func(event any)) *Tab {
	tb.Helper()
	return openTab(c.context, tb, listeners, chromedp.WithNewBrowserContext())
}

// NewTab opens another tab that shares cookies and storage with this one.
func (t *Tab) NewTab(tb testing.TB, listeners ...func(event any)) *Tab {
	tb.Helper()
	return openTab(t.context, tb, listeners)
}

func openTab(parent context.Context, tb testing.TB, listeners []func(event any), options ...chromedp.ContextOption) *Tab {
	tb.Helper()
	for _, l := range listeners {
		options = append(options, chromedp.WithListener(l))
	}
	ctx, end := chromedp.NewContext(parent, options...)
	tb.Cleanup(end)
	t := &Tab{tb: tb, context: ctx}
	if err := chromedp.Do(ctx); err != nil { // no deadline, because a deadline would also end the tab
		tb.Fatalf("opening a tab: %v", err)
	}
	t.resize(desktop)
	return t
}

// desktop is the size of the viewport in every new tab, because browsers have different defaults.
var desktop = emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 800, DeviceScaleFactor: 1}

// resize sets the viewport.
func (t *Tab) resize(viewport emulation.SetDeviceMetricsOverrideParams) {
	t.tb.Helper()
	t.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, viewport)
		return err
	}))
}

// Context returns the tab's context for chromedp. It is cancelled when the test ends.
func (t *Tab) Context() context.Context { return t.context }

// Do runs steps one after the other, and fails the test if one fails or takes too long.
func (t *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	for i, step := range steps {
		if _, err := Try(t, step); err != nil {
			t.tb.Fatalf("step %d in the browser: %v", i+1, err)
		}
	}
}

// Try runs one action and returns its result.
func Try[Result any](t *Tab, action chromedp.Action[Result]) (Result, error) {
	ctx, cancel := context.WithTimeout(t.context, stepTimeout)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// Ask evaluates a JavaScript expression, waits for it if it is a promise, and returns its value.
func Ask[Value any](t *Tab, expression string) Value {
	t.tb.Helper()
	value, err := Try(t, chromedp.Evaluate[Value](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.tb.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

package webtest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a tab may take for one thing that it is told to do.
const patience = time.Minute

// Tab is a page of the browser. It is for one goroutine at a time.
type Tab struct {
	tb      testing.TB
	context context.Context
}

// Tab opens an empty page, which is closed when the test ends. It has its cookies and its storage in common with the other
// tabs made so. A listener is called with each event of the page, one at a time, in order; it must not use the tab.
func (c *Chromium) Tab(tb testing.TB, listeners ...func(event any)) *Tab {
	tb.Helper()
	return openTab(c.context, tb, listeners)
}

// Stranger opens a tab as another person would, who has cookies and storage of his own: nothing yet.
func (c *Chromium) Stranger(tb testing.TB, listeners ...func(event any)) *Tab {
	tb.Helper()
	return openTab(c.context, tb, listeners, chromedp.WithNewBrowserContext())
}

// Another opens one more tab of the same person.
func (t *Tab) Another(tb testing.TB, listeners ...func(event any)) *Tab {
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
	if err := chromedp.Do(ctx); err != nil { // without a deadline, or the tab would end with it
		tb.Fatalf("opening a tab: %v", err)
	}
	return t
}

// Context is the tab for chromedp, until the test ends.
func (t *Tab) Context() context.Context { return t.context }

// Do does steps one after the other, and fails the test when one is not done in time.
func (t *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	for i, step := range steps {
		if _, err := Try(t, step); err != nil {
			t.tb.Fatalf("step %d in the browser: %v", i+1, err)
		}
	}
}

// Try does one thing and gives what it gives.
func Try[Result any](t *Tab, action chromedp.Action[Result]) (Result, error) {
	ctx, cancel := context.WithTimeout(t.context, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// Ask evaluates a JavaScript expression, waits for it if it is a promise, and gives its value.
func Ask[Value any](t *Tab, expression string) Value {
	t.tb.Helper()
	value, err := Try(t, chromedp.Evaluate[Value](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.tb.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

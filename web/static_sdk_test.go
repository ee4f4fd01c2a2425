package web_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// These tests run in Chromium. They call each exported function of the modules in testdata/sdk. Their names exclude
// them from runs with the race detector, which would find nothing here.

// TestBrowserSDK tests the SDK against a fake server in the page, which sends what the real one sends rarely.
func TestBrowserSDK(t *testing.T) {
	enginetest.Nightly(t, "page")
	site, _ := sdkSite(t)
	runModules(t, site.URL, "frames", "split", "draw", "feed", "rooms", "calls", "packets", "tokens", "files")
}

// TestBrowserSDKServer tests the SDK against the real server, which is killed, and through a proxy that cuts the
// connection.
func TestBrowserSDKServer(t *testing.T) {
	enginetest.Nightly(t, "page")
	site, mux := sdkSite(t)
	controlled(t, site.URL, mux)
	runModules(t, site.URL, "server")
}

// moduleResult says what a test of a module found wrong; "": nothing.
type moduleResult struct{ Name, Wrong string }

// runModules runs the tests of each module on a page of its own.
func runModules(t *testing.T, site string, modules ...string) {
	t.Helper()
	browser := webtest.Browser(t)
	for _, module := range modules {
		t.Run(module, func(t *testing.T) {
			tab := browser.Tab(t, func(event any) {
				if said, ok := event.(*runtime.EventConsoleAPICalled); ok {
					t.Logf("console: %s", said.Args[0].Value)
				}
			})
			tab.Do(chromedp.Navigate(site))
			ctx, cancel := context.WithTimeout(tab.Context(), 4*time.Minute)
			defer cancel()
			run := fmt.Sprintf(`import('/test/run.js').then(({ run }) => run('/test/%s.js'))`, module)
			results, err := chromedp.Run(ctx, chromedp.Evaluate[[]moduleResult](run, chromedp.EvalAwaitPromise))
			if err != nil || len(results) == 0 {
				t.Fatalf("%d results, %v", len(results), err)
			}
			for _, result := range results {
				t.Run(result.Name, func(t *testing.T) {
					if result.Wrong != "" {
						t.Error(result.Wrong)
					}
				})
			}
		})
	}
}

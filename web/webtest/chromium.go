// Package webtest drives a real browser for tests: Chromium without a window, from the machine's own packages. It owns the
// browser's process and its tabs; what a page is asked, and what must be on it, is the business of the tests that import it.
//
// A browser always starts empty and ends, with its profile, when the test that started it ends. It comes from PATH and from
// nowhere else: nothing is downloaded here.
package webtest

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// programs are the names that the browser goes by, the smallest first.
var programs = []string{"chromium-headless-shell", "headless-shell", "chromium", "google-chrome"}

// Install is the command that brings the browser to a Debian machine.
const Install = "apt-get install -y --no-install-recommends chromium-headless-shell"

// Chromium is a browser that runs.
type Chromium struct {
	context context.Context // of the process; tabs are made from it
}

// Browser starts one, which runs until the test ends. Subtests may share it, and use their tabs at the same time.
func Browser(tb testing.TB) *Chromium {
	tb.Helper()
	program := find(tb)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("blink-settings", "primaryPointerType=4,availablePointerTypes=4,primaryHoverType=2,availableHoverTypes=2"), // a mouse
	) // the profile is a temporary one, and as root it gets --no-sandbox besides
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	tb.Cleanup(end)
	browser, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(tb.Logf))
	tb.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			tb.Logf("closing the browser: %v", err)
		}
	})
	if err := chromedp.Do(browser); err != nil {
		tb.Fatalf("%s does not start: %v", program, err)
	}
	return &Chromium{context: browser}
}

func find(tb testing.TB) (program string) {
	tb.Helper()
	for _, name := range programs {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	tb.Fatalf("no browser on PATH, looked for %s: %s", strings.Join(programs, ", "), Install)
	return ""
}

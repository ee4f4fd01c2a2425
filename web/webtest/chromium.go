package webtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
)

// programs are the names of browsers that the tests can use, the smallest first. TEST_BROWSER in the environment names another
// one.
var programs = []string{"chromium-headless-shell", "headless-shell", "chromium", "google-chrome"}

// Install is a shell command that installs a suitable browser on Debian.
const Install = "apt-get install -y --no-install-recommends chromium-headless-shell"

// Chromium is a running browser.
type Chromium struct {
	context context.Context // context of the browser's process; tabs derive from it
}

// Browser starts a browser, which is stopped when the test ends. Subtests may share it and use their tabs concurrently.
func Browser(tb testing.TB) *Chromium {
	tb.Helper()
	enginetest.Need(tb, "a browser")
	program := find(tb)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("use-fake-device-for-media-stream", true), // the microphone beeps
		chromedp.Flag("use-fake-ui-for-media-stream", true),     // and is allowed
		chromedp.Flag("blink-settings", "primaryPointerType=4,availablePointerTypes=4,primaryHoverType=2,availableHoverTypes=2"), // pages see a mouse
	) // the profile is temporary; chromedp adds --no-sandbox for root
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
	names := programs
	if name := os.Getenv("TEST_BROWSER"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	tb.Fatalf("no browser on PATH, looked for %s: %s", strings.Join(names, ", "), Install)
	return ""
}

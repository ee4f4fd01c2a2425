package webtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestTabs shows who has what in common, and that a tab says what happens in it.
func TestTabs(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>site</title>"))
	}))
	t.Cleanup(site.Close)
	browser := Browser(t)

	said := make(chan string, 10)
	ann := browser.Tab(t, func(event any) {
		if e, ok := event.(*runtime.EventConsoleAPICalled); ok {
			said <- string(e.Args[0].Value)
		}
	})
	ann.Do(chromedp.Navigate(site.URL))
	stored := Ask[string](ann, `console.log('here'), localStorage.name = 'ann', Promise.resolve(document.title)`)
	if stored != "site" {
		t.Errorf("the title is %q", stored)
	}
	if got := <-said; got != `"here"` {
		t.Errorf("it said %s", got)
	}
	bob := browser.Stranger(t)
	for _, c := range []struct {
		who  string
		tab  *Tab
		want string
	}{
		{"the same person", browser.Tab(t), "ann"},
		{"a stranger", bob, "nobody"},
		{"the stranger again", bob.Another(t), "bob"},
	} {
		c.tab.Do(chromedp.Navigate(site.URL))
		if got := Ask[string](c.tab, `localStorage.name ?? 'nobody'`); got != c.want {
			t.Errorf("%s finds %q, want %q", c.who, got, c.want)
		}
		if c.tab == bob {
			bob.Do(chromedp.Evaluate[chromedp.Void](`localStorage.name = 'bob'`))
		}
	}
}

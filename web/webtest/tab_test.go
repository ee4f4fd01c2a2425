package webtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestTabs checks which tabs share storage, and that a tab's listener gets its events.
func TestTabs(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>site</title>"))
	}))
	t.Cleanup(site.Close)
	browser := Browser(t)

	logged := make(chan string, 10)
	ann := browser.Tab(t, func(event any) {
		if e, ok := event.(*runtime.EventConsoleAPICalled); ok {
			logged <- string(e.Args[0].Value)
		}
	})
	ann.Do(chromedp.Navigate(site.URL))
	stored := Ask[string](ann, `console.log('here'), localStorage.name = 'ann', Promise.resolve(document.title)`)
	if stored != "site" {
		t.Errorf("the title is %q", stored)
	}
	if got := <-logged; got != `"here"` {
		t.Errorf("the listener got %s", got)
	}
	bob := browser.NewUserTab(t)
	for _, c := range []struct {
		name string
		tab  *Tab
		want string
	}{
		{"the same user", browser.Tab(t), "ann"},
		{"another user", bob, "empty"},
		{"the other user again", bob.NewTab(t), "bob"},
	} {
		c.tab.Do(chromedp.Navigate(site.URL))
		if got := Ask[string](c.tab, `localStorage.name ?? 'empty'`); got != c.want {
			t.Errorf("%s finds %q, want %q", c.name, got, c.want)
		}
		if c.tab == bob {
			bob.Do(chromedp.Evaluate[chromedp.Void](`localStorage.name = 'bob'`))
		}
	}
}

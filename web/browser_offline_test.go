package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// serveAt serves a handler at an address until stop is called, or the test ends.
func serveAt(t *testing.T, addr string, h http.Handler) (at string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	noError(t, err)
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }()
	stop = func() { _ = server.Close() }
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// expectOffline allows what browsers report while there is no server.
func expectOffline(v *webtest.Visitor) {
	for _, part := range []string{"ERR_CONNECTION_REFUSED", "WebSocket connection to", "Failed to load resource", "Failed to fetch", "when fetching the script"} {
		v.Expect(part)
	}
}

// savedHere evaluates to what the browser keeps of the messages.
const savedHere = `new Promise((resolve) => {
	const asked = indexedDB.open('hongbao', 1);
	asked.onupgradeneeded = () => asked.result.createObjectStore('saved');
	asked.onsuccess = () => {
		const got = asked.result.transaction('saved').objectStore('saved').get('last');
		got.onsuccess = () => { asked.result.close(); resolve(JSON.stringify(got.result ?? '')); };
	};
})`

// TestBrowserOffline stops the server. A reload must open the page with the last messages, and say that it is offline. A text that was written
// then must be sent when the server is back, and messages that the page has missed must be shown. After signing out nothing may be left.
func TestBrowserOffline(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	addr, stop := serveAt(t, "127.0.0.1:0", s.Handler())
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+addr, "Ann", webtest.Screen{})
	expectOffline(ann)
	tea, _ := twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	bob.does("send", `"room":%q,"text":"before the cable was cut"`, tea)
	bob.packet(tea, 100, 2, `,"greeting":"an old packet"`)
	ann.Sees("before the cable was cut", "an old packet")
	s.eventually(t, "the messages are kept", func() bool { return strings.Contains(webtest.Ask[string](ann.Tab, savedHere), "an old packet") })
	webtest.Ask[bool](ann.Tab, `navigator.serviceWorker.ready.then(() => true)`)

	stop()
	ann.Reload()
	ann.Sees("Offline. You see what was here last", "before the cable was cut", "an old packet")
	ann.Fill("Message", "written in the dark")
	ann.Key("\r")
	ann.Has("image", "Being sent")
	ann.Reload()
	ann.Sees("Offline. You see what was here last", "written in the dark")
	bob.does("send", `"room":%q,"text":"while the server was gone"`, tea)

	_, stop = serveAt(t, addr, s.Handler())
	ann.Sees("while the server was gone", "written in the dark")
	ann.Lacks("image", "Being sent")
	ann.Misses("Offline.")
	if n := ann.Count("listitem", "written in the dark"); n > 1 {
		t.Errorf("the text is shown %d times", n)
	}
	ann.Press("button", "Settings")
	ann.Press("button", "Sign out")
	ann.Press("button", "Sign out")
	ann.Sees("What may we call you?")
	if got := webtest.Ask[string](ann.Tab, savedHere); got != `""` {
		t.Errorf("after signing out the browser keeps %s", got)
	}
	stop()
}

// nextVersion serves the page as the next version would: in a folder of another name, without the folder of the old version.
func nextVersion(h http.Handler, old, next string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			h.ServeHTTP(w, r)
			return
		}
		if strings.Contains(r.URL.Path, old) {
			http.NotFound(w, r)
			return
		}
		r.URL.Path = strings.Replace(r.URL.Path, next, old, 1)
		r.Header.Del("Accept-Encoding")
		r.Header.Del("If-None-Match")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		for _, name := range []string{"Content-Type", "Cache-Control", "Content-Security-Policy"} {
			w.Header().Set(name, answer.Header().Get(name))
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write([]byte(strings.ReplaceAll(answer.Body.String(), old, next)))
	})
}

// TestBrowserUpdate changes the version of the page. An open tab must still find its files, a reload must bring the new version, and without the
// server the new version must open.
func TestBrowserUpdate(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	addr, stop := serveAt(t, "127.0.0.1:0", s.Handler())
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+addr, "Ann", webtest.Screen{})
	expectOffline(ann)
	ann.Expect("404")
	const version = `document.querySelector('script[type=module]').getAttribute('src').split('/')[0]`
	old, next := webtest.Ask[string](ann.Tab, version), "0123456789abcdef"
	awaitAsk(t, ann, `navigator.serviceWorker.controller`)

	stop()
	_, stop = serveAt(t, addr, nextVersion(s.Handler(), old, next))
	if status := webtest.Ask[int](ann.Tab, `fetch('`+old+`/more.js').then((r) => r.status)`); status != http.StatusOK {
		t.Errorf("a file of the open tab's version: status %d", status)
	}
	ann.Reload()
	ann.Has("button", "Ann open settings")
	if got := webtest.Ask[string](ann.Tab, version); got != next {
		t.Errorf("after a reload the page is of the version %s", got)
	}
	awaitAsk(t, ann, `window.found || (caches.open('hongbao-`+next+`').then((c) => c.match('./')).then((r) => { window.found = !!r; }), false)`)
	s.eventually(t, "the guest is kept", func() bool { return strings.Contains(webtest.Ask[string](ann.Tab, savedHere), "Ann") })
	stop()
	ann.Reload()
	ann.Sees("Offline.")
	if got := webtest.Ask[string](ann.Tab, version); got != next {
		t.Errorf("without the server the page is of the version %s", got)
	}
}

package web

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"hongbao/web/webtest"
)

// serveAt serves the handler at an address until stop is called, or the test ends.
func (s *testServer) serveAt(t *testing.T, addr string) (at string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.Handler()} //nolint:gosec // a test needs no timeouts
	go func() { _ = server.Serve(l) }()
	stop = func() { _ = server.Close() }
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// TestBrowserOffline stops the server. A reload must open the page with the last messages, and say that it is offline. A text that was written
// then must be sent when the server is back, and messages that the page has missed must be shown. After signing out nothing may be left.
func TestBrowserOffline(t *testing.T) {
	s := newTestServer(t, withGuests)
	addr, stop := s.serveAt(t, "127.0.0.1:0")
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+addr, "Ann", webtest.Screen{})
	ann.Expect("ERR_CONNECTION_REFUSED")
	ann.Expect("WebSocket connection to")
	ann.Expect("Failed to load resource")
	ann.Expect("Failed to fetch")
	tea, _ := twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	bob.does("send", `"room":%q,"text":"before the cable was cut"`, tea)
	bob.packet(tea, 100, 2, `,"greeting":"an old packet"`)
	ann.Sees("before the cable was cut", "an old packet")
	const saved = `new Promise((resolve) => {
		const asked = indexedDB.open('hongbao', 1);
		asked.onupgradeneeded = () => asked.result.createObjectStore('saved');
		asked.onsuccess = () => {
			const got = asked.result.transaction('saved').objectStore('saved').get('last');
			got.onsuccess = () => { asked.result.close(); resolve(JSON.stringify(got.result ?? '')); };
		};
	})`
	s.eventually(t, "the messages are kept", func() bool { return strings.Contains(webtest.Ask[string](ann.Tab, saved), "an old packet") })
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

	_, stop = s.serveAt(t, addr)
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
	if got := webtest.Ask[string](ann.Tab, saved); got != `""` {
		t.Errorf("after signing out the browser keeps %s", got)
	}
	stop()
}

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// httpGuest is a guest that acts over HTTP, without a browser.
type httpGuest struct {
	t *testing.T
	h http.Handler
	wire.GuestReply
	keys int
}

func (s *testServer) httpGuest(t *testing.T, name string) *httpGuest {
	t.Helper()
	h := s.Handler()
	return &httpGuest{t: t, h: h, GuestReply: mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", fmt.Sprintf(`{"name":%q}`, name)), 200)}
}

// does runs a command, with a new key. fields are the other fields of the request, as JSON.
func (a *httpGuest) does(method, fields string, args ...any) (reply struct {
	Room wire.Room
	Seq  int64
}) {
	a.t.Helper()
	a.keys++
	body := fmt.Sprintf(`{"key":"afar-%d",%s}`, a.keys, fmt.Sprintf(fields, args...))
	return mustAnswer[struct {
		Room wire.Room
		Seq  int64
	}](a.t, ask(a.t, a.h, "POST", "/v1/commands/"+method, a.Token, body), 200)
}

// visitAsGuest opens the page in a new browser profile and signs in as a guest.
func visitAsGuest(t *testing.T, b *webtest.Chromium, page, name string, s webtest.Screen) *webtest.Visitor {
	t.Helper()
	v := b.Visit(t, page, s)
	v.Fill("What may we call you?", name)
	v.Key("\r")
	v.Has("button", name+" open settings")
	return v
}

func title(v *webtest.Visitor) string { return webtest.Ask[string](v.Tab, `document.title`) }

// mustListRooms checks that the rows of the list of rooms begin with the given texts, in this order.
func mustListRooms(t *testing.T, v *webtest.Visitor, want ...string) {
	t.Helper()
	rows := webtest.Ask[[]string](v.Tab, `[...document.querySelectorAll('.room-row-words')].map((e) => e.innerText.replace(/\s+/g, ' '))`)
	if len(rows) != len(want) {
		t.Fatalf("listed are %q", rows)
	}
	for i, row := range rows {
		if !strings.HasPrefix(row, want[i]) {
			t.Errorf("row %d is %q, want %q", i, row, want[i])
		}
	}
}

// TestBrowserRoomList looks at the list of rooms. Each row must show the last message, its sender and the number of
// unread messages, also for messages sent while the user was offline.
func TestBrowserRoomList(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann, bob := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{Phone: true}), s.httpGuest(t, "<i>Bob")
	ann.Press("button", "New room")
	ann.Press("button", "Make the room")
	ann.Sees("Please give the room a name.")
	ann.Fill("Name", strings.Repeat("x", 66))
	ann.Sees("2 characters too many.")
	ann.Fill("Name", "Tea")
	ann.Press("radio", "Public")
	ann.Press("button", "Make the room")
	ann.Has("heading", "Tea")
	ann.Back()
	ann.Sees("Nothing said yet")
	id := webtest.Ask[string](ann.Tab, `document.querySelector('.room-row').hash.split('/').pop()`)
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)

	bob.does("join", `"room":%q`, id)
	seq := bob.does("send", `"room":%q,"text":"hello\nthere"`, id).Seq
	ann.Sees("<i>Bob", ": hello there")
	if got := title(ann); got != "(1) hongbao" {
		t.Errorf("the title is %q", got)
	}
	cake := bob.does("create_room", `"name":"Cake","kind":"public","members":[%q]`, me).Room.ID
	bob.does("send_packet", `"room":%q,"total":500,"count":2,"greeting":"for you all"`, cake)
	ann.Sees("[Red packet]", ": for you all")
	direct := bob.does("direct", `"user":%q`, me).Room.ID
	bob.does("send", `"room":%q,"text":"just you"`, direct)
	ann.Sees("just you")
	bob.does("recall", `"room":%q,"seq":%d`, id, seq)
	ann.Sees("took a message back")
	want := []string{bob.User.Name, "Cake", "Tea"}
	mustListRooms(t, ann, want...)

	ann.Reload() // after a reload the page must request the last messages
	ann.Sees("just you", "[Red packet]", ": for you all", "took a message back")
	mustListRooms(t, ann, want...)
	if got := title(ann); got != "(3) hongbao" {
		t.Errorf("the title is %q", got)
	}
	ann.Press("searchbox", "Search rooms and people")
	ann.Key("ca")
	ann.Misses("just you")
	mustListRooms(t, ann, "Cake")
	ann.Key("\r")
	ann.Key("\r")
	ann.Has("heading", "Cake")
}

// TestBrowserComingIn joins public rooms from the list, by search and by a link. Private rooms must not be reachable.
func TestBrowserComingIn(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	tea := bob.does("create_room", `"name":"Tea","kind":"public"`).Room.ID
	for i := range 30 {
		bob.does("create_room", `"name":"Table %d","kind":"public"`, i)
	}
	secret := bob.does("create_room", `"name":"Secret","kind":"private"`).Room.ID
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	ann.Press("button", "Join Table 29")
	ann.Has("heading", "Table 29")
	ann.Press("button", "Find")
	ann.Fill("Name of a public room", "table 1")
	ann.Misses("Table 28")
	ann.Press("button", "Join Table 17")
	ann.Has("heading", "Table 17")
	ann.Press("button", "Find")
	ann.Press("button", "Show more")
	ann.Has("button", "Join Table 2")
	ann.Key("\x1b")

	link := ann.Again(t, page+"/#/room/"+tea, webtest.Screen{Phone: true})
	link.Sees("Join this room?", "Tea", "1 member")
	link.Press("button", "Join")
	link.Has("heading", "Tea")
	closed := ann.Again(t, page+"/#/room/"+secret, webtest.Screen{})
	closed.Press("button", "Join")
	closed.Sees("There is no such room, or it is private")
	closed.Press("button", "Direct chat")
	closed.Fill("Name of somebody you have met, or an id", "guest:nobody")
	closed.Key("\r")
	closed.Sees("Nobody with this id has been here, or they don’t want messages from you.")
	closed.Fill("Name of somebody you have met, or an id", bob.User.ID)
	closed.Key("\r")
	closed.Has("heading", "Bob")
}

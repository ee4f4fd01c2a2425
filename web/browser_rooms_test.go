package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// afar is somebody who acts over HTTP, for there is no need to see it.
type afar struct {
	t *testing.T
	h http.Handler
	wire.GuestReply
	keys int
}

func (s *testServer) afar(t *testing.T, name string) *afar {
	t.Helper()
	h := s.Handler()
	return &afar{t: t, h: h, GuestReply: mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", fmt.Sprintf(`{"name":%q}`, name)), 200)}
}

// does a command that has a key, or needs none.
func (a *afar) does(method, fields string, args ...any) (reply struct {
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

// comesIn is a visitor who is a guest already.
func comesIn(t *testing.T, b *webtest.Chromium, page, name string, s webtest.Screen) *webtest.Visitor {
	t.Helper()
	v := b.Visit(t, page, s)
	v.Fill("What may we call you?", name)
	v.Key("\r")
	v.Has("button", name+" open settings")
	return v
}

func title(v *webtest.Visitor) string { return webtest.Ask[string](v.Tab, `document.title`) }

// mustBeListed wants the rows of the list to begin so, in this order.
func mustBeListed(t *testing.T, v *webtest.Visitor, want ...string) {
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

// TestBrowserRoomList: what was said last, by whom, and how much of it one has not read; also of what came while one was away.
func TestBrowserRoomList(t *testing.T) {
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann, bob := comesIn(t, webtest.Browser(t), page, "Ann", webtest.Screen{Phone: true}), s.afar(t, "<i>Bob")
	ann.Press("button", "New room")
	ann.Press("button", "Make the room")
	ann.Sees("Please give the room a name.")
	ann.Fill("Name", strings.Repeat("x", 66))
	ann.Sees("2 characters too many.")
	ann.Fill("Name", "Tea")
	ann.Key("\r")
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
	cake := bob.does("create_room", `"name":"Cake","members":[%q]`, me).Room.ID
	bob.does("send_packet", `"room":%q,"total":500,"count":2,"greeting":"for you all"`, cake)
	ann.Sees("[Red packet]", ": for you all")
	direct := bob.does("direct", `"user":%q`, me).Room.ID
	bob.does("send", `"room":%q,"text":"just you"`, direct)
	ann.Sees("just you")
	bob.does("recall", `"room":%q,"seq":%d`, id, seq)
	ann.Sees("took a message back")
	want := []string{bob.User.Name, "Cake", "Tea"}
	mustBeListed(t, ann, want...)

	ann.Reload() // now it has to be asked for
	ann.Sees("just you", "[Red packet]", ": for you all", "took a message back")
	mustBeListed(t, ann, want...)
	if got := title(ann); got != "(3) hongbao" {
		t.Errorf("the title is %q", got)
	}
	ann.Press("searchbox", "Search your rooms")
	ann.Key("ca")
	ann.Misses("just you")
	mustBeListed(t, ann, "Cake")
	ann.Key("\r")
	ann.Key("\r")
	ann.Has("heading", "Cake")
}

// TestBrowserComingIn: into rooms that are open to everyone, by a list, a search and a link; and not into others.
func TestBrowserComingIn(t *testing.T) {
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.afar(t, "Bob")
	tea := bob.does("create_room", `"name":"Tea"`).Room.ID
	for i := range 30 {
		bob.does("create_room", `"name":"Table %d"`, i)
	}
	secret := bob.does("create_room", `"name":"Secret","kind":"private"`).Room.ID
	browser := webtest.Browser(t)
	ann := comesIn(t, browser, page, "Ann", webtest.Screen{})
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
	link.Sees("Join this room?")
	link.Press("button", "Join")
	link.Has("heading", "Tea")
	closed := ann.Again(t, page+"/#/room/"+secret, webtest.Screen{})
	closed.Press("button", "Join")
	closed.Sees("There is no such room, or it is private")
	closed.Press("button", "Direct chat")
	closed.Fill("Name of somebody you have met, or an id", "guest:nobody")
	closed.Key("\r")
	closed.Sees("Nobody with this id has been here.")
	closed.Fill("Name of somebody you have met, or an id", bob.User.ID)
	closed.Key("\r")
	closed.Has("heading", "Bob")
}

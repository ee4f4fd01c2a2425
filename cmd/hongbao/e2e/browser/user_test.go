package browser

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/webtest"
)

// browserUser is a user with a page. Its methods click and type there.
type browserUser struct {
	*webtest.Visitor

	fixture *fixture
	words   pageWords
}

func (u *browserUser) signInAs(name string) {
	u.fixture.t.Helper()
	u.Fill(u.words.name, name)
	u.Key("\r")
	u.Has("button", name)
}

// createRoom creates a room; the page then shows it.
func (u *browserUser) createRoom(name string) (room string) {
	u.fixture.t.Helper()
	u.Press("button", "New room")
	u.Fill("Name", name)
	u.Press("radio", "Public Everyone can find it and join.")
	u.Press("button", "Make the room")
	u.Has("heading", name)
	return u.room()
}

// room returns the id of the room that the page shows.
func (u *browserUser) room() string {
	u.fixture.t.Helper()
	return webtest.Ask[string](u.Tab, `decodeURIComponent(location.hash.split('/')[2] ?? '')`)
}

// join joins a room by its link.
func (u *browserUser) join(room string) {
	u.fixture.t.Helper()
	u.goTo("#/room/" + room)
	u.Press("button", u.words.join)
	u.Has("textbox", u.words.write)
}

// goTo opens the view of an address.
func (u *browserUser) goTo(hash string) {
	u.fixture.t.Helper()
	webtest.Ask[bool](u.Tab, fmt.Sprintf(`new Promise((drawn) => {
		const was = location.href;
		addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))), { once: true });
		location.hash = %q;
		if (location.href === was) drawn(true);
	})`, hash))
}

func (u *browserUser) say(text string) {
	u.fixture.t.Helper()
	u.Fill(u.words.write, text)
	u.Key("\r")
}

// packet is what the user types into the form.
type packet struct{ total, count, greeting string }

func (u *browserUser) sendPacket(p packet) {
	u.fixture.t.Helper()
	u.Press("button", "Send a red packet")
	u.Fill("Total", p.total)
	u.Fill("How many shares", p.count)
	u.Fill("Greeting", p.greeting)
	u.Press("button", "Send ¥")
	u.Lacks("dialog", "")
}

// showEnvelope opens the view of a packet that the user has not opened.
func (u *browserUser) showEnvelope(greeting string) {
	u.fixture.t.Helper()
	u.Press("button", greeting)
	u.Has("button", "Open")
}

// tapOpen opens the packet that is shown, and returns the amount won; 0 means that others were faster.
func (u *browserUser) tapOpen() (won int64) {
	u.fixture.t.Helper()
	u.Press("button", "Open")
	u.Has("button", "Provably fair")
	if strings.Contains(u.Text(), "Others were faster") {
		return 0
	}
	u.Sees("in your wallet")
	u.Press("button", "Provably fair")
	u.Misses("Provably fair")
	return cents(webtest.Ask[string](u.Tab, `document.querySelector('.packet-mine .amount').textContent`))
}

func (u *browserUser) openPacket(greeting string) (won int64) {
	u.fixture.t.Helper()
	u.showEnvelope(greeting)
	return u.tapOpen()
}

// balance returns what the page shows of the wallet, in cents.
func (u *browserUser) balance() int64 {
	u.fixture.t.Helper()
	return cents(u.Has("button", "Wallet, ¥"))
}

var amounts = regexp.MustCompile(`¥([\d,]+)\.(\d\d)`)

// cents returns the first amount in a text, or -1 if there is none.
func cents(text string) int64 {
	found := amounts.FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", "")+found[2], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// token returns the guest's token, which the browser keeps.
func (u *browserUser) token() string {
	u.fixture.t.Helper()
	return webtest.Ask[string](u.Tab, `localStorage.getItem('hongbao-guest')`)
}

// id returns the user's id.
func (u *browserUser) id() string {
	u.fixture.t.Helper()
	return webtest.Ask[string](u.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).sub`)
}

// commandAs sends a command over HTTP as the bearer of a token. It must succeed.
func commandAs[Reply any](f *fixture, token, method string, request any) (reply Reply) {
	f.t.Helper()
	status, answer, err := f.server.Post(token, "commands/"+method, request)
	if err == nil {
		err = json.Unmarshal(answer, &reply)
	}
	if err != nil || status != 200 {
		f.t.Fatalf("%s %s: status %d: %s, error %v, want 200", method, e2e.JSON(request), status, answer, err)
	}
	return reply
}

func newKey() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// rawReply is a reply that is not decoded.
type rawReply = json.RawMessage

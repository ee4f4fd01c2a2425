package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// recordConnectionBar makes the page record every text of its connection bar; some are shown only briefly.
const recordConnectionBar = `window.barTexts = [], new MutationObserver(() => {
	const now = document.querySelector('.link')?.innerText.trim();
	if (now && barTexts.at(-1) !== now) barTexts.push(now);
}).observe(document.body, { subtree: true, childList: true, characterData: true }), 0`

// TestBrowserRestart kills the server while users chat: the page says so, keeps what they write and sends it once, and catches up
// on what others wrote.
func TestBrowserRestart(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	ann := f.newUser("Ann", webtest.Screen{})
	room := ann.createRoom("Late shift")
	bob := f.newUsers(room, webtest.Screen{Phone: true}, "Bob")[0]
	carl := f.newAPIUser("Carl")
	carl.join(room)
	pages := []*browserUser{ann, bob}
	atOnce(pages, func(_ int, u *browserUser) {
		u.Expect("WebSocket connection to")
		u.Expect("ERR_CONNECTION_REFUSED")
		u.Expect("when fetching the script") // of the service worker, which the browser looks for again
		webtest.Ask[int](u.Tab, recordConnectionBar)
	})
	ann.say("before the lights went out")
	bob.Sees("before the lights went out")

	f.server.Kill()
	atOnce(pages, func(_ int, u *browserUser) { u.Sees("Reconnecting… what you write is kept") })
	ann.say("written in the dark")
	ann.Has("image", "Being sent")
	ann.sendPacket(packet{"6.66", "3", "A candle for you"})
	ann.Sees("A candle for you", "Sending…")
	bob.say("me too")
	bob.Has("image", "Being sent")

	f.server = f.server.Restart()
	var sent []string
	for i := range 30 {
		sent = append(sent, fmt.Sprintf("Carl, line %d.", i))
		carl.say(room, sent[i])
	}
	everything := append([]string{"before the lights went out", "written in the dark", "me too", "A candle for you"}, sent...)
	atOnce(pages, func(_ int, u *browserUser) {
		u.Sees("Carl, line 29.", "me too", "written in the dark", "A candle for you")
		u.Lacks("image", "Being sent")
		u.Misses("Sending…")
		u.Misses("Reconnecting")
		mustShowOnce(t, u, everything)
	})
	mustShowOnce(t, ann, everything) // again, now that Bob's are there too
	if got := webtest.Ask[[]string](ann.Tab, `barTexts`); !slices.Contains(got, "Back again") && !slices.Contains(got, "Catching up…") {
		t.Errorf("the connection bar showed %q, want also \"Back again\" or \"Catching up…\"", got)
	}
	if won := bob.openPacket("A candle for you"); won == 0 {
		t.Error("bob won nothing from the packet that was sent during the outage")
	}
	if got := ann.balance(); got != 100_000-666 {
		t.Errorf("ann's wallet shows %d after one packet of 6.66, want %d", got, 100_000-666)
	}
	mustStoreOnce(t, carl, room, everything)
}

// mustShowOnce fails the test unless the room shows each text once.
func mustShowOnce(t *testing.T, u *browserUser, texts []string) {
	t.Helper()
	page := webtest.Ask[string](u.Tab, `document.querySelector('.lines').textContent`)
	for _, text := range texts {
		if n := strings.Count(page, text); n != 1 {
			t.Errorf("the page shows %q %d times, want once", text, n)
		}
	}
}

// mustStoreOnce fails the test unless the room's history has each text once.
func mustStoreOnce(t *testing.T, member *apiUser, room string, texts []string) {
	t.Helper()
	history := string(command[rawReply](member, "history", wire.HistoryRequest{Room: room, Limit: 100}))
	for _, text := range texts {
		if n := strings.Count(history, text); n != 1 {
			t.Errorf("the room's history has %q %d times, want once", text, n)
		}
	}
}

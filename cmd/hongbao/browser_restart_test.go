package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// noteLinks has the page note all that the bar has told of the connection, for some of it passes soon.
const noteLinks = `window.told = [], new MutationObserver(() => {
	const now = document.querySelector('.link')?.innerText.trim();
	if (now && told.at(-1) !== now) told.push(now);
}).observe(document.body, { subtree: true, childList: true, characterData: true }), 0`

// TestBrowserRestart kills the server in mid-conversation: people are told, what they write is kept and arrives once, and
// what others say meanwhile is caught up.
func TestBrowserRestart(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	ann := s.comes("Ann", webtest.Screen{})
	room := ann.makesRoom("Late shift")
	bob := s.crowd(room, webtest.Screen{Phone: true}, "Bob")[0]
	carl := s.afar("Carl")
	carl.joins(room)
	pages := []*visitor{ann, bob}
	together(pages, func(_ int, v *visitor) {
		v.Expect("WebSocket connection to")
		v.Expect("ERR_CONNECTION_REFUSED")
		webtest.Ask[int](v.Tab, noteLinks)
	})
	ann.says("before the lights went out")
	bob.Sees("before the lights went out")

	s.node.kill()
	together(pages, func(_ int, v *visitor) { v.Sees("Reconnecting… what you write is kept") })
	ann.says("written in the dark")
	ann.Has("image", "Being sent")
	ann.sends(packet{"6.66", "3", "A candle for you"})
	ann.Sees("A candle for you", "Sending…")
	bob.says("me too")
	bob.Has("image", "Being sent")

	s.restarts()
	var said []string
	for i := range 30 {
		said = append(said, fmt.Sprintf("Carl, line %d.", i))
		carl.says(room, said[i])
	}
	everything := append([]string{"before the lights went out", "written in the dark", "me too", "A candle for you"}, said...)
	together(pages, func(_ int, v *visitor) {
		v.Sees("Carl, line 29.", "me too", "written in the dark")
		v.Lacks("image", "Being sent")
		v.Misses("Sending…")
		v.Misses("Reconnecting")
		mustBeThereOnce(t, v, everything)
	})
	mustBeThereOnce(t, ann, everything) // also after the others' have come
	if got := webtest.Ask[[]string](ann.Tab, `told`); !slices.Contains(got, "Back again") && !slices.Contains(got, "Catching up…") {
		t.Errorf("of the connection was told %q", got)
	}
	if won := bob.opens("A candle for you"); won == 0 {
		t.Error("the packet that was sent during the outage is empty")
	}
	if got := ann.balance(); got != 100_000-666 {
		t.Errorf("who has sent one packet of 6.66 has %d", got)
	}
	mustBeHeldOnce(t, s, carl, room, everything)
}

// mustBeThereOnce wants each text once on the page.
func mustBeThereOnce(t *testing.T, v *visitor, texts []string) {
	t.Helper()
	page := webtest.Ask[string](v.Tab, `document.querySelector('.lines').textContent`)
	for _, text := range texts {
		if n := strings.Count(page, text); n != 1 {
			t.Errorf("%q is %d times on the page", text, n)
		}
	}
}

// mustBeHeldOnce wants each text once in the room.
func mustBeHeldOnce(t *testing.T, s *salon, who *afar, room string, texts []string) {
	t.Helper()
	held := string(mustDo[rawReply](s, who.Token, "history", wire.HistoryRequest{Room: room, Limit: 100}))
	for _, text := range texts {
		if n := strings.Count(held, text); n != 1 {
			t.Errorf("%q is %d times in the room", text, n)
		}
	}
}

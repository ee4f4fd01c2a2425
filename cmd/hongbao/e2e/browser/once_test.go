package browser

import (
	"strings"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

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

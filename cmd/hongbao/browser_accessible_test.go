package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
)

// TestBrowserAccessible has axe look at every screen, in both colours, on a phone and on a desk: it finds nothing serious.
func TestBrowserAccessible(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	s.seat(english)
	axe, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	var both []*visitor
	for _, screen := range []webtest.Screen{{Calm: true}, {Phone: true, Dark: true, Calm: true}} {
		v := s.visits(screen)
		v.Do(chromedp.Evaluate[chromedp.Void](string(axe))) // by the browser's own hand: the policy of the page allows it nothing
		both = append(both, v)
	}
	together(both, func(i int, v *visitor) {
		how := []string{"desk, light", "phone, dark"}[i]
		mustBeAccessible(t, v, how+": door")
		v.comesInAs(english.me)
		v.Sees("No rooms yet")
		mustBeAccessible(t, v, how+": no rooms")
		for _, place := range s.moves(v, english).places() {
			v.at(place)
			mustBeAccessible(t, v, how+": "+place.name)
		}
	})
}

func mustBeAccessible(t *testing.T, v *visitor, where string) {
	t.Helper()
	v.Rest()
	type finding struct{ ID, Impact, Help, Where string }
	for _, f := range webtest.Ask[[]finding](v.Tab, axeRun) {
		said := fmt.Sprintf("%s: %s, %s: %s: %s", where, f.ID, f.Impact, f.Help, f.Where)
		if f.Impact == "serious" || f.Impact == "critical" {
			t.Error(said)
		} else {
			t.Log(said)
		}
	}
}

const axeRun = `(async () => {
	const { violations } = await axe.run(document, {
		runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'],
	});
	return violations.flatMap(({ id, impact, help, nodes }) => nodes.slice(0, 4).map((n) => ({
		id, impact, help, where: n.html.slice(0, 160) + ' ' + n.any.map((a) => a.message).join('; ').slice(0, 300),
	})));
})()`

package main

import (
	"testing"

	"hongbao/web/webtest"
)

// opensSmoothly looks at what moves while an envelope is opened: nothing that has the page laid out or painted anew.
func opensSmoothly(t *testing.T, ann *visitor) {
	t.Helper()
	ann.Press("button", "To the newest")
	ann.Sees("Entry 20000.")
	ann.sends(packet{"8.88", "2", "Smoothly"})
	ann.Rest()
	webtest.Ask[int](ann.Tab, `(() => {
		window.moves = {}; pace.longest = 0;
		const look = () => {
			for (const a of document.getAnimations()) {
				if (a.effect.getComputedTiming().duration === 0) continue;
				for (const k of a.effect.getKeyframes()) {
					for (const name in k) if (!/offset|easing|composite/i.test(name)) moves[name] = a.effect.target.className;
				}
			}
			requestAnimationFrame(look);
		};
		look();
		return 0;
	})()`)
	if won := ann.opens("Smoothly"); won == 0 {
		t.Error("the packet is empty")
	}
	moves := webtest.Ask[map[string]string](ann.Tab, `moves`)
	t.Logf("while an envelope is opened %v moves, the longest task took %.0f ms", moves, ann.paceSoFar().Longest)
	if _, ok := moves["transform"]; !ok {
		t.Error("nothing moves")
	}
	for name, where := range moves {
		if name != "transform" && name != "opacity" {
			t.Errorf("%s of %s moves", name, where)
		}
	}
}

package browser

import (
	"testing"

	"hongbao/web/webtest"
)

// mustOpenSmoothly checks which properties are animated while an envelope is opened: only transform and opacity, which need neither
// layout nor paint.
func mustOpenSmoothly(t *testing.T, ann *browserUser) {
	t.Helper()
	ann.Press("button", "To the newest")
	ann.Sees("Entry 20000.")
	ann.sendPacket(packet{"8.88", "2", "Smoothly"})
	ann.WaitForAnimations()
	webtest.Ask[int](ann.Tab, `(() => {
		window.animated = {}; pace.longest = 0;
		const look = () => {
			for (const a of document.getAnimations()) {
				if (a.effect.getComputedTiming().duration === 0) continue;
				for (const k of a.effect.getKeyframes()) {
					for (const name in k) if (!/offset|easing|composite/i.test(name)) animated[name] = a.effect.target.className;
				}
			}
			requestAnimationFrame(look);
		};
		look();
		return 0;
	})()`)
	if won := ann.openPacket("Smoothly"); won == 0 {
		t.Error("the user won nothing from a packet with free shares")
	}
	animated := webtest.Ask[map[string]string](ann.Tab, `animated`)
	t.Logf("while an envelope is opened, %v are animated, the longest task took %.0f ms", animated, ann.paceSoFar().Longest)
	if _, ok := animated["transform"]; !ok {
		t.Error("no transform is animated while an envelope is opened")
	}
	for name, where := range animated {
		if name != "transform" && name != "opacity" {
			t.Errorf("%s of %s is animated, want only transform and opacity", name, where)
		}
	}
}

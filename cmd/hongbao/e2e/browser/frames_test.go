package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// countFrames makes the page count the frames that it draws, and those that it drops, until a condition holds. A frame is dropped if the gap between two
// is twice as long as usual or longer.
const countFrames = `window.countFrames = (until) => new Promise((done) => {
	const usual = 1000 / 60;
	let last = 0, drawn = 0, dropped = 0;
	const look = (now) => {
		if (last) {
			drawn++;
			dropped += Math.max(0, Math.round((now - last) / usual) - 1);
		}
		last = now;
		if (until()) done({ drawn, dropped });
		else requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
}), 0`

// frames is what countFrames has counted.
type frames struct{ Drawn, Dropped int }

// share is the part of the frames that were drawn.
func (f frames) share() float64 { return float64(f.Drawn) / float64(f.Drawn+f.Dropped) }

// TestBrowserOpeningDropsFewFrames opens envelopes on a phone whose processor is four times slower, and counts frames. The page must draw most of the frames
// that it draws during an animation of one element that changes nothing. The two alternate, and most rounds count, because a busy machine slows both.
func TestBrowserOpeningDropsFewFrames(t *testing.T) {
	enginetest.Nightly(t, "page")
	f := newFixture(t)
	ann := f.newUser("Ann", webtest.Screen{Phone: true})
	room := ann.createRoom("Old friends")
	bob := f.newAPIUser("Bob")
	bob.join(room)
	webtest.Ask[int](ann.Tab, countFrames)
	const rounds, want = 9, 0.8
	var ratios []float64
	for good := 0; good <= rounds/2; {
		if len(ratios) == rounds {
			e2e.TooSlow(t, "while an envelope opens, the page draws %.2f of the frames that it draws with an empty animation, want %.2f in most rounds", ratios, want)
		}
		greeting := fmt.Sprintf("round %d", len(ratios))
		bob.sendPacket(wire.SendPacketRequest{Room: room, Total: 1000, Count: new(10), Greeting: greeting})
		ann.showEnvelope(greeting)
		ann.throttle(4)
		idle, opening := webtest.Ask[frames](ann.Tab, idleFrames), webtest.Ask[frames](ann.Tab, openingFrames)
		ann.throttle(1)
		ratios = append(ratios, opening.share()/idle.share())
		if ratios[len(ratios)-1] >= want {
			good++
		}
		t.Logf("%+v with an empty animation, %+v while the envelope opens: %.2f", idle, opening, ratios[len(ratios)-1])
		ann.Press("button", "Close")
		ann.Lacks("dialog", "")
	}
}

const idleFrames = `(() => {
	const empty = document.querySelector('.opening-coin').animate([{ opacity: 1 }, { opacity: 1 }], 2500);
	return countFrames(() => empty.playState === 'finished');
})()`

// openingFrames counts until some gold has fallen.
const openingFrames = `(() => {
	document.querySelector('.opening-coin').click();
	let told = 0;
	return countFrames(() => {
		if (document.querySelector('.opening').dataset.amountShown === 'yes') told ||= performance.now();
		return told && performance.now() - told > 700;
	});
})()`

// throttle makes the processor slower for a page.
func (u *browserUser) throttle(times float64) {
	u.fixture.t.Helper()
	u.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: times})
		return err
	}))
}

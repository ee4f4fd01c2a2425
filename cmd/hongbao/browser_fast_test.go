package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

const (
	fastEntries = 20_000
	fastBytes   = 150_000                // of the first load
	fastTask    = 500 * time.Millisecond // 50 ms where nothing else is to be done
)

// noteLoad has the page note when one can type, what moved without being asked to, and which tasks were long.
const noteLoad = `
	window.pace = { usable: 0, shift: 0, moved: [], longest: 0 };
	new PerformanceObserver((list) => list.getEntries().forEach((e) => { pace.longest = Math.max(pace.longest, e.duration); }))
		.observe({ type: 'longtask', buffered: true });
	new PerformanceObserver((list) => list.getEntries().forEach((e) => {
		pace.shift += e.value;
		pace.moved.push(e.value.toFixed(4) + ' ' + e.sources.map((s) => s.node?.parentElement?.outerHTML.slice(0, 120)).join(' | '));
	})).observe({ type: 'layout-shift', buffered: true });
	new MutationObserver(() => { if (!pace.usable && document.querySelector('#door-field')) pace.usable = performance.now(); })
		.observe(document, { subtree: true, childList: true });`

type pace struct {
	Usable, Shift, Longest float64
	Moved                  []string
}

// TestBrowserFast measures: it runs before the others, and alone.
func TestBrowserFast(t *testing.T) {
	s := newSalon(t)
	ann := &visitor{Visitor: s.browser.Visit(t, "about:blank", webtest.Screen{}), salon: s, words: wordsOf(webtest.Screen{})}
	ann.Beforehand(noteLoad)
	ann.Do(chromedp.Navigate(s.page))
	ann.Has("textbox", "What may we call you?")
	loaded := webtest.Ask[struct{ Files, Bytes, Plain int }](ann.Tab, `(() => {
		const all = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));
		const sum = (of) => all.reduce((n, e) => n + of(e), 0);
		return { files: all.length, bytes: sum((e) => e.encodedBodySize), plain: sum((e) => e.decodedBodySize) };
	})()`)
	p := ann.paceSoFar()
	t.Logf("first load: %d bytes in %d files (%d before compression), one can type after %.0f ms, things moved by %.3f, the longest task took %.0f ms",
		loaded.Bytes, loaded.Files, loaded.Plain, p.Usable, p.Shift, p.Longest)
	if loaded.Bytes > fastBytes || p.Usable > 5000 || p.Shift > 0.01 {
		t.Errorf("too much, or too slow: %q", p.Moved)
	}
	ann.comesInAs("Ann")
	room := ann.makesRoom("The long one")
	began := time.Now()
	s.fills(&afar{s, wire.GuestReply{Token: ann.token()}}, room)
	t.Logf("%d entries were made in %v", fastEntries, time.Since(began).Round(time.Second))
	for tries := 3; scrolls(t, ann, room) > fastTask; tries-- { // the machine may have been elsewhere
		if tries == 1 {
			t.Errorf("while one scrolls, tasks take more than %v", fastTask)
			break
		}
	}
	opensSmoothly(t, ann)
}

func (v *visitor) paceSoFar() pace {
	v.salon.t.Helper()
	return webtest.Ask[pace](v.Tab, `pace`)
}

// scrolls reads upward through pages of history, and gives the longest task. What one reads stays where it is while more comes
// above it.
func scrolls(t *testing.T, ann *visitor, room string) (longest time.Duration) {
	t.Helper()
	ann.Reload()
	ann.Has("textbox", "Message")
	ann.Sees("Entry ")
	got := webtest.Ask[struct {
		Pages, Lines int
		Shift        float64
		Jumped       []string
	}](ann.Tab, readUp)
	p := ann.paceSoFar()
	t.Logf("room %s: %d pages of history came, %d lines were on the page at most, things moved by %.3f, the longest task took %.0f ms",
		room, got.Pages, got.Lines, got.Shift, p.Longest)
	if got.Pages < 6 || got.Lines > 200 || len(got.Jumped) > 0 || got.Shift > 0.02 {
		t.Errorf("what one reads jumped: %q; moved: %q", got.Jumped, p.Moved)
	}
	return time.Duration(p.Longest) * time.Millisecond
}

// readUp scrolls by some pixels a frame until six pages have come, and looks whether the line in the middle went just as far.
// While a page is on its way it stands still; then nothing may move at all.
const readUp = `(async () => {
	const box = document.querySelector('.timeline-box'), got = { pages: 0, lines: 0, shift: 0, jumped: [] };
	const frame = () => new Promise(requestAnimationFrame);
	const lines = () => [...document.querySelectorAll('.line[data-seq]')];
	const middle = () => lines().find((l) => l.getBoundingClientRect().bottom > box.clientHeight / 2);
	for (let n = 0, high = box.scrollHeight; n < 3000 && got.pages < 6; n++) {
		await new Promise((resolve) => setTimeout(resolve, 0)); // between two frames, as a wheel does
		const line = middle(), before = line.getBoundingClientRect().top, shift = pace.shift;
		const step = box.getAttribute('aria-busy') === 'true' ? 0 : Math.min(120, box.scrollTop);
		box.scrollTop -= step;
		await frame(); await frame();
		const moved = line.isConnected ? line.getBoundingClientRect().top - before : NaN;
		if (!(Math.abs(moved - step) < 2)) got.jumped.push('line ' + line.dataset.seq + ' by ' + moved + ', not by ' + step);
		if (!step) got.shift += pace.shift - shift;
		if (box.scrollHeight - high > 800) { got.pages++; high = box.scrollHeight; }
		got.lines = Math.max(got.lines, lines().length);
	}
	return got;
})()`

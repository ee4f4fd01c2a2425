package main

import (
	"testing"

	"hongbao/web/webtest"
)

// TestBrowserPhone: on the narrowest phone nothing is wider than it, a finger hits everything, and the way back is the phone's own.
func TestBrowserPhone(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	s.seat(english)
	ann := s.visits(webtest.Screen{Phone: true})
	mustFit(t, ann, "door")
	ann.comesInAs(english.me)
	ann.Sees("No rooms yet")
	mustFit(t, ann, "no rooms")
	h := s.moves(ann, english)
	for _, place := range h.places() {
		ann.at(place)
		mustFit(t, ann, place.name)
	}

	ann.goes("#/")
	ann.Press("link", english.room)
	ann.Has("textbox", "Message")
	ann.Press("button", english.room)
	ann.Has("dialog", "About this room")
	ann.Back()
	ann.Lacks("dialog", "")
	ann.Has("textbox", "Message")
	ann.Back()
	ann.Has("link", english.room)
	ann.Lacks("textbox", "Message")
}

// mustFit wants nothing to be wider than the screen, and whatever can be tapped to be as large as a finger.
func mustFit(t *testing.T, v *visitor, where string) {
	t.Helper()
	v.Rest()
	for _, wrong := range webtest.Ask[[]string](v.Tab, fingers) {
		t.Errorf("%s: %s", where, wrong)
	}
}

// fingers gives what is wider than the screen, and what a finger may miss: what answers taps within less than 44 pixels,
// sideways or up and down, counted from its middle. Links within a text are as high as it; and what stands beside it may take a pixel at either end.
const fingers = `(() => {
	const wrong = [], seen = new Set(), root = document.querySelector('dialog[open]') ?? document.body;
	const wide = document.documentElement;
	if (wide.scrollWidth > innerWidth) wrong.push('the page is ' + wide.scrollWidth + ' wide');
	for (const e of root.querySelectorAll('*')) {
		const { left, right, width } = e.getBoundingClientRect();
		const scrolls = e.closest('.cut, .only-read, .opening, svg');
		if (width && !scrolls && (right > innerWidth + 0.5 || left < -0.5)) wrong.push('out of the screen: ' + name(e));
	}
	for (const e of root.querySelectorAll('a[href], button, summary, input, textarea, [role=button]')) {
		const big = e.classList.contains('only-read') || e.type === 'checkbox' ? e.closest('label') : e;
		if (!big || e.disabled || e.closest('[inert], [aria-hidden=true], .text') || !big.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
		if (getComputedStyle(big).pointerEvents === 'none') continue;
		big.scrollIntoView({ block: 'center' });
		const { left, top, width, height } = big.getBoundingClientRect();
		const x = left + width / 2, y = top + height / 2;
		const hits = (dx, dy) => { const at = document.elementFromPoint(x + dx, y + dy); return !!at && (big.contains(at) || at.closest('label')?.contains(e)); };
		if (!hits(0, 0)) continue; // something lies over it
		const extent = (dx, dy) => { let n = 0; while (n < 44 && hits(dx * n, dy * n)) n++; return n; };
		const size = [extent(-1, 0) + extent(1, 0), extent(0, -1) + extent(0, 1)];
		const said = name(e) + ' answers within ' + size.join(' by ');
		if (Math.min(...size) < 42 && !seen.has(said)) { seen.add(said); wrong.push(said); }
	}
	return wrong;
	function name(e) { return '<' + e.tagName.toLowerCase() + ' class=' + e.className + '> ' + (e.getAttribute('aria-label') ?? e.textContent).slice(0, 30); }
})()`

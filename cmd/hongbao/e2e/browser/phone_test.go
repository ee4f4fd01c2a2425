package browser

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserPhone: on the narrowest phone nothing is wider than the screen, touch targets are large enough, and the phone's back
// button works.
func TestBrowserPhone(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	f.addPublicRoom(english)
	ann := f.openPage(webtest.Screen{Phone: true})
	mustFit(t, ann, "sign-in")
	ann.signInAs(english.me)
	ann.Sees("No rooms yet")
	mustFit(t, ann, "no rooms")
	for _, view := range f.populate(ann, english).views() {
		ann.goToView(view)
		mustFit(t, ann, view.name)
	}

	ann.goTo("#/")
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

// mustFit fails the test for each element that is wider than the screen, and for each touch target that is too small.
func mustFit(t *testing.T, u *browserUser, where string) {
	t.Helper()
	u.WaitForAnimations()
	for _, wrong := range webtest.Ask[[]string](u.Tab, misfits) {
		t.Errorf("%s: %s", where, wrong)
	}
}

// misfits returns elements that are wider than the screen, and touch targets under 44 pixels in either direction, measured from
// their middle. Links within a text are as high as the text. A neighbour may take one pixel at either end. The banner with news, which
// covers the top of the page for some seconds, is looked through.
const misfits = `(() => {
	const wrong = [], seen = new Set(), root = document.querySelector('dialog[open]') ?? document.body;
	const wide = document.documentElement;
	if (wide.scrollWidth > innerWidth) wrong.push('the page is ' + wide.scrollWidth + ' pixels wide, the screen ' + innerWidth);
	for (const e of root.querySelectorAll('*')) {
		const { left, right, width } = e.getBoundingClientRect();
		const scrolls = e.closest('.cut, .only-read, .opening, svg');
		if (width && !scrolls && (right > innerWidth + 0.5 || left < -0.5)) wrong.push('outside the screen: ' + name(e));
	}
	for (const e of root.querySelectorAll('a[href], button, summary, input, textarea, [role=button]')) {
		const big = e.classList.contains('only-read') || e.type === 'checkbox' ? e.closest('label') : e;
		if (!big || e.disabled || e.closest('[inert], [aria-hidden=true], .text') || !big.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
		if (getComputedStyle(big).pointerEvents === 'none') continue;
		big.scrollIntoView({ block: 'center' });
		const box = big.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
		const top = (x, y) => document.elementsFromPoint(x, y).find((at) => big.contains(at) || !at.closest('.news'));
		const hits = (dx, dy) => { const at = top(x + dx, y + dy); return !!at && (big.contains(at) || at.closest('label')?.contains(e)); };
		if (!hits(0, 0)) continue; // another element covers it
		const extent = (dx, dy) => { let n = 0; while (n < 44 && hits(dx * n, dy * n)) n++; return n; };
		const size = [extent(-1, 0) + extent(1, 0), extent(0, -1) + extent(0, 1)];
		const finding = name(e) + ' reacts to taps on ' + size.join(' by ') + ' pixels only';
		if (Math.min(...size) < 42 && !seen.has(finding)) { seen.add(finding); wrong.push(finding); }
	}
	return wrong;
	function name(e) { return '<' + e.tagName.toLowerCase() + ' class=' + e.className + '> ' + (e.getAttribute('aria-label') ?? e.textContent).slice(0, 30); }
})()`

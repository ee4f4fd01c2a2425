package webtest

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// frames is long enough for a few of them: what moves is elsewhere then.
const frames = 40 * time.Millisecond

// Press clicks a thing in its middle, once it rests there; before a phone the finger taps it.
func (v *Visitor) Press(role, name string) {
	v.tb.Helper()
	v.until(func() error {
		wasX, wasY, err := v.place(role, name)
		if err != nil {
			return err
		}
		time.Sleep(frames)
		x, y, err := v.place(role, name)
		switch {
		case err != nil:
			return err
		case x != wasX || y != wasY:
			return fmt.Errorf("%s %q does not rest", role, name)
		}
		return v.pressAt(x, y)
	})
}

func (v *Visitor) pressAt(x, y float64) error {
	click := chromedp.MouseClickXY(x, y)
	if v.screen.Phone {
		click = tap(x, y)
	}
	_, err := Try(v.Tab, click)
	return err
}

// tap lifts the finger without waiting until the page has noticed that it is there: on a busy machine it would be a long press.
func tap(x, y float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		down, cancel := context.WithTimeout(ctx, frames)
		defer cancel()
		_, err := cdp.Call(down, t, input.DispatchTouchEvent, input.DispatchTouchEventParams{
			Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}},
		})
		if err != nil && down.Err() == nil {
			return err
		}
		_, err = cdp.Call(ctx, t, input.DispatchTouchEvent, input.DispatchTouchEventParams{
			Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{},
		})
		return err
	})
}

// place gives the middle of a thing that people can press: it is in view, and nothing lies over it.
func (v *Visitor) place(role, name string) (x, y float64, err error) {
	node, err := v.find(role, name)
	if err != nil {
		return 0, 0, err
	}
	id := node.BackendDOMNodeID
	if _, err := call(v, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: id}); err != nil {
		return 0, 0, err
	}
	got, err := call(v, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: id})
	if err != nil || len(got.Quads) == 0 {
		return 0, 0, fmt.Errorf("%s %q is not to be seen: %w", role, name, err)
	}
	q := got.Quads[0]
	x, y = (q[0]+q[4])/2, (q[1]+q[5])/2
	at, err := call(v, dom.GetNodeForLocation, dom.GetNodeForLocationParams{X: int64(x), Y: int64(y)})
	if err != nil {
		return 0, 0, err
	}
	if !v.within(at.BackendNodeID, id) {
		return 0, 0, fmt.Errorf("something lies over %s %q", role, name)
	}
	return x, y, nil
}

// within tells whether a node is another one, or in it, or its label.
func (v *Visitor) within(node, other cdp.BackendNodeID) bool {
	a, err := call(v, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: node})
	if err != nil {
		return false
	}
	b, err := call(v, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: other})
	if err != nil {
		return false
	}
	inside, err := callOn[bool](v, a.Object.ObjectID, b.Object.ObjectID,
		`function (other) { return other.contains(this) || !!this.closest?.('label')?.contains(other); }`)
	return err == nil && inside
}

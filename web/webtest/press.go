package webtest

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// frameTime is long enough for a few frames. An element whose position is different after it is still moving.
const frameTime = 40 * time.Millisecond

// Press clicks (on a phone: taps) the middle of an element, once the element does not move. It finds the element as Has does.
func (v *Visitor) Press(role, name string) {
	v.tb.Helper()
	v.retry(func() error {
		wasX, wasY, err := v.center(role, name)
		if err != nil {
			return err
		}
		time.Sleep(frameTime)
		x, y, err := v.center(role, name)
		switch {
		case err != nil:
			return err
		case x != wasX || y != wasY:
			return fmt.Errorf("%s %q still moves", role, name)
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

// tap touches the page at a point. It waits at most frameTime for the page to handle the start of the touch: on a busy
// machine the tap would otherwise become a long press.
func tap(x, y float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		down, cancel := context.WithTimeout(ctx, frameTime)
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

// Hold puts a finger on an element, calls meanwhile, and lifts the finger.
func (v *Visitor) Hold(role, name string, meanwhile func()) {
	v.tb.Helper()
	var x, y float64
	v.retry(func() (err error) {
		x, y, err = v.center(role, name)
		return err
	})
	mustCall(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{
		Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}},
	})
	meanwhile()
	mustCall(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// Swipe moves a finger from one point of the screen to another; without a way in between, it taps.
func (v *Visitor) Swipe(fromX, fromY, toX, toY float64) {
	v.tb.Helper()
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		mustCall(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)})
	}
	touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: fromX, Y: fromY})
	const steps = 6
	for n := 1.0; n <= steps && (fromX != toX || fromY != toY); n++ {
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: fromX + (toX-fromX)*n/steps, Y: fromY + (toY-fromY)*n/steps})
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
}

// center returns the middle of an element. It fails if the element is out of view, disabled or covered by another one, so that a
// user could not press it.
func (v *Visitor) center(role, name string) (x, y float64, err error) {
	node, err := v.find(role, name)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range node.Properties {
		if p.Name == accessibility.PropertyNameDisabled && p.Value != nil && string(p.Value.Value) == "true" {
			return 0, 0, fmt.Errorf("%s %q is disabled", role, name)
		}
	}
	id := node.BackendDOMNodeID
	if _, err := call(v, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: id}); err != nil {
		return 0, 0, err
	}
	got, err := call(v, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: id})
	if err != nil || len(got.Quads) == 0 {
		return 0, 0, fmt.Errorf("%s %q is not visible: %w", role, name, err)
	}
	q := got.Quads[0]
	x, y = (q[0]+q[4])/2, (q[1]+q[5])/2
	at, err := call(v, dom.GetNodeForLocation, dom.GetNodeForLocationParams{X: int64(x), Y: int64(y)})
	if err != nil {
		return 0, 0, err
	}
	if !v.within(at.BackendNodeID, id) {
		return 0, 0, fmt.Errorf("another element covers %s %q", role, name)
	}
	return x, y, nil
}

// within reports whether node is the node other, inside other, or a label of other.
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

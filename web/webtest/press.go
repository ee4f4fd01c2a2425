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

// Hold puts a finger on an element, calls meanwhile, and lifts the finger. slide moves the finger to a point, relative to the first one.
func (v *Visitor) Hold(role, name string, meanwhile func(slide func(dx, dy float64))) {
	v.tb.Helper()
	var x, y float64
	v.retry(func() (err error) {
		x, y, err = v.center(role, name)
		return err
	})
	v.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: x, Y: y})
	meanwhile(func(dx, dy float64) {
		v.tb.Helper()
		v.touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x + dx, Y: y + dy})
	})
	v.touch(input.DispatchTouchEventTypeTouchEnd)
}

func (v *Visitor) touch(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
	v.tb.Helper()
	mustCall(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)})
}

const steps = 6 // of a finger or the mouse, from one point to another

// between returns the point that is reached after n of the steps.
func between(from, to, n float64) float64 { return from + (to-from)*n/steps }

// Swipe moves a finger from one point of the screen to another; without a way in between, it taps.
func (v *Visitor) Swipe(fromX, fromY, toX, toY float64) {
	v.tb.Helper()
	v.touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: fromX, Y: fromY})
	for n := 1.0; n <= steps && (fromX != toX || fromY != toY); n++ {
		v.touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: between(fromX, toX, n), Y: between(fromY, toY, n)})
	}
	v.touch(input.DispatchTouchEventTypeTouchEnd)
}

// Pinch puts two fingers beside a point, each so many pixels away from it, and moves them apart or together.
func (v *Visitor) Pinch(x, y, from, to float64) {
	v.tb.Helper()
	fingers := func(kind input.DispatchTouchEventType, away float64) {
		v.touch(kind, &input.TouchPoint{X: x - away, Y: y, ID: new(1.0)}, &input.TouchPoint{X: x + away, Y: y, ID: new(2.0)})
	}
	fingers(input.DispatchTouchEventTypeTouchStart, from)
	for n := 1.0; n <= steps; n++ {
		fingers(input.DispatchTouchEventTypeTouchMove, between(from, to, n))
	}
	v.touch(input.DispatchTouchEventTypeTouchEnd)
}

// Wheel turns the wheel of the mouse at a point; a negative delta turns it up.
func (v *Visitor) Wheel(x, y, delta float64) {
	v.tb.Helper()
	mustCall(v, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaX: 0.001, DeltaY: delta}) // a delta of 0 would be left out, and both must be there
}

// Drag moves the mouse with its button pressed from one point to another, and releases it there. An element that the page lets users drag is dragged.
func (v *Visitor) Drag(fromX, fromY, toX, toY float64) {
	v.tb.Helper()
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		mustCall(v, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
	}
	mouse(input.DispatchMouseEventTypeMousePressed, fromX, fromY)
	for n := 1.0; n <= steps; n++ {
		mouse(input.DispatchMouseEventTypeMouseMoved, between(fromX, toX, n), between(fromY, toY, n))
	}
	mouse(input.DispatchMouseEventTypeMouseReleased, toX, toY)
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

package main

import (
	"fmt"
	"testing"
	"time"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserSlow: on a line that is late, thin and now and then cut, the page comes, and nothing that is said is lost or doubled.
func TestBrowserSlow(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	line := openDoor(t)
	line.thin = &thinLine{latency: 150 * time.Millisecond, perSecond: 40_000} // 300 ms there and back
	line.only(s.node)
	bob := s.comes("Bob", webtest.Screen{})
	room := bob.makesRoom("Night train")

	s.page = line.url().String()
	began := time.Now()
	ann := s.visits(webtest.Screen{Phone: true})
	ann.Expect("WebSocket connection to")
	ann.Expect("ERR_")
	ann.Has("textbox", "What may we call you?")
	t.Logf("one can say who one is after %v", time.Since(began).Round(10*time.Millisecond))
	ann.comesInAs("Ann")
	t.Logf("one is in after %v", time.Since(began).Round(10*time.Millisecond))
	ann.joins(room)

	var said []string
	for i := range 8 {
		for _, v := range []*visitor{ann, bob} {
			text := fmt.Sprintf("Line %d of %s.", i, map[bool]string{true: "Ann", false: "Bob"}[v == ann])
			said = append(said, text)
			v.says(text)
		}
		if i%3 == 1 {
			line.cut(1)
		}
	}
	ann.sends(packet{"3.00", "2", "From the train"})
	line.cut(1)
	said = append(said, "From the train")
	both := []*visitor{ann, bob}
	together(both, func(_ int, v *visitor) {
		v.Sees("Line 7 of Ann.", "Line 7 of Bob.", "From the train")
		v.Misses("Sending…")
		v.Lacks("image", "Being sent")
	})
	won := make([]int64, 2)
	together(both, func(i int, v *visitor) { won[i] = v.opens("From the train") })
	if won[0]+won[1] != 300 || won[0]*won[1] == 0 {
		t.Errorf("of 3.00 in 2 they got %v", won)
	}
	together(both, func(_ int, v *visitor) { mustBeThereOnce(t, v, said) })
	mustBeHeldOnce(t, s, &afar{s, wire.GuestReply{Token: bob.token()}}, room, said)
	s.node.mustBalance()
}

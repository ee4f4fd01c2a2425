package redpacket

import (
	"strings"
	"testing"
)

// TestParseHead reads heads as the log has them.
func TestParseHead(t *testing.T) {
	want := Head{Chain: 3, Link: 1 << 60, Hash: [32]byte{1, 31: 255}}
	if got, err := ParseHead(want.String()); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, wrong := range []string{"", "3", "3/4", "3/4/ab", "3/4/" + strings.Repeat("g", 64), "x/4/" + strings.Repeat("0", 64), "3/4/" + strings.Repeat("0", 66)} {
		if got, err := ParseHead(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}

// TestChangedHeads lists only the heads that are new or have moved.
func TestChangedHeads(t *testing.T) {
	a, b, moved := Head{Chain: 1, Link: 10}, Head{Chain: 2, Link: 20}, Head{Chain: 2, Link: 21}
	for _, test := range []struct {
		known, now []Head
		want       string
	}{
		{nil, nil, ""},
		{nil, []Head{a, b}, a.String() + " " + b.String()},
		{[]Head{a, b}, []Head{a, b}, ""},
		{[]Head{a, b}, []Head{a, moved}, moved.String()},
	} {
		if got := changedHeads(test.known, test.now); got != test.want {
			t.Errorf("from %v to %v: %q, want %q", test.known, test.now, got, test.want)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestWorseFiguresAreNamed compares figures of two versions. A median that is worse by more than a tenth must be named, and one that is
// less worse, or better, must not.
func TestWorseFiguresAreNamed(t *testing.T) {
	won, empty := figure{"sockets", "won"}, figure{"sockets", "empty"}
	than := map[figure][]float64{won: {100, 110, 90}, empty: {50, 50, 50}}
	var out bytes.Buffer
	if slower, err := compareFigures(&out, than, map[figure][]float64{won: {91, 500, 1}, empty: {60}}, 0.1); err != nil || len(slower) > 0 {
		t.Errorf("nine per cent are worse: %v, %v", slower, err)
	}
	for _, want := range []string{"won", "100 [90-110]", "91 [1-500]", "0.91", "1.20"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if slower, err := compareFigures(&out, than, map[figure][]float64{won: {89, 89, 500}, empty: {50}}, 0.1); err != nil || fmt.Sprint(slower) != "[won]" {
		t.Errorf("eleven per cent: %v, %v", slower, err)
	}
	if _, err := compareFigures(&out, than, map[figure][]float64{won: {100}}, 0.1); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("a figure is missing: %v", err)
	}
}

func TestSpeedNeedsACommit(t *testing.T) {
	for args, want := range map[string]string{"speed": "--than", "speed --than no-such-commit": "no-such-commit"} {
		if code, _, said := run(t, strings.Fields(args)...); code != 1 || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %s", args, code, said)
		}
	}
}

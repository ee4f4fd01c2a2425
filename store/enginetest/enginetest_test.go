package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNeedSkipsAndNamesTheTestWhenEnginesAreOff(t *testing.T) {
	list := filepath.Join(t.TempDir(), "left-out")
	t.Setenv("ENGINES", "off")
	t.Setenv("ENGINES_LEFT_OUT", list)
	var inner *testing.T
	t.Run("needs Redis", func(t *testing.T) {
		inner = t
		Need(t, "Redis")
		t.Error("the test was not skipped")
	})
	if !inner.Skipped() {
		t.Error("the test does not count as skipped")
	}
	text, err := os.ReadFile(list)
	if want := "/enginetest " + t.Name() + "/needs_Redis needs Redis\n"; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("the list of skipped tests is %q, error %v, want it to end with %q", text, err, want)
	}
}

func TestNeedReturnsWhenEnginesAreOn(t *testing.T) {
	t.Setenv("ENGINES", "")
	Need(t, "Redis")
	if Off() {
		t.Error("Off() is true without ENGINES=off")
	}
}

func TestNightlySkipsAllPartsButTheListed(t *testing.T) {
	for _, c := range []struct {
		list string
		runs bool
	}{{"", false}, {"page", false}, {"suites", true}, {"page,suites", true}, {"all", true}} {
		t.Setenv("NIGHTLY", c.list)
		var inner *testing.T
		t.Run(c.list, func(t *testing.T) {
			inner = t
			Nightly(t, "suites")
		})
		if inner.Skipped() == c.runs {
			t.Errorf("NIGHTLY=%s: skipped %t, want %t", c.list, inner.Skipped(), !c.runs)
		}
	}
}

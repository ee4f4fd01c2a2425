package report_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance of #rrggbb, as the accessibility guidelines define it.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	bits, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift uint, weight float64) float64 {
		c := float64(bits>>shift&0xff) / 255
		if c <= 0.04045 {
			return weight * c / 12.92
		}
		return weight * math.Pow((c+0.055)/1.055, 2.4)
	}
	return part(16, 0.2126) + part(8, 0.7152) + part(0, 0.0722)
}

// TestContrast checks the contrast: 4.5:1 for text and 3:1 for drawings, in light and in dark.
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	const dark = "@media screen and (prefers-color-scheme: dark)"
	light, rest, found := strings.Cut(string(style), dark)
	if !found || strings.Contains(string(style), ": light-dark(") {
		t.Fatalf("want the dark colours in %s: light-dark() is unknown before Safari 17.5 and Chrome 123", dark)
	}
	color := regexp.MustCompile(`--([a-z-]+): (#\w{6});`)
	colors := map[string][2]string{}
	for _, m := range color.FindAllStringSubmatch(light, -1) {
		colors[m[1]] = [2]string{m[2], m[2]}
	}
	rest, _, _ = strings.Cut(rest, "\n}")
	for _, m := range color.FindAllStringSubmatch(rest, -1) {
		colors[m[1]] = [2]string{colors[m[1]][0], m[2]}
	}
	for _, pair := range []struct {
		on    string
		least float64
		what  []string
	}{
		{"ground", 4.5, []string{"text", "muted", "accent"}},
		{"surface", 4.5, []string{"text", "muted", "accent", "good", "warn"}},
		{"raised", 4.5, []string{"text"}},
		{"warn-tint", 4.5, []string{"text", "muted", "warn"}},
		{"surface", 3, []string{"peer", "focus"}},
	} {
		for _, what := range pair.what {
			for mode, name := range []string{"light", "dark"} {
				a, b := luminance(t, colors[what][mode]), luminance(t, colors[pair.on][mode])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < pair.least {
					t.Errorf("%s on %s, %s: %.2f, want %.1f", what, pair.on, name, ratio, pair.least)
				}
			}
		}
	}
}

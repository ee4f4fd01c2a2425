package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/report"
)

// pictures returns the outermost svg elements of a page.
func pictures(t *testing.T, page string) (all []string) {
	t.Helper()
	for rest := page; ; {
		begin := strings.Index(rest, "<svg")
		if begin < 0 {
			return all
		}
		rest = rest[begin:]
		end, depth := 0, 0
		for {
			next := regexp.MustCompile(`<svg|</svg>`).FindStringIndex(rest[end:])
			if next == nil {
				t.Fatalf("an svg is not closed: %.100s", rest)
			}
			if rest[end+next[0]+1] == '/' {
				depth--
			} else {
				depth++
			}
			if end += next[1]; depth == 0 {
				break
			}
		}
		all = append(all, rest[:end])
		rest = rest[end:]
	}
}

// TestPictures checks that pictures are well formed, and that all positions are numbers inside the picture.
func TestPictures(t *testing.T) {
	all := pictures(t, written(t, comparison()))
	if len(all) < 30 {
		t.Fatalf("%d pictures", len(all))
	}
	for _, picture := range all {
		d := xml.NewDecoder(strings.NewReader(picture))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, picture)
			}
			if element, ok := token.(xml.StartElement); ok {
				inside(t, element)
			}
		}
	}
}

func inside(t *testing.T, element xml.StartElement) {
	t.Helper()
	for _, a := range element.Attr {
		name := a.Name.Local
		if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.Contains(a.Value, "%!") {
			t.Errorf("<%s %s=%q>", element.Name.Local, name, a.Value)
		}
		if number, ok := strings.CutSuffix(a.Value, "%"); ok {
			if v, err := strconv.ParseFloat(number, 64); err != nil || v < 0 || v > 100.001 {
				t.Errorf("<%s %s=%q> is not inside", element.Name.Local, name, a.Value)
			}
		}
	}
}

// TestNoFigures checks that missing figures are shown as such and do not break the page.
func TestNoFigures(t *testing.T) {
	nan := math.NaN()
	page := written(t, report.Report{Title: "t", Sections: []report.Section{
		{Title: "bars", Body: report.Bars{Unit: "u", Bars: []report.Bar{{Name: "a", Value: nan}, {Name: "b", Value: math.Inf(1)}, {Name: "c"}}}},
		{Title: "dots", Body: report.Latencies{Rows: []report.Latency{{Name: "a"}, {Name: "b", P50: time.Second, P99: time.Second, P999: time.Second}}}},
		{Title: "none", Body: report.Latencies{}},
		{Title: "words", Says: "nothing to draw"},
	}})
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("the page has NaN or Inf")
	}
	for _, picture := range pictures(t, page) {
		if err := xml.Unmarshal([]byte(picture), new(struct{})); err != nil {
			t.Errorf("%v in %s", err, picture)
		}
	}
}

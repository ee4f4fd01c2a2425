package report_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"hongbao/cmd/hongbao-bench/report"
)

// TestPageIsSelfContained checks that the page has no external resources and no scripts.
func TestPageIsSelfContained(t *testing.T) {
	page := written(t, comparison())
	for _, pattern := range []string{
		`(?i)<(script|link|img|iframe|object|embed|base|form|image|use)\b`, `(?i)\son\w+\s*=`, `(?i)javascript:`, `(?i)@import|url\(`,
		`(?i)\s(src|srcset|action|data|poster|xlink:href|style)\s*=`, `//[a-z0-9]`, `href="[^#]`,
	} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page's policy allows external resources")
	}
}

// hostile is text that must not become markup.
const hostile = `</title></style><script>alert(1)</script><b onclick="x" a='y'>&amp; {{.}} ]]>`

func TestHostileNames(t *testing.T) {
	cells := []report.Cell{{Verdict: report.Broken, Detail: hostile}}
	page := written(t, report.Report{
		Title: hostile, Subtitle: hostile, Command: hostile,
		Hardware: []report.Fact{{Name: hostile, Value: hostile}}, Figures: []report.Figure{{Name: hostile, Value: hostile, Note: hostile}},
		Sections: []report.Section{
			{Title: hostile, Says: hostile, Body: report.Bars{Unit: hostile, Beside: hostile, Bars: []report.Bar{{Name: hostile, Note: hostile, Value: 1}}}},
			{Body: report.Latencies{Rows: []report.Latency{{Name: hostile, Note: hostile, P50: 1, P99: 2, P999: 3}}}},
			{Body: report.Matrix{Checks: []string{hostile}, Brief: true, Rows: []report.Verdicts{{Name: hostile, Note: hostile, Cells: cells}}}},
			{Body: report.Matrix{Checks: []string{hostile}, Rows: []report.Verdicts{{Name: hostile, Note: hostile, Cells: cells}}}},
			{Title: hostile, Says: hostile, Body: report.Table{Columns: []report.Column{{Name: hostile}}, Rows: [][]string{{hostile}}}},
		},
	})
	if strings.Contains(page, "<script") || strings.Contains(page, "<b ") || strings.Contains(page, `onclick="`) || strings.Contains(page, "'y'") {
		t.Error("a name became markup")
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 28 {
		t.Errorf("only %d of the names are on the page", n)
	}
	if strings.Count(page, "</style>") != 1 || strings.Count(page, "<title>") != 1 {
		t.Error("a name closed its element")
	}
}

// TestBalanced checks that every element is closed in order.
func TestBalanced(t *testing.T) {
	empty := map[string]bool{"meta": true, "br": true, "!doctype": true}
	page := written(t, comparison())
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\s(?:aria-labelledby="|href="#)([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("no element has the id %s", m[1])
		}
	}
	var open []string
	for _, m := range regexp.MustCompile(`<(/?)([!a-zA-Z0-9]+)[^>]*?(/?)>`).FindAllStringSubmatch(page, -1) {
		switch name := m[2]; {
		case empty[name] || m[3] == "/":
		case m[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("</%s> while %v are open", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v stay open", open)
	}
}

func TestRefused(t *testing.T) {
	for want, body := range map[string]report.Body{
		"ratios refer to":  report.Bars{Beside: "x", Bars: []report.Bar{{Name: "y", Value: 1}}},
		"are not in order": report.Latencies{Rows: []report.Latency{{Name: "r", P50: 2, P99: 1, P999: 3}}},
		"1 verdicts for 2": report.Matrix{Checks: []string{"a", "b"}, Rows: []report.Verdicts{{Name: "r", Cells: make([]report.Cell, 1)}}},
		"a row of 2 for 1": report.Table{Columns: []report.Column{{}}, Rows: [][]string{{"a", "b"}}},
	} {
		err := report.Write(io.Discard, report.Report{Sections: []report.Section{{Title: "it", Body: body}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"it"`) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

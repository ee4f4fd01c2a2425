package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao-bench/report"
)

// shownPage returns the text of a page without its drawings.
func shownPage(t *testing.T, r report.Report) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pages", "page.html")
	if err := writePage(file, r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func wants(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

func TestComparePage(t *testing.T) {
	kept := []Check{{Name: checkMoney, Held: true, Detail: "to the cent"}, {Name: checkKill, Held: true, Detail: "all are stored"}}
	lost := []Check{{Name: checkMoney, Held: true}, {Name: checkKill, Detail: "161 of them have nothing"}}
	c := Comparison{
		Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Workload: "20 callers",
		Outcomes: []Outcome{
			{Scheme: "lua-list", From: "article 2", GrabsPerSecond: 50_000, P50: time.Millisecond, P99: 2 * time.Millisecond, P999: 3 * time.Millisecond, Finished: true, Verdicts: lost},
			{Scheme: "lua-list, again", From: "article 2", Note: "again", GrabsPerSecond: 1, Verdicts: kept},
			{Scheme: "lock", From: "article 3", Won: 20, Packets: 10, Shares: 200, Verdicts: kept, MeanByPlace: []float64{1.25, 0.75}},
			{Scheme: "hongbao", From: "ours", Stores: "before the answer", GrabsPerSecond: 25_000, Finished: true, Verdicts: kept},
		},
	}
	page := shownPage(t, c.page("hongbao-bench compare --seed=7"))
	wants(t, page, "20 callers", "hongbao-bench compare --seed=7", "2 January 2026, 03:04 UTC",
		"<strong>25,000</strong>", "0.50× lua-list", "<strong>2 of 2</strong>", "Published schemes that held every check</span> <strong>1 of 2</strong>",
		"ours; before the answer", "article 2; again", "161 of them have nothing", "20 of 2,000", "1.25", "A scheme that ran out of time")
	for _, one := range []struct {
		what      string
		have, all int
	}{
		{`class="broken"`, strings.Count(page, `class="broken"`), 1},
		{`class="held"`, strings.Count(page, `class="held"`), 1 + 7},
		{"bars", strings.Count(page, `<rect class="bar"`), 3},
		{"latencies", strings.Count(page, `<circle class="p99" cx="`) - 1, 1},
	} {
		if one.have != one.all {
			t.Errorf("%s: %d, want %d", one.what, one.have, one.all)
		}
	}
	c.Outcomes = c.Outcomes[2:] // removes the scheme to which rates are compared
	if page = shownPage(t, c.page("")); strings.Contains(page, "to lua-list") {
		t.Error("the page has a ratio without a reference")
	}
}

func TestFlawsPage(t *testing.T) {
	c := Comparison{Flaws: []Shown{
		{Name: "jam", Scheme: "lua-split", Says: "serves a few", Reproduced: true, Evidence: "6 of 100", Ours: "100 of 100", OursPasses: true},
		{Name: "lease", Scheme: "lock", Evidence: "nothing seen", Ours: "paid twice"},
	}}
	page := shownPage(t, c.page(""))
	wants(t, page, "lua-split: jam", "serves a few", "6 of 100", "100 of 100", "not reproduced: nothing seen",
		"Reproduced in this run</span> <strong>1 of 2", "Ours passes</span> <strong>1 of 2")
	if broken := strings.Count(page, `class="broken"`); broken != 1+1+1 {
		t.Errorf("%d cells are broken, want 3: the scheme, ours, and the figure of ours", broken)
	}
}

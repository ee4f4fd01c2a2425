package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"hongbao/cmd/hongbao-bench/report"
)

func (o Outcome) note() string {
	switch {
	case o.Note != "":
		return o.From + "; " + o.Note
	case o.From == whoIsOurs:
		return o.From + "; " + o.Stores
	}
	return o.From
}

func (c Comparison) throughput() report.Section {
	bars := report.Bars{Unit: "grabs/s"}
	if _, ok := c.besideRate(); ok {
		bars.Beside = besideScheme
	}
	late := false
	for _, o := range c.Outcomes {
		bars.Bars = append(bars.Bars, report.Bar{Name: o.Scheme, Note: o.note(), Value: o.GrabsPerSecond, Ours: o.From == whoIsOurs})
		late = late || !o.Finished
	}
	says := "Grabs that got a share, per second. Each scheme has the same callers, packets and shares, one scheme after the other."
	if late {
		says += " A scheme that ran out of time did fewer grabs, at the rate that is shown."
	}
	return report.Section{Title: "Throughput", Says: says, Body: bars}
}

func (c Comparison) waits() report.Section {
	var rows report.Latencies
	for _, o := range c.Outcomes {
		rows.Rows = append(rows.Rows, report.Latency{Name: o.Scheme, Note: o.note(), P50: o.P50, P99: o.P99, P999: o.P999, Ours: o.From == whoIsOurs})
	}
	return report.Section{Title: "Latency", Says: "From the grab to its answer of any kind, retries included.", Body: rows}
}

// verdicts returns the section with the checks of each scheme in this run. A check that does not apply to a scheme is
// shown as a dash.
func (c Comparison) verdicts() report.Section {
	m := report.Matrix{Checks: checkNames(), Brief: true}
	for _, o := range c.Outcomes {
		row := report.Verdicts{Name: o.Scheme, Note: o.note(), Ours: o.From == whoIsOurs}
		for _, name := range m.Checks {
			cell := report.Cell{}
			if i := slices.IndexFunc(o.Verdicts, func(check Check) bool { return check.Name == name }); i >= 0 {
				cell = report.Cell{Verdict: report.Of(o.Verdicts[i].Held), Detail: o.Verdicts[i].Detail}
			}
			row.Cells = append(row.Cells, cell)
		}
		m.Rows = append(m.Rows, row)
	}
	return report.Section{Title: "What held", Says: "Observed in this run, and compared with the stored books.", Body: m}
}

// places returns the section with the mean share of each rank, by scheme. ok is false if no scheme has such figures.
func (c Comparison) places() (s report.Section, ok bool) {
	var t report.Table
	for _, o := range c.Outcomes {
		if len(o.MeanByPlace) == 0 || slices.ContainsFunc(o.MeanByPlace, math.IsNaN) {
			continue
		}
		if t.Columns == nil {
			t.Columns = []report.Column{{Name: "scheme"}}
			for rank := range o.MeanByPlace {
				t.Columns = append(t.Columns, report.Column{Name: strconv.Itoa(rank + 1), Number: true})
			}
		}
		row := []string{o.Scheme}
		for _, mean := range o.MeanByPlace {
			row = append(row, fmt.Sprintf("%.2f", mean))
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Section{Title: "Mean share by rank", Says: "Packets of ten shares, grabbed one after the other: the average share of each rank, where 1 is fair.", Body: t}, len(t.Rows) > 0
}

func (c Comparison) schemes() report.Section {
	t := report.Table{Columns: []report.Column{
		{Name: "scheme"}, {Name: "how a grab is decided"}, {Name: "how it is stored"},
		{Name: "grabs made", Number: true}, {Name: "won", Number: true}, {Name: "retries", Number: true}, {Name: "done"},
	}}
	for _, o := range c.Outcomes {
		t.Rows = append(t.Rows, []string{
			o.Scheme, o.Decides, o.Stores, report.Amount(float64(o.Grabs)), fmt.Sprintf("%s of %s", report.Amount(float64(o.Won)), report.Amount(float64(o.Packets*o.Shares))), report.Amount(float64(o.Retries)), done(o.Finished),
		})
	}
	return report.Section{Title: "How each scheme works", Body: t}
}

func (c Comparison) flawFigures() []report.Figure {
	reproduced, passed := 0, 0
	for _, f := range c.Flaws {
		if f.Reproduced {
			reproduced++
		}
		if f.OursPasses {
			passed++
		}
	}
	return []report.Figure{
		{Name: "Reproduced in this run", Value: fmt.Sprintf("%d of %d", reproduced, len(c.Flaws))},
		{Name: "Ours passes", Value: fmt.Sprintf("%d of %d", passed, len(c.Flaws)), Verdict: report.Of(passed == len(c.Flaws))},
	}
}

// flaws returns the section with all flaws. The first column says whether the flaw was reproduced on its scheme, the second
// whether the service passed.
func (c Comparison) flaws() report.Section {
	m := report.Matrix{Checks: []string{"the scheme", "ours"}}
	for _, f := range c.Flaws {
		theirs := report.Cell{Verdict: report.Broken, Detail: f.Evidence}
		if !f.Reproduced {
			theirs = report.Cell{Detail: "not reproduced: " + f.Evidence}
		}
		m.Rows = append(m.Rows, report.Verdicts{
			Name: f.Scheme + ": " + f.Name, Note: f.Says,
			Cells: []report.Cell{theirs, {Verdict: report.Of(f.OursPasses), Detail: f.Ours}},
		})
	}
	return report.Section{Title: "Published flaws", Body: m}
}

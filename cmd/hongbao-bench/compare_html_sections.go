package main

import (
	"fmt"
	"math"
	"slices"

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
	says := "Grabs that got a share, in one second. The same callers, packets and shares for each scheme, one after the other."
	if late {
		says += " Who did not come to an end in his time has done less, at the rate that is shown."
	}
	return report.Section{Title: "Throughput", Says: says, Body: bars}
}

func (c Comparison) waits() report.Section {
	var rows report.Latencies
	for _, o := range c.Outcomes {
		rows.Rows = append(rows.Rows, report.Latency{Name: o.Scheme, Note: o.note(), P50: o.P50, P99: o.P99, P999: o.P999, Ours: o.From == whoIsOurs})
	}
	return report.Section{Title: "Latency", Says: "From the grab to its answer, whatever it is, retries included.", Body: rows}
}

// verdicts that were observed. What a scheme has nothing to do with is a dash.
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
	return report.Section{Title: "What held", Says: "Observed in this run, beside what each has stored.", Body: m}
}

// places shows who is favoured; false when nobody's was measured.
func (c Comparison) places() (report.Section, bool) {
	l := report.Lines{
		X: report.Axis{Name: "place in which one came"}, Y: report.Axis{Name: "mean share, 1 is a fair one"},
		Level: &report.Level{Name: "a fair share", Y: 1},
	}
	for _, o := range c.Outcomes {
		if len(o.MeanByPlace) > 0 && !slices.ContainsFunc(o.MeanByPlace, math.IsNaN) {
			l.Series = append(l.Series, report.Series{Name: o.Scheme, Ours: o.From == whoIsOurs, Points: report.ByPlace(o.MeanByPlace)})
		}
	}
	return report.Section{Title: "Who gets how much", Says: "Packets of ten shares, grabbed one after the other: what each place gets on average.", Body: l}, len(l.Series) > 0
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
	return report.Section{Title: "How each works", Body: t}
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

// flaws are right when they are there on the scheme, and not on ours.
func (c Comparison) flaws() report.Section {
	m := report.Matrix{Checks: []string{"the scheme", "ours"}}
	for _, f := range c.Flaws {
		theirs := report.Cell{Verdict: report.Broken, Detail: f.Evidence}
		if !f.Reproduced {
			theirs = report.Cell{Detail: "could not be reproduced: " + f.Evidence}
		}
		m.Rows = append(m.Rows, report.Verdicts{
			Name: f.Scheme + ": " + f.Name, Note: f.Says,
			Cells: []report.Cell{theirs, {Verdict: report.Of(f.OursPasses), Detail: f.Ours}},
		})
	}
	return report.Section{Title: "Published flaws", Body: m}
}
